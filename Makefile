# Short names for longer commands. PYTHON is that of the environment which the README's test command makes.
PYTHON ?= .venv/bin/python

.PHONY: test quick lint format docs wheel conformance ci

test:    # everything
	$(PYTHON) -m pytest -q

quick:   # what takes seconds
	$(PYTHON) -m pytest -q -m "not slow"

lint:    # needs the extra `dev`
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy

format:
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .

docs:    # write what follows from tables in the code
	$(PYTHON) -m docs.build

wheel:
	$(PYTHON) -m hatchling build -t wheel

conformance:  # the MCP Inspector and the official suite; needs npm
	$(PYTHON) tests/conformance/run.py

ci:      # what has to pass before a change is taken
	.ci/run
