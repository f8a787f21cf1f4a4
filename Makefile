# Short names for longer commands. PYTHON is the interpreter that the README's test command creates.
PYTHON ?= .venv/bin/python

.PHONY: test quick lint format docs wheel conformance ci

test:    # all tests
	$(PYTHON) -m pytest -q

quick:   # only tests that take seconds
	$(PYTHON) -m pytest -q -m "not slow"

lint:    # needs the `dev` extra
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy

format:
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .

docs:    # regenerate what is derived from tables in the code
	$(PYTHON) -m docs.build

wheel:
	$(PYTHON) -m hatchling build -t wheel

conformance:  # the MCP Inspector and the official suite; needs npm
	$(PYTHON) tests/conformance/run.py

ci:      # must pass before a change is merged
	.ci/run
