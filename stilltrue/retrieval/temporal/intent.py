"""What a query says about time, as its caller needs it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from stilltrue.retrieval.ranking import Recency

Span = tuple[datetime, datetime]
"""A stretch of time; the start is included and the end is not."""


@dataclass(frozen=True, slots=True)
class Intent:
    """What a query says about time.

    `recency` is how the recency term counts. `history` means that history and retired chains are wanted.
    `span` is the time asked about; chains with a note that was recorded or held in it come first. A span with no
    stated start ("before 2020") starts in the year 2. `as_of` is a moment to fold at, the last one of the time named.
    `words` are the words of the query that said so, for the reply.
    """

    recency: Recency = "decay"
    history: bool = False
    span: Span | None = None
    as_of: datetime | None = None
    words: str | None = None


NOW = Intent()
"""A question about the present, the usual case."""
