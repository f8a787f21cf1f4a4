"""The log outside the store: JSON lines, Markdown, and notes without their words."""
