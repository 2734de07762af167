PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test test-slow size check docs bench coverage lowest lock release clean

# the rooms whose branches are counted, by their own tests alone
COVERED := core inputs scoring
OUTPUTS := */core/files.py,*/core/atomic_io.py

# where the lowest versions are installed, and what is tested with them: readers, metrics, groups, a model that is asked,
# engines, tracking, the page, and the command line
LOWEST := .lowest
LOWEST_EXTRAS := figures http mlflow onnx pandas paper ray
LOWEST_TESTS := tests/inputs tests/groups tests/metrics tests/report tests/scoring \
	tests/integrations/test_mlflow.py tests/counts/test_ray_adapter.py tests/end_to_end/test_command_line.py \
	tests/demo --ignore-glob '*_ranx.py' --ignore-glob '*_scikit_learn.py' \
	-k 'not ranx and not without_noise and not in_its_own_way and not node_is_lost'
# the last three: Ray 2.10 leaves files open, which it says where warnings are shown, and has nodes in tests without an id

# where a release is built and tried
RELEASE := .release
TOOLS := $(RELEASE)/tools/bin

# set up what is needed and run the main job
demo: $(VENV)/core
	$(BIN)/fairrec demo

# set up what is needed and run all tests but the slow ones
test: $(VENV)/dev
	# a file in one process, so that what its tests share is made once
	$(BIN)/python -m pytest -n auto --dist loadfile -m 'not slow'

# what the marker `slow` in pyproject.toml names
test-slow: $(VENV)/dev
	$(BIN)/python -m pytest -n auto --dist loadfile -m slow

# what CI runs besides the tests
check: $(VENV)/dev
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy

# lines and modules of the packages, and how deep an audit calls
size: $(VENV)/core
	$(BIN)/python .ci/size.py

# the site, in docs/_build/html; a link that leads nowhere is an error, and so is a page that fetches from a network
docs: $(VENV)/docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

# timings and memory beside other tools, as ratios in one run
bench: $(VENV)/bench
	$(BIN)/python -m benchmarks

# branches that the tests of a room run; 95% or more of readers, callers and writers
coverage: $(VENV)/dev
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest -q $(COVERED:%=tests/%) $(COVERED:%=src/fairrec/%)
	$(BIN)/python -m coverage combine -q
	for part in '$(OUTPUTS)' '*/inputs/*' '*/scoring/*'; do \
		$(BIN)/python -m coverage report --include="$$part" --fail-under=95 || exit; done

# the lowest versions that pyproject.toml allows; torch is left out, as its wheels take gigabytes
lowest: $(LOWEST)/ready
	# what numba compiles is not for another version of it
	NUMBA_CACHE_DIR=$(CURDIR)/$(LOWEST)/numba PYTHONPATH=$(CURDIR)/src $(LOWEST)/venv/bin/python -m pytest -q -n auto -o filterwarnings=default $(LOWEST_TESTS)

$(LOWEST)/ready: pyproject.toml Makefile
	$(PYTHON) -m venv $(LOWEST)/uv
	$(LOWEST)/uv/bin/pip install -q uv
	printf "torch; python_version < '3'\n" > $(LOWEST)/overrides.txt
	# newer ones warn of what the lowest typer imports, and warnings are errors in child processes
	printf "click<8.5\n" > $(LOWEST)/constraints.txt
	$(LOWEST)/uv/bin/uv pip compile -q pyproject.toml $(LOWEST_EXTRAS:%=--extra %) --resolution lowest-direct \
		--overrides $(LOWEST)/overrides.txt --constraints $(LOWEST)/constraints.txt --no-header -o $(LOWEST)/lowest.txt
	$(LOWEST)/uv/bin/uv venv -q --clear -p $(PYTHON) $(LOWEST)/venv
	$(LOWEST)/uv/bin/uv pip install -q -p $(LOWEST)/venv --only-binary :all: -r $(LOWEST)/lowest.txt
	$(LOWEST)/uv/bin/uv pip install -q -p $(LOWEST)/venv -c $(LOWEST)/lowest.txt \
		cmarkgfm hypothesis jsonschema markdown-it-py 'onnx<1.17' pytest pytest-xdist
	touch $@

# the tested set with hashes, for all systems and Pythons; torch is left out, as the hashes of its builds differ by index
lock: $(RELEASE)/ready
	printf "torch; python_version < '3'\n" > $(RELEASE)/overrides.txt
	$(TOOLS)/uv pip compile -q pyproject.toml --all-extras --universal --python-version 3.11 --upgrade -c constraints.txt \
		--overrides $(RELEASE)/overrides.txt --generate-hashes --no-annotate --no-header -o requirements.lock

# sdist and wheel of the last commit, built twice with the same bytes; tried in empty environments with the newest and the
# lowest versions; a bill of materials of the newest
release: $(RELEASE)/ready
	rm -rf dist
	$(TOOLS)/python .ci/release.py dist
	$(TOOLS)/twine check --strict dist/*.whl dist/*.tar.gz
	# a wheel that is asked for by itself gets the newest versions, whatever --resolution says of what it needs
	: > $(RELEASE)/newest.txt
	$(TOOLS)/uv pip compile -q pyproject.toml --resolution lowest-direct --upgrade --no-header --no-annotate -o $(RELEASE)/lowest.txt
	for versions in newest lowest; do \
		$(TOOLS)/uv venv -q --clear -p $(PYTHON) $(RELEASE)/$$versions && \
		$(TOOLS)/uv pip install -q -p $(RELEASE)/$$versions -c $(RELEASE)/$$versions.txt dist/*.whl && \
		NUMBA_CACHE_DIR=$(CURDIR)/$(RELEASE)/numba-$$versions .ci/smoke $(RELEASE)/$$versions/bin/python || exit; done
	$(TOOLS)/cyclonedx-py environment --output-reproducible --pyproject pyproject.toml --mc-type library \
		--output-file dist/sbom.cdx.json $(RELEASE)/newest/bin/python
	$(TOOLS)/python .ci/sbom.py dist/sbom.cdx.json

$(RELEASE)/ready: pyproject.toml
	$(PYTHON) -m venv $(RELEASE)/tools
	$(TOOLS)/pip install -q uv
	$(TOOLS)/uv pip install -q -p $(RELEASE)/tools --group release
	touch $@

$(VENV)/core: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q -e . -c constraints.txt
	touch $@

$(VENV)/dev: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q -e '.[dev]' -c constraints.txt
	touch $(VENV)/core $@

$(VENV)/docs: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q -e '.[docs]' -c constraints.txt
	touch $(VENV)/core $@

$(VENV)/bench: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q -e '.[bench]' -c constraints.txt
	touch $(VENV)/core $(VENV)/dev $@

clean:
	rm -rf $(VENV) $(LOWEST) $(RELEASE) dist docs/_build docs/_live docs/reference/commands docs/reference/schemas \
		.axe fairrec-demo bench-data .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*
