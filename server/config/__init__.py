"""Settings: where they come from and what they have to be."""
