PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
PINS := .venv-pins
RUN_STAMP := $(STAMPS)/run
DEV_STAMP := $(STAMPS)/dev

.PHONY: help assess serve test check bench fuzz crash sweep contracts format requirements clean

help: ## Show this list.
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

assess: $(RUN_STAMP) ## Assess the example interview with the rule baseline.
	$(BIN)/ai-psychiatrist assess examples/interview.txt

serve: $(RUN_STAMP) ## Serve the HTTP API on 127.0.0.1:8000.
	$(BIN)/ai-psychiatrist serve

test: $(DEV_STAMP) ## Run the tests on every core, and name the slowest.
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal --durations 20

check: $(DEV_STAMP) ## Check format, lint, types and import contracts.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(DEV_STAMP) ## Print the benchmark tables.
	$(BIN)/python -m benchmarks

fuzz: $(DEV_STAMP) ## Fuzz the models' replies: damaged answers, assessments, interviews.
	$(BIN)/python -m tests.fuzz

crash: $(DEV_STAMP) ## Kill evaluation runs at every write boundary and at random.
	$(BIN)/python -m tests.crash

sweep: fuzz crash ## Do all sweeps as a whole, not a slice of each.
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal --timeout 0 -m sweep --whole

contracts: $(DEV_STAMP) ## Make the agents' schemas and templates from models and prompts.
	$(BIN)/python -m ai_psychiatrist.agents.contracts.generate

format: $(DEV_STAMP) ## Format and mend what can be mended.
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

requirements: ## Pin the newest versions that the project allows.
	rm -rf $(PINS) && $(PYTHON) -m venv $(PINS)
	$(PINS)/bin/python -m pip install --quiet '.[evaluation]'
	$(PINS)/bin/python -m pip freeze --exclude ai-psychiatrist > requirements/run.txt
	$(PINS)/bin/python -m pip install --quiet '.[dev]'
	$(PINS)/bin/python -m pip freeze --exclude ai-psychiatrist > requirements/dev.txt
	rm -rf $(PINS)

clean: ## Remove the virtual environment and caches.
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

$(RUN_STAMP): requirements/run.txt pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/run.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@mkdir -p $(STAMPS) && touch $@

$(DEV_STAMP): requirements/dev.txt $(RUN_STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/dev.txt
	@mkdir -p $(STAMPS) && touch $@
