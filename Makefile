# Every target sets up what it needs, on a machine with only Python 3.11 or newer, pip and make:
# a virtual environment in .venv with the locked packages and this project (editable), and the
# npm servers of the tests, run by the Node.js that comes as one of those packages.
# That is done once, and again only when a lock or pyproject.toml changes.

PYTHON ?=
ARGS ?=
UPGRADE ?= --upgrade

VENV := .venv
CROSSCHECK := .venv-crosscheck
LANGCHAIN := .venv-langchain
BIN := $(VENV)/bin
PY := $(BIN)/python
PACKAGES := $(VENV)/packages.stamp
PROJECT := $(VENV)/project.stamp
SERVERS := tests/node/node_modules/servers.stamp
SUITES := conformance/node_modules/suites.stamp
CLIENTS := $(LANGCHAIN)/packages.stamp

# uv only makes the set-up faster, and writes the lock; without it, pip does the same in a minute.
UV := uv==0.13.9

# Quoted, since the checkout may lie in a folder with spaces.
WITH_VENV := PATH="$(CURDIR)/$(BIN):$$PATH"

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DELETE_ON_ERROR:
.PHONY: help setup demo test check lint types contracts dependencies bench conformance \
	container-test coverage crosscheck mutants lock clean

help: ## Show these lines
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | while IFS="$$(printf '\t')" read -r target does; do \
		printf '  make %-16s%s\n' "$$target" "$$does"; done

setup: $(PROJECT) $(SERVERS) $(SUITES) $(CLIENTS) ## Install everything; the targets below do it by themselves
	@:

demo: $(PROJECT) ## Record a real agent, promote the run, replay it offline, catch a regression
	@$(WITH_VENV) $(PY) examples/demo/run.py $(ARGS)

test: setup ## Run the tests; ARGS='tests/wire -k framing' narrows them
	@$(PY) -m pytest -n 2 --dist worksteal $(ARGS)

check: lint types contracts dependencies test ## Run everything that CI runs

lint: $(PROJECT) ## Check style and formatting
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check

types: $(PROJECT) ## Check types
	@$(BIN)/mypy

contracts: $(PROJECT) ## Check that rooms depend downwards, and that the pure rooms are pure
	@$(BIN)/lint-imports

dependencies: $(PROJECT) ## Check that what is imported is declared, and the other way round
	@$(BIN)/deptry sidecar

bench: $(PROJECT) ## Measure against a bare server, a line relay and mcp-rec
	@$(WITH_VENV) $(PY) bench/run.py $(ARGS)

conformance: $(PROJECT) $(SUITES) ## Run the protocol's conformance suite: direct, recorded, replayed
	@$(PY) conformance/run.py

container-test: $(PROJECT) ## Build the container's image, and run docker/compose.yaml without an engine (as root)
	@$(PY) docker/container_test.py

coverage: setup ## Run the tests and show what they leave out
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest -n 2 $(ARGS)
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report

crosscheck: $(CROSSCHECK)/packages.stamp ## Compare our grades with those of agentevals, ADK and Inspect
	@$(CROSSCHECK)/bin/python crosscheck/run.py

mutants: $(PROJECT) ## Change the grader in thousands of small ways: which does no test notice?
	@nice -n 15 $(BIN)/mutmut run $(ARGS)
	@$(BIN)/mutmut results

lock: $(PACKAGES) ## Renew the locks; UPGRADE= keeps the versions that still fit
	@$(PY) -m pip install -qq '$(UV)'
	$(BIN)/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --custom-compile-command 'make lock' \
		$(UPGRADE) --quiet --output-file requirements.lock
	$(BIN)/uv pip compile crosscheck/requirements.in --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --custom-compile-command 'make lock' \
		$(UPGRADE) --quiet --output-file crosscheck/requirements.lock
	$(BIN)/uv pip compile tests/langchain/requirements.in --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --custom-compile-command 'make lock' \
		$(UPGRADE) --quiet --output-file tests/langchain/requirements.lock
	$(BIN)/uv pip compile pyproject.toml --constraint requirements.lock --no-emit-package pip \
		--universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--custom-compile-command 'make lock' --quiet --output-file docker/requirements.lock
	cd tests/node && $(WITH_VENV) npm $(if $(UPGRADE),update,install) --package-lock-only
	cd conformance && $(WITH_VENV) npm $(if $(UPGRADE),update,install) --package-lock-only

clean: ## Remove everything that the other targets made
	rm -rf $(VENV) $(CROSSCHECK) $(LANGCHAIN) tests/node/node_modules conformance/node_modules .bench .container dist htmlcov mutants
	rm -rf .coverage* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find sidecar tests examples bench docker -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# The first Python that is new enough; a venv that could not be finished is not left behind.
# Debian's python3 may come without ensurepip: its own pip then puts pip into the venv.
$(PY):
	@rm -rf $(VENV)
	@for python in $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11 python); do \
		if "$$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			echo "Making $(VENV) with $$("$$python" --version)"; \
			"$$python" -m venv $(VENV) 2>/dev/null && exit 0; \
			rm -rf $(VENV); \
			"$$python" -m venv --without-pip $(VENV) && \
			"$$python" -m pip --python $(PY) install --quiet pip && exit 0; \
			rm -rf $(VENV); \
		fi; \
	done; \
	echo 'No Python 3.11 or newer with venv and pip was found: name one, as in make PYTHON=/path/to/python3 ...' >&2; \
	exit 1

$(PACKAGES): requirements.lock | $(PY)
	@echo 'Installing the packages of requirements.lock (half a minute)'
	@if $(PY) -m pip install -qq '$(UV)' && \
		$(BIN)/uv pip install --quiet --python $(PY) --compile-bytecode --no-deps --require-hashes -r requirements.lock; \
	then :; else \
		echo 'uv could not: pip does it'; \
		$(PY) -m pip install -qq --no-deps --require-hashes -r requirements.lock; \
	fi
	@touch $@

# Environments of their own: what other graders and older clients need is no dependency of ours.
define own_environment
	@echo 'Installing the packages of $<'
	@rm -rf $(@D)
	@$(PY) -m venv --without-pip $(@D)
	@if $(BIN)/uv pip install --quiet --python $(@D)/bin/python --no-deps --require-hashes -r $<; \
	then :; else \
		echo 'uv could not: pip does it'; \
		$(PY) -m pip --python $(@D)/bin/python install -qq --no-deps --require-hashes -r $<; \
	fi
	@touch $@
endef

$(CROSSCHECK)/packages.stamp: crosscheck/requirements.lock | $(PACKAGES)
	$(own_environment)

$(CLIENTS): tests/langchain/requirements.lock | $(PACKAGES)
	$(own_environment)

# The build backend is one of the locked packages, so this downloads nothing.
$(PROJECT): pyproject.toml $(PACKAGES)
	@$(WITH_VENV) $(PY) -m pip install -qq --no-deps --no-build-isolation --editable .
	@touch $@

$(SERVERS): tests/node/package.json tests/node/package-lock.json | $(PACKAGES)
	@echo 'Installing the servers of tests/node/package-lock.json'
	@cd tests/node && $(WITH_VENV) npm ci --silent
	@touch $@

$(SUITES): conformance/package.json conformance/package-lock.json | $(PACKAGES)
	@echo 'Installing the suites of conformance/package-lock.json'
	@cd conformance && $(WITH_VENV) npm ci --silent
	@touch $@
