"""Keeps the log and finds the notes."""
