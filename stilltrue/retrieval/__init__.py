"""How recall chooses: what a query asks for, how candidates rank, what fits the token budget."""
