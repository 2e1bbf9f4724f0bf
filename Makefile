# Every target sets itself up: a fresh machine with Python 3.11 or newer is enough.
#   make demo       one small consensus for each front, tables and an HTML report in demo-output/
#   make test       all tests           make check      style, types, doctests, links of the docs
#   make bench      benchmarks          make reproduce  every figure and table of the paper
#   make evidence   every figure of the pages, where the code has changed since (ONLY=name, LIST=1 says how long)
#   make docs       the site            make dist       wheel and sdist, installed alone and with each extra
#   make test-integrations   tests with scanpy, cdlib, DuckDB, scikit-image, HDBSCAN
#   make fuzz, make mutate, make test-matrix, make audit   long tests
# ONLY=name narrows bench and reproduce; BENCH=full adds the largest sizes; JOBS=n: tests or parts at once.
# STRICT=1: bench and reproduce fail where data cannot be fetched; without it they name what is missing and go on.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
JOBS   ?= 2
ONLY   ?=
BENCH  ?=
STRICT ?=

.DEFAULT_GOAL := help
.PHONY: help setup rivals demo test test-integrations check format bench reproduce evidence docs dist fuzz mutate test-matrix audit clean

help:
	@sed -n '2,10s/^# *//p' Makefile

setup: $(READY)

$(READY): pyproject.toml scripts/setup
	@VENV="$(VENV)" PYTHON="$(PYTHON)" sh scripts/setup
	@touch $(READY)

demo: $(READY)
	$(BIN)/biconsensus demo --out demo-output

# compiled tests are kept even where the environment says otherwise: compiling takes half of the time of collecting them
test: $(READY)
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --durations=15 $(ARGS)

test-integrations: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group integrations
	BICONSENSUS_INTEGRATIONS=1 $(BIN)/python -m pytest -q tests/integrations $(ARGS)

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q -p no:cacheprovider --doctest-modules src
	$(BIN)/python -m scripts.check_links
	$(BIN)/python -m scripts.check_figures

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

rivals: $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group bench
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --group bench-data

bench: rivals
	BENCH="$(BENCH)" $(BIN)/python -m scripts.bench $(if $(STRICT),--strict) $(ONLY)

reproduce: $(READY)
	$(BIN)/python -m experiments.reproduce $(if $(STRICT),--strict) --only "$(ONLY)"

evidence: $(if $(LIST),$(READY),rivals)
	$(BIN)/python -m scripts.evidence --jobs $(JOBS) $(if $(LIST),--list) $(if $(AGAIN),--again) $(ONLY)

docs: $(READY)
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

dist: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dist
	$(BIN)/python -m scripts.dist $(ONLY)

fuzz: $(READY)
	$(BIN)/python -m scripts.bench --folder tests/fuzz $(or $(ONLY),kills large order properties readers soak visits)

mutate: $(READY)
	$(BIN)/python -m scripts.mutate --jobs $(JOBS) $(ONLY)

test-matrix: $(READY)
	PYTHON="$(PYTHON)" JOBS="$(JOBS)" ARGS="$(ARGS)" sh scripts/test-matrix

audit: $(READY)
	sh scripts/audit

clean:
	rm -rf demo-output dist docs/_build docs/gallery docs/api/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis
