"""What all verbs share on their way in and out: tolerant arguments, workers, errors as sentences."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult, ContentBlock, TextContent
from pydantic import ValidationError

from server.arguments import damaged, explained, tidied, unknown
from server.sessions import new_session
from server.wiring import Home
from stilltrue.errors import StilltrueError

if TYPE_CHECKING:
    from tools.answers import Answer

_log = logging.getLogger(__name__)


class Verb(Tool):
    """A tool that takes what clients really send and says what was wrong in a sentence."""

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        """Run the verb. What is wrong with the arguments reaches the model as a sentence that says what to send."""
        tidy = tidied(arguments, self.parameters)
        if strange := unknown(tidy, self.name, self.parameters):
            raise ToolError(strange)
        reads = self.annotations is not None and self.annotations.read_only_hint
        if not reads and (lost := damaged(tidy)):
            raise ToolError(lost)
        try:
            return await super().run(tidy, context, convert_result)
        except ToolError as error:
            match error.__cause__:
                case ValidationError() as invalid:
                    raise ToolError(explained(invalid, self.name, self.parameters)) from None
                case ToolError() as said:  # our own sentence, without the SDK's words before it
                    raise said from None
            raise


class Face:
    """What the verbs share: the home of the store, the session of the process, the workers."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.session = new_session()
        self._limiter: anyio.CapacityLimiter | None = None

    async def answer(self, verb: str, *args: Any, **kwargs: Any) -> CallToolResult:
        """Run `tools.VERB` on a worker and translate what it answers or raises.

        The worker is not abandoned when the call is cancelled: a write that has begun ends whole.
        """
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(self.home.config.server.workers)
        try:
            answer = await anyio.to_thread.run_sync(partial(self._run, verb, *args, **kwargs), limiter=self._limiter)
        except StilltrueError as error:
            raise ToolError(str(error)) from None
        except Exception:
            _log.exception("%s failed", verb)
            raise ToolError(
                f"{verb} failed through a fault of the memory server, not of your call. Go on without it and tell "
                "the user; the server's log on stderr has the details."
            ) from None
        return self._result(answer)

    def _run(self, verb: str, *args: Any, **kwargs: Any) -> Answer:
        keeper = self.home.keeper()
        function: Callable[..., Answer] = getattr(import_module(f"tools.{verb}"), verb)
        answer = function(keeper, *args, **kwargs)
        self.home.written()
        return answer

    def _result(self, answer: Answer) -> CallToolResult:
        from tools.answers import as_data

        content: list[ContentBlock] = [TextContent(type="text", text=answer.text)]
        if not self.home.config.server.structured:
            return CallToolResult(content=content)
        return CallToolResult(content=content, structured_content=as_data(answer.data))
