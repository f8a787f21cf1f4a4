"""The Streamable HTTP transport."""
