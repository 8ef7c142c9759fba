# symscale: `make` lists the targets. Everything runs in .venv, which `make setup` creates.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTEST_ARGS ?=

export PIP_DISABLE_PIP_VERSION_CHECK = 1

.DEFAULT_GOAL := help
.PHONY: help setup test check lint types reports reports-current docs verify wheel wheel-test format clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

setup: $(STAMP)  ## create .venv and install symscale into it, editable, with the tools
	@echo "symscale is in $(BIN)/symscale"

# The package is editable, so only a change of pyproject.toml (dependencies, entry points) installs again.
$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("symscale needs Python 3.11 or later: make PYTHON=python3.12 setup" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	@$(BIN)/python -m compileall -q symscale derivations  # as pip does for a package that is not editable
	@touch $@

test: $(STAMP)  ## run the tests (PYTEST_ARGS="-k crossover" narrows them)
	$(BIN)/python -m pytest $(PYTEST_ARGS)

check: lint types  ## all that has to hold before a change lands: lint, format, types, tests, reports, docs
	$(BIN)/python -m pytest --cov --cov-report=term:skip-covered $(PYTEST_ARGS)
	$(MAKE) --no-print-directory reports-current docs

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

reports: $(STAMP)  ## render every derivation to reports/
	$(BIN)/symscale report

reports-current: $(STAMP)  ## fail if a committed report differs from what would be rendered now
	$(BIN)/symscale report --check

# Nothing is fetched: fonts, scripts and formulas are in the pages. A link that leads nowhere fails the build.
docs: $(VENV)/.docs  ## build the documentation into site/ (installs mkdocs)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "open site/index.html"

$(VENV)/.docs: $(STAMP)
	$(BIN)/python -m pip install --quiet -e '.[docs]'
	@touch $@

verify: $(STAMP)  ## compare programs with what JAX compiles, models with transformers, formulas with KaTeX, pages in Chromium (installs them)
	$(BIN)/python -m pip install --quiet -e '.[dev,verify]'
	@npm install --silent --no-save --no-package-lock katex axe-core || echo "npm could not install KaTeX and axe-core"
	NODE_PATH=$(CURDIR)/node_modules $(BIN)/python -m pytest -m verify $(PYTEST_ARGS)

wheel: $(STAMP)  ## build dist/*.tar.gz and, from it, dist/*.whl
	rm -rf dist
	$(BIN)/python -m build --outdir dist

wheel-test: wheel  ## install the wheel into a new venv and use it from an empty directory
	bash .ci/wheel-test $(PYTHON) dist/symscale-*.whl

format: $(STAMP)  ## let ruff fix and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove what the other targets create
	rm -rf reports/.symscale.manifest site $(VENV) node_modules dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
