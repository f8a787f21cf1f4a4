"""What a memory is and how it changes: the pure heart of stilltrue, without I/O, clock or randomness."""

__version__ = "0.1.0"
