PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
DOCS := .venv-docs
BIN := $(VENV)/bin
PIP := $(PYTHON) -m pip --python $(BIN)/python --disable-pip-version-check

.PHONY: setup extras run quick test soak mutants check format figures docs bench clean

setup: $(VENV)/ready

$(VENV)/ready: requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "soar-il needs Python 3.11 or newer on the PATH, or: make PYTHON=/path/to/python"; exit 1; }
	$(PYTHON) -m venv --without-pip --clear $(VENV)
	$(PIP) install --quiet -r requirements.lock
	$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

extras: $(VENV)/extras

$(VENV)/extras: $(VENV)/ready extras.lock
	$(PIP) install --quiet -r extras.lock
	@touch $@

run: setup
	$(BIN)/soar sweep experiments/first.toml
	-$(BIN)/soar video results/first/Hopper-v5/ml-irl-L4-seed0 --stages 3 --seconds 6
	$(BIN)/soar report results/first

quick: setup
	$(BIN)/python tests/quick.py

test: setup
	$(BIN)/python -m pytest

soak: setup
	SOAK=$(SOAK) $(BIN)/python -m pytest -m soak

mutants: setup
	$(BIN)/python tests/mutants.py --share $(or $(MUTANTS),1)

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

figures: setup
	@for book in docs/results/*/*.sweep.json; do \
		name=$$(basename $$book .sweep.json); marks=docs/results/$$name.marks.toml; \
		test -f $$marks && more="--marks $$marks" || more=; \
		$(BIN)/soar report $$book --poster docs/figures/$$name.png $$more || exit 1; done

docs: $(DOCS)/ready
	$(DOCS)/bin/mkdocs build --strict --quiet
	@echo "the site: build/site/index.html; with search: python3 -m http.server -d build/site"

$(DOCS)/ready: docs.lock
	$(PYTHON) -m venv --clear $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check -r docs.lock
	@touch $@

bench: setup
	$(BIN)/python benchmarks/compare.py
	PYTHONPATH=tests $(BIN)/python benchmarks/deep.py
	PYTHONPATH=tests $(BIN)/python benchmarks/tabular.py
	PYTHONPATH=tests $(BIN)/python benchmarks/sweep.py

clean:
	rm -rf $(VENV) $(DOCS) build results dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
