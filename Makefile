# Two commands do everything: `make demo` and `make test`. The environment is made on first use
# and remade when pyproject.toml changes; after that nothing is downloaded.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Two more than there are cores: many tests wait for servers, browsers and other processes.
WORKERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 2)))

.PHONY: demo check test cover lint build dist oldest docs bench papers clean

demo: $(VENV)/.installed
	$(BIN)/multifacet demo

# Linters, types and the fast half: for every few lines that change.
check: $(VENV)/.installed lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -q -m "not slow"

test: $(VENV)/.installed lint build
	MULTIFACET_DIST=dist OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal \
		-m "not long"

# All tests, the longest too, and the lines that none reaches: twice the time.
cover: $(VENV)/.installed
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal \
		--cov --cov-report=term:skip-covered --cov-fail-under=90

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

build: $(VENV)/.installed
	rm -rf dist
	$(BIN)/python -m build --no-isolation . > /dev/null

# Wheel and source distribution: built, looked into, installed into fresh environments, and used.
dist: build
	MULTIFACET_DIST=dist $(BIN)/python -m pytest -q tests/release
	ls -l dist

# The lowest versions that pyproject.toml allows, and anndata, which keeps back what `dev` wants new.
oldest: $(VENV)-oldest/.installed
	OMP_NUM_THREADS=1 $(VENV)-oldest/bin/python -m pytest -q -n $(WORKERS) --dist worksteal \
		-m "not slow" tests

docs: $(VENV)/.installed
	MPLBACKEND=Agg $(BIN)/python -m sphinx -W --keep-going -q docs docs/_build/html

bench: $(VENV)/.installed
	$(BIN)/python -m benchmarks

papers: $(VENV)/.installed
	$(BIN)/python -m benchmarks papers

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	touch $@

$(VENV)-oldest/.installed: pyproject.toml tests/oldest.txt
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip install --quiet --disable-pip-version-check \
		-c tests/oldest.txt -e ".[all]" pytest pytest-xdist hypothesis httpx polars \
		markdown-it-py
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-oldest .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage dist
	rm -rf docs/_build docs/api docs/gallery docs/generated
