"""The resources that a client can read: requirements, chains, sessions, and the status of the store."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.types import Resource, ResourceTemplate

from server.protocol.dispatch import Dispatcher
from server.protocol.sessions import session_of
from server.protocol.subscriptions import CHAIN, REQUIREMENTS, SESSION, STATUS, quoted
from stilltrue.errors import Refused, StilltrueError

if TYPE_CHECKING:
    from tools.support.context import ToolContext

_TEXT, _JSON = "text/plain", "application/json"


def listed(dispatcher: Dispatcher) -> list[Resource]:
    """The resources with a fixed URI."""
    subject = dispatcher.runtime.config.memory.default_subject
    return [
        Resource(
            uri=quoted(f"{REQUIREMENTS}/{subject}"),
            name=f"requirements of {subject}",
            description=f"All current requirements of {subject}.",
            mime_type=_TEXT,
        ),
        Resource(
            uri=SESSION,
            name="session",
            description="The notes retrieved in this conversation, with counts.",
            mime_type=_JSON,
        ),
        Resource(
            uri=STATUS,
            name="status",
            description="Where the store is, what it holds, and whether search by meaning works.",
            mime_type=_JSON,
        ),
    ]


def templates() -> list[ResourceTemplate]:
    """The resources with a parameter in their URI."""
    return [
        ResourceTemplate(
            uri_template=f"{REQUIREMENTS}/{{subject}}",
            name="requirements",
            description="All current requirements of this subject.",
            mime_type=_TEXT,
        ),
        ResourceTemplate(
            uri_template=f"{CHAIN}/{{note_id}}",
            name="chain",
            description="The whole chain of this note: what holds now, and its full history.",
            mime_type=_TEXT,
        ),
        ResourceTemplate(
            uri_template=f"{SESSION}/{{name}}",
            name="named session",
            description="The notes retrieved in the session of this name, with counts.",
            mime_type=_JSON,
        ),
    ]


async def read(dispatcher: Dispatcher, uri: str, context: Context[Any, Any]) -> list[ReadResourceContents]:
    """The content of a resource. Raises ResourceNotFoundError, or ResourceError if it cannot be read."""
    kind, _, name = uri.partition("://")[2].partition("/")
    base, name = f"memory://{kind}", unquote(name).strip()
    if not uri.startswith(base) or not _is_resource(base, name):
        raise ResourceNotFoundError(f"There is no resource {uri}. {_known()}")
    work = dispatcher.workers.run
    try:
        if base == REQUIREMENTS:
            return [_content(await work("reading the requirements", partial(_requirements, name)), _TEXT)]
        if base == CHAIN:
            return [_content(await work("reading the chain", partial(_chain, name)), _TEXT)]
        if base == SESSION:
            session = session_of(name or None, context.headers, dispatcher.session)
            return [_content(await work("reading the session", partial(_session, session)), _JSON)]
        return [_content(await work("reading the status", partial(_status, dispatcher)), _JSON)]
    except Refused as refused:
        raise ResourceNotFoundError(str(refused)) from None
    except StilltrueError as error:
        raise ResourceError(str(error)) from None


def _is_resource(base: str, name: str) -> bool:
    accepts: Callable[[str], bool] | None = {
        REQUIREMENTS: bool, CHAIN: bool, SESSION: lambda _: True, STATUS: lambda given: not given,
    }.get(base)  # fmt: skip
    return accepts is not None and accepts(name)


def _known() -> str:
    return f"The resources are: {SESSION}, {STATUS}, {', '.join(each.uri_template for each in templates())}."


def _content(text: str, mime_type: str) -> ReadResourceContents:
    return ReadResourceContents(content=text, mime_type=mime_type)


def _requirements(subject: str, context: ToolContext) -> str:
    from tools.constraints import constraints

    return constraints(context, [subject]).text


def _chain(note_id: str, context: ToolContext) -> str:
    from tools.admin.views import chain_page

    return chain_page(context, note_id)


def _session(session: str, context: ToolContext) -> str:
    from tools.admin.views import session_notes

    return _as_json({"session": session, "notes": [asdict(each) for each in session_notes(context, session)]})


def _status(dispatcher: Dispatcher, context: ToolContext) -> str:
    from tools.admin.views import state

    return _as_json({**asdict(state(context)), "model": dispatcher.runtime.embedding_state})


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)
