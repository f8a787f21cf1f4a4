"""The benchmarks behind every claim, for anyone to run: `python -m bench NAME`."""
