.DEFAULT_GOAL := help
.PHONY: help setup run test chaos check fix bench load simulate play verify verifier shell clean

# Compiled modules are kept whatever the shell says: the tests start hundreds of processes of them.
unexport PYTHONDONTWRITEBYTECODE

PY := .venv/bin/python
ARGS ?=
GAME ?= monko
N ?= 10000
SEED ?= 1
MINUTES ?= 10
# The first Python of the machine that is neither too old nor too new; .venv is made with it.
SYSTEM_PYTHON ?= $(shell for name in python3 python3.13 python3.12 python3.11 python; do \
	command -v $$name >/dev/null 2>&1 && \
	$$name -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && \
	echo $$name && break; done)
INSTALL = @if [ -z "$(SYSTEM_PYTHON)" ]; then \
	echo "Sealdeck needs Python 3.11, 3.12 or 3.13: install one of them." >&2; exit 1; fi; \
	$(SYSTEM_PYTHON) tools/setup.py

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' Makefile

setup: ## Make .venv and install everything for development
	$(INSTALL) dev

run: ## Start PostgreSQL, Redis, API, streams, workers and playing bots; Ctrl-C stops them
	$(INSTALL) run
	@exec $(PY) -m tools.run

test: ## Run the tests on throw-away servers; ARGS="tests/core" chooses some
	$(INSTALL) dev
	@$(PY) -m tools.browser $(ARGS)
	@exec $(PY) -m tools.services $(PY) -m pytest $(or $(ARGS),-q -n 3)

chaos: ## Kill parts of the running product at random and check that nothing is lost: SEED=7 MINUTES=10
	$(INSTALL) run
	@exec $(PY) -m tools.chaos --seed $(SEED) --minutes $(MINUTES) $(ARGS)

check: ## Lint, types, import contracts, migrations, OpenAPI document, links in docs
	$(INSTALL) dev
	@exec $(PY) -m tools.check

fix: ## Repair what formatter, linter and OpenAPI writer can repair by themselves
	$(INSTALL) dev
	@exec $(PY) -m tools.check --fix

bench: ## Run the benchmarks; ARGS chooses
	$(INSTALL) bench
	@exec $(PY) -m tools.bench $(ARGS)

load: ## Measure the whole product under load: ARGS="--tables 64 --seconds 60 --game monko"
	$(INSTALL) run
	@exec $(PY) -m tools.load $(ARGS)

simulate: ## Play many rounds of a game: GAME=monko N=100000; ARGS=--laws checks every law at every step
	$(INSTALL) run
	@exec $(PY) -m apps.games.simulate $(GAME) --games $(N) $(ARGS)

play: ## Play a game in the terminal: GAME=monko ARGS="--seats 3 --seed 7"
	$(INSTALL) run
	@exec $(PY) -m apps.games.play $(GAME) $(ARGS)

verify: ## Verify rounds: ARGS="--trust trust.json bundle.json", or a table or the log of a server
	$(INSTALL) run
	@exec $(PY) -m apps.fairness.verify $(ARGS)

verifier: ## Build dist/sealdeck-verify.pyz, the verifier as one file
	$(INSTALL) run
	@exec $(PY) -m tools.build_verifier

shell: ## Open a Django shell on the data of make run
	$(INSTALL) run
	@exec $(PY) -m tools.shell $(ARGS)

clean: ## Remove the data of make run and everything else under var/
	$(INSTALL:tools/setup.py=tools/clean.py)
