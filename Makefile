# `make` alone lists the targets. The first one that needs it sets up $(VENV), from constraints.txt.

VENV ?= .venv
STAMP := $(VENV)/.stamp
BIN := $(VENV)/bin

# Any of Python 3.10 to 3.13, or the one that is named: make PYTHON=/path/to/python ...
PYTHON_OK := import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))
PYTHON ?= $(firstword $(foreach p,python3.11 python3.12 python3.13 python3.10 python3,\
	$(shell $(p) -c '$(PYTHON_OK)' >/dev/null 2>&1 && echo $(p))))

SEED ?= 0

export MPLBACKEND ?= Agg
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test fuzz bench lint style types docs dist audit clean

help: ## list the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' \
		| while IFS="$$(printf '\t')" read -r name text; do printf '  make %-7s %s\n' "$$name" "$$text"; done

demo: $(STAMP) ## run examples/demo.py
	$(BIN)/python examples/demo.py

test: $(STAMP) ## run the tests and the examples in docstrings (all but those marked slow)
	$(BIN)/python -m pytest --numprocesses=2 --dist=loadfile

fuzz: $(STAMP) ## feed the package 20,000 odd and hostile inputs: some minutes; make fuzz SEED=7 for others
	$(BIN)/python -m tests.fuzz --seed $(SEED)

bench: $(STAMP) ## run the benchmarks of the transform and of all discrepancies
	$(BIN)/python -m benchmarks.transform
	$(BIN)/python -m benchmarks.discrepancies

lint: style types ## check style, format and types

style: $(STAMP) ## check style and format only (ruff)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP) ## check types only (mypy on src)
	$(BIN)/mypy

docs: $(STAMP) ## make the pages in docs/_build/html, tutorials run; a broken link or a name without page fails
	rm -rf docs/_build docs/_tutorials
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet -d docs/_build/doctrees docs docs/_build/html

dist: $(STAMP) ## build wheel and sdist in dist/, and try README with them in an empty environment
	rm -rf dist
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m build
	$(BIN)/twine check --strict dist/*
	bash .ci/first_day $(BIN)/python

audit: ## look for known weaknesses of the packages in constraints.txt; says so if no data base can be reached
	@bash .ci/audit $(PYTHON)

clean: ## remove the environment, caches and build products
	rm -rf $(VENV) build dist docs/_build docs/_tutorials .pytest_cache .mypy_cache .ruff_cache .hypothesis src/*.egg-info
	find src tests benchmarks examples -type d -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

$(STAMP): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { \
		echo "No Python 3.10 to 3.13 was found. Install one, or name it: make PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -c '$(PYTHON_OK)' || { \
		echo "'$(PYTHON)' is not a working Python 3.10 to 3.13, for which constraints.txt is." >&2; exit 1; }
	@echo "Setting up $(VENV) with $(PYTHON): takes a minute or two"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade --constraint constraints.txt pip setuptools
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --build-constraint constraints.txt \
		--editable '.[dev,docs]'
	@touch $@
