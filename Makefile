# Two commands do everything: `make demo` and `make test`. The environment is made on first use
# and remade when pyproject.toml changes; after that nothing is downloaded.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# One more than there are cores: many tests wait for servers, browsers and other processes.
WORKERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))

.PHONY: demo test lint docs bench papers clean

demo: $(VENV)/.installed
	$(BIN)/multifacet demo

test: $(VENV)/.installed lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal \
		--cov --cov-report=term:skip-covered --cov-fail-under=90

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

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

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage dist
	rm -rf docs/_build docs/api docs/gallery docs/generated
