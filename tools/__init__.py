"""The verbs that an agent may call, one file each: read, decide, append, answer."""
