"""What a memory is and how it changes: the pure core of stilltrue, without I/O, clock or randomness."""

__version__ = "0.1.0"
