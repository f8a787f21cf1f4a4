"""Is a note noticed that is a requirement and was not filed as one?"""
