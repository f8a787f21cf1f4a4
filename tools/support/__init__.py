"""What the tools share."""
