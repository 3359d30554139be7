# Everything a fresh machine with Python, pip and make needs. Each target makes its own .venv when there is none.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
SCALE ?= quick

# The tests start a hundred processes: none of them compiles again what another one imported.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help reproduce test test-ray test-slow tables warm browser lint docs benchmark clean

help:
	@echo "make reproduce   run all experiments (SCALE=paper for full size), into results/report.html"
	@echo "make test        style, types and all fast tests"
	@echo "make test-ray    a Ray cluster of two nodes, of which one is killed"
	@echo "make test-slow   long runs, hostile files, packages, and comparisons with other programs"
	@echo "make docs        the documentation site, into build/site; every link is checked"
	@echo "make benchmark   speed beside OpenSpiel, into benchmarks/RESULTS.md"

$(VENV)/.core: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -e .
	@touch $@

$(VENV)/.dev: pyproject.toml  # all at once: two calls of pip take longer
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -e ".[dev,openspiel]"
	@touch $(VENV)/.core $@

reproduce: $(VENV)/.core
	$(BIN)/counterplay reproduce all --scale $(SCALE)

tables: $(VENV)/.dev  # once, not in each process of the tests
	$(BIN)/counterplay holdem prepare --tables

warm: tables  # kernels that many tests use are compiled once, while others look at style and types
	$(BIN)/pytest -m "first and not slow" -n 2 $$(grep -rl --include="*.py" "mark.first" tests | sort)  # nobody reads the other files

browser: $(VENV)/.dev  # a Chromium that is there, or one that is installed
	$(BIN)/python tests/support/browser.py

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: $(VENV)/.dev
	@$(MAKE) --no-print-directory -j 3 lint warm browser
	$(BIN)/pytest -n 3 --dist worksteal --ignore tests/core/cluster -m "not slow and not cluster and not first"  # one more than processors, since some wait; neighbours share kernels

test-ray: $(VENV)/.ray  # a cluster of two nodes on this machine, about a minute
	$(BIN)/pytest -m cluster tests/core/cluster

test-slow: $(VENV)/.peers tables
	NO_PACKAGE_MISSING=1 $(BIN)/pytest -m slow -n 2 --dist worksteal

$(VENV)/.ray: $(VENV)/.dev  # 200 MB that no other test needs
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[ray]"
	@touch $@

$(VENV)/.docs: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	@touch $@

$(VENV)/.peers: $(VENV)/.docs $(VENV)/.ray
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[peers,notebook]"
	@touch $@

docs: $(VENV)/.docs
	$(BIN)/python tools/make_reference.py
	$(BIN)/python tools/make_site.py

benchmark: $(VENV)/.dev
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) results runs build dist .pytest_cache .mypy_cache .ruff_cache
