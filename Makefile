# Everything a newcomer types. `make demo` and `make test` each work as the first command on a clean clone:
# they need Python 3.11 or newer, make and a package index.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
SECONDS ?= 180
export OMP_NUM_THREADS = 1

.PHONY: demo test lint types benchmark experiments clean

demo: $(VENV)/installed
	@$(BIN)/speciate run circle_packing --seconds $(SECONDS)

test: $(VENV)/installed-dev
	$(BIN)/python -m pytest -q -n auto

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-dev
	@view=$$(mktemp -d) && ln -s "$(CURDIR)" "$$view/speciate" && cd "$$view" && \
	"$(abspath $(BIN))/mypy" --config-file speciate/pyproject.toml --cache-dir "$(CURDIR)/.mypy_cache" \
	speciate/core speciate/islands speciate/plugins; status=$$?; rm -rf "$$view"; exit $$status

benchmark: $(VENV)/installed-dev
	for script in tests/benchmarks/bench_*.py; do $(BIN)/python $$script || exit 1; done

# The committed comparisons, run again: their reports come out as they lie in benchmarks/reports.
experiments: $(VENV)/installed
	for file in benchmarks/*.toml; do \
	name=$$(basename $$file .toml); \
	$(BIN)/speciate compare $$file --out runs/$$name || exit 1; \
	mkdir -p benchmarks/reports/$$name; \
	cp runs/$$name/report.csv runs/$$name/report.html benchmarks/reports/$$name; \
	done

$(VENV)/created:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "speciate needs Python 3.11 or newer; say make PYTHON=python3.x")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/installed: $(VENV)/created pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/installed-dev: $(VENV)/created pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/installed

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
