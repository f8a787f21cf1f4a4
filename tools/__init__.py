"""The tools that an agent can call, one file each: read, decide, append, answer."""
