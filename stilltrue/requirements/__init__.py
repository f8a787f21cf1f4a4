"""Which notes are requirements, and which only read as if they should be."""
