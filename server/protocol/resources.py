"""What can be read and watched: requirements, chains, this session, the state of the store."""

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
from server.protocol.subscriptions import quoted
from stilltrue.errors import Refused, StilltrueError

if TYPE_CHECKING:
    from tools.support.context import ToolContext
    from tools.support.results import Answer

REQUIREMENTS, CHAIN, SESSION, STATUS = (f"memory://{name}" for name in ("requirements", "chain", "session", "status"))
_TEXT, _JSON = "text/plain", "application/json"


def listed(dispatcher: Dispatcher) -> list[Resource]:
    """The resources that always are there."""
    subject = dispatcher.runtime.config.memory.default_subject
    return [
        Resource(
            uri=quoted(f"{REQUIREMENTS}/{subject}"),
            name=f"requirements of {subject}",
            description=f"Every rule that binds {subject} now.",
            mime_type=_TEXT,
        ),
        Resource(
            uri=SESSION,
            name="session",
            description="What this conversation has retrieved, and how often.",
            mime_type=_JSON,
        ),
        Resource(
            uri=STATUS,
            name="status",
            description="Where the store lies, what it holds, and whether it is searched by meaning.",
            mime_type=_JSON,
        ),
    ]


def templates() -> list[ResourceTemplate]:
    """The resources that are named by something."""
    return [
        ResourceTemplate(
            uri_template=f"{REQUIREMENTS}/{{subject}}",
            name="requirements",
            description="Every rule that binds this subject now.",
            mime_type=_TEXT,
        ),
        ResourceTemplate(
            uri_template=f"{CHAIN}/{{note_id}}",
            name="chain",
            description="The whole chain of this note: what holds, and all of its history.",
            mime_type=_TEXT,
        ),
        ResourceTemplate(
            uri_template=f"{SESSION}/{{name}}",
            name="named session",
            description="What the session of this name has retrieved, and how often.",
            mime_type=_JSON,
        ),
    ]


async def read(dispatcher: Dispatcher, uri: str, context: Context[Any, Any]) -> list[ReadResourceContents]:
    """The content of a resource. Raises ResourceNotFoundError, and ResourceError with what went wrong."""
    kind, _, name = uri.partition("://")[2].partition("/")
    base, name = f"memory://{kind}", unquote(name).strip()
    if not uri.startswith(base) or not _is_resource(base, name):
        raise ResourceNotFoundError(f"There is no resource {uri}. {_known()}")
    try:
        if base == REQUIREMENTS:
            return [_content(await dispatcher.work("reading the requirements", partial(_requirements, name)), _TEXT)]
        if base == CHAIN:
            return [_content(await dispatcher.work("reading the chain", partial(_chain, name)), _TEXT)]
        if base == SESSION:
            session = session_of(name or None, context.headers, dispatcher.session)
            return [_content(await dispatcher.work("reading the session", partial(_session, session)), _JSON)]
        return [_content(await dispatcher.work("reading the status", partial(_status, dispatcher)), _JSON)]
    except Refused as refused:
        raise ResourceNotFoundError(str(refused)) from None
    except StilltrueError as error:
        raise ResourceError(str(error)) from None


def changed_by(verb: str, answer: Answer, context: ToolContext) -> set[str]:
    """The resources, in their plain spelling, that read otherwise after this call."""
    from tools.admin.views import around

    data: Any = answer.data
    if verb == "recall":
        return {SESSION} if data.chains else set()
    if verb not in {"remember", "supersede", "revoke", "reinstate"} or not getattr(data, "stored", True):
        return {STATUS} if verb == "feedback" else set()
    subjects, ids = around(context, [data.id])
    return {STATUS, *(f"{REQUIREMENTS}/{name}" for name in subjects), *(f"{CHAIN}/{note_id}" for note_id in ids)}


def _is_resource(base: str, name: str) -> bool:
    rule: Callable[[str], bool] | None = {
        REQUIREMENTS: bool, CHAIN: bool, SESSION: lambda _: True, STATUS: lambda given: not given,
    }.get(base)  # fmt: skip
    return rule is not None and rule(name)


def _known() -> str:
    return f"There are {SESSION}, {STATUS}, {', '.join(each.uri_template for each in templates())}."


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
