"""Does the note that decides a request reach the model?"""
