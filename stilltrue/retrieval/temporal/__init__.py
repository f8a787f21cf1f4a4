"""What time a question is about, and what was held in a span."""

from stilltrue.retrieval.temporal.held import held_in, leading_in, said_in
from stilltrue.retrieval.temporal.intent import NOW, Intent
from stilltrue.retrieval.temporal.read import read

__all__ = ["NOW", "Intent", "held_in", "leading_in", "read", "said_in"]
