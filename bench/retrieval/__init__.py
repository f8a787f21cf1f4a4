"""Is the note that answers a question among the first?"""
