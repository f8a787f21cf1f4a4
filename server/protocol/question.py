"""The form that the user is shown. Apart from the rest, since a model of pydantic takes its time to be made."""

from __future__ import annotations

from collections.abc import Callable

from mcp.server.mcpserver.resolve import Elicit
from pydantic import BaseModel, Field


class Agreement(BaseModel):
    """What the user is asked for beside accepting or declining: nothing, for clients that leave a form blank."""

    agreed: bool = Field(default=True, title="Yes, this is right")


def asking(question: str) -> Callable[[], Elicit[Agreement]]:
    """A resolver, in the SDK's sense, that asks this question."""

    def ask() -> Elicit[Agreement]:
        return Elicit(question, Agreement)

    return ask
