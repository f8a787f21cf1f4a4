"""A store in a folder on this machine."""
