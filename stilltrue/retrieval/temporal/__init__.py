"""What time a question is about, and what was held in a span."""

from stilltrue.retrieval.temporal.intent import NOW, Intent
from stilltrue.retrieval.temporal.read import read

__all__ = ["NOW", "Intent", "read"]
