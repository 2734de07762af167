PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test check bench clean

# set up what is needed and run the main job
demo: $(VENV)/core
	$(BIN)/fairrec demo

# set up what is needed and run all tests
test: $(VENV)/dev
	$(BIN)/python -m pytest -n auto --dist loadgroup

# what CI runs besides the tests
check: $(VENV)/dev
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy

# timings and memory beside other tools, as ratios in one run
bench: $(VENV)/bench
	$(BIN)/python -m benchmarks

$(VENV)/core: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q -e . -c constraints.txt
	touch $@

$(VENV)/dev: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q -e '.[dev]' -c constraints.txt
	touch $(VENV)/core $@

$(VENV)/bench: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q -e '.[bench]' -c constraints.txt
	touch $(VENV)/core $(VENV)/dev $@

clean:
	rm -rf $(VENV) fairrec-demo bench-data .mypy_cache .ruff_cache .pytest_cache .hypothesis
