# Two commands for a newcomer: `make demo` and `make test`. Both set up .venv by themselves.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
WORKERS ?= auto

.PHONY: help demo test test-all check format bench notebooks build clean

help:       ## this list
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "lidar_sim needs Python 3.10 to 3.13; choose one with: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.demo: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[plot]'
	@touch $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.demo

demo: $(VENV)/.demo  ## drive the quadruped through the warehouse: clouds and pictures in ./demo_out
	$(BIN)/lidar-sim demo --out demo_out --overwrite

test: $(VENV)/.dev  ## the tests (a few minutes)
	$(BIN)/python -m pytest -n $(WORKERS) -m "not slow"

test-all: $(VENV)/.dev  ## the tests, the long ones too
	$(BIN)/python -m pytest -n $(WORKERS)

check: $(VENV)/.dev  ## format, lint, types, import contracts, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n $(WORKERS) -m "not slow"

format: $(VENV)/.dev  ## format the code and mend what lint can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.dev  ## beams per second on the bundled robot and scene
	$(BIN)/lidar-sim bench

notebooks: $(VENV)/.dev  ## run the notebooks in place
	$(BIN)/python -m pytest -m slow tests/test_notebooks.py

build: $(VENV)/.dev  ## wheel and sdist in dist/, the wheel tested in an environment of its own
	rm -rf dist
	$(BIN)/python -m build --quiet
	PYTHON=$(PYTHON) .ci/wheel dist/*.whl

clean:      ## what make made
	rm -rf $(VENV) dist build demo_out bench_out .pytest_cache .mypy_cache .ruff_cache .hypothesis
