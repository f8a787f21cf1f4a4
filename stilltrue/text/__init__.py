"""The text a model reads."""
