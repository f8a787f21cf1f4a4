"""Embedding models and the optional cross-encoder."""
