"""A store on object storage or in the LanceDB service."""
