.DEFAULT_GOAL := help
.PHONY: test

PY := .venv/bin/python
ARGS ?=

test: ## Run the tests on throw-away PostgreSQL and Redis servers: make test ARGS="tests/core -q"
	@$(PY) -m tools.services $(PY) -m pytest $(ARGS)
