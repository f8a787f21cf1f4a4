"""The measurements behind the product's claims, for anyone to run: `python -m bench NAME`."""
