"""Kills, several servers on one store, and thousands of writes."""
