# Two commands do everything on a machine that has Python 3.11 or newer and reaches PyPI:
#   make demo    everything end to end on a simulated log
#   make test    style, types and the tests
#   make thorough   the tests that keep the same promises in further ways: on Spark, after more kills, in more views
#   make model   make the packaged classifier and vocabulary again, from the packaged labels
#   make evidence   the same, and every experiment and benchmark, about an hour; writes evidence/report.md
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# Modules are compiled once, not by every process that is started.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo test thorough evidence format lock model clean

help:
	@sed -n 's/^#   //p' Makefile

demo: $(VENV)/core.stamp
	$(BIN)/search-insights demo

# Three files of tests at once, on two cores: those with a browser or Spark often wait. No matrix is multiplied on
# several cores, where threads that wait would cost time of others.
test thorough: export OMP_NUM_THREADS := 1
test thorough: export OPENBLAS_NUM_THREADS := 1
test: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers 2
	$(BIN)/pytest --numprocesses 3 --dist loadfile

thorough: $(VENV)/dev.stamp
	$(BIN)/pytest --numprocesses 3 --dist loadfile -m thorough

# What takes too long for every change; evidence/README.md lists the parts, and how to run some of them.
evidence: thorough
	$(BIN)/python -m evidence

format: $(VENV)/dev.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The lock files hold exact versions with hashes, for every platform. Run after a change of pyproject.toml.
lock: $(VENV)/python.stamp
	$(PIP) install uv
	$(BIN)/uv pip compile pyproject.toml requirements/build.in --universal --python-version 3.11 \
		--generate-hashes --no-header --quiet --output-file requirements/core.txt
	$(BIN)/uv pip compile pyproject.toml requirements/build.in --group dev --constraint requirements/core.txt --universal --python-version 3.11 \
		--generate-hashes --no-header --quiet --output-file requirements/dev.txt

# The packaged classifier and vocabulary, from the packaged labels, lexicon and geography; the same inputs give the same files.
DATA := src/search_insights/classifier/packaged
model: $(VENV)/dev.stamp
	$(BIN)/search-insights classify pool --labels $(DATA)/vaccination_labels.csv --lexicon vaccination --out $(VENV)/pool.parquet
	$(BIN)/search-insights classify train --labels $(DATA)/vaccination_labels.csv --pool $(VENV)/pool.parquet \
		--lexicon vaccination --out $(DATA)/vaccination.model
	$(BIN)/search-insights classify evaluate --labels $(DATA)/vaccination_heldout.csv
	$(BIN)/search-insights classify vocabulary --labels $(DATA)/vaccination_labels.csv --lexicon vaccination \
		--out $(DATA)/vaccination_vocabulary.txt

clean:
	rm -rf $(VENV)

# The virtual environment. Each stamp says that a step finished; an interrupted one is done again.
$(VENV)/python.stamp:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "search-insights needs Python 3.11 or newer; $(PYTHON) is older. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/core.stamp: requirements/core.txt pyproject.toml | $(VENV)/python.stamp
	$(PIP) install --require-hashes -r requirements/core.txt
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/dev.stamp: requirements/dev.txt $(VENV)/core.stamp
	$(PIP) install --require-hashes -r requirements/dev.txt
	@touch $@
