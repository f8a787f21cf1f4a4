"""The door that clients come through."""
