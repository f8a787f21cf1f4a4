"""The log and the search in LanceDB."""
