"""The log outside the store: JSON lines, Markdown pages, and events with erased text taken out."""
