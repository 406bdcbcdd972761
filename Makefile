# Every target sets up what it needs by itself: a private environment in .venv.
# Overrides for an experiment go into ARGS:  make reproduce-table2 ARGS="protocol=lite datasets=[iris,wine]"

PYTHON ?= python3
ARGS   ?=
VENV   := .venv
BIN    := $(VENV)/bin
# uv is much faster where it exists; pip is enough. pip byte-compiles on one core, and the packages' tests too,
# which took half of its time: it is told not to, and all cores do the rest. What fails there compiles when imported.
INSTALL = if command -v uv >/dev/null 2>&1; then uv pip install -q --compile-bytecode --python $(BIN)/python -c constraints.txt $(1); \
          else $(BIN)/python -m pip install -q --no-compile --disable-pip-version-check -c constraints.txt $(1) && \
          { $(BIN)/python -m compileall -qq -j 0 -x '/tests?/' $(VENV)/lib src || true; }; fi

# One module each; `mloml reproduce` lists them with their titles.
ARTEFACTS := $(filter-out __init__,$(notdir $(basename $(wildcard src/mloml/report/artefacts/*.py))))

.DEFAULT_GOAL := help
.PHONY: help setup fetch test lint lite bench docs dist report reference clean lock reproduce-all \
        $(ARTEFACTS:%=reproduce-%)

help: ## List the targets
	@grep -hE '^[a-z0-9%-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  %-22s %s\n", $$1, $$2}'
	@for a in $(ARTEFACTS); do printf "  %-22s %s\n" reproduce-$$a "$$(sed -n '1s/^"*//p' $$(grep -l "main(.$$a.)" experiments/*.py))"; done

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else "mloml needs Python 3.11 or newer, this is %d.%d: say make PYTHON=python3.12 ..." % v[:2])'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.ready: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing mloml into $(VENV)"
	@$(call INSTALL,-e .)
	@touch $@

$(VENV)/.dev-ready: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing mloml and its development tools into $(VENV)"
	@$(call INSTALL,-e '.[dev]')
	@touch $@ $(VENV)/.ready

setup: $(VENV)/.ready ## Create the private environment

fetch: $(VENV)/.ready ## Get every dataset there is, and say what is missing
	@$(BIN)/mloml data fetch all

test: $(VENV)/.dev-ready ## Run the tests
	@$(BIN)/python -m pytest -n 2 --dist worksteal $(ARGS)

lint: $(VENV)/.dev-ready ## Check style, types and the direction of imports
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@! git grep -nIiE -f tools/banned.txt -- README.md CONTRIBUTING.md CHANGELOG.md docs src conf experiments Makefile .ci tools benchmarks ":!tools/banned.txt" || { echo "plainer words, please: tools/banned.txt" >&2; exit 1; }

lite: $(VENV)/.ready ## Table II in small: a minute, bundled data only
	@$(BIN)/mloml reproduce table2 protocol=lite name=lite 'datasets=[iris,wine,spect_paper,ionosphere,balance]' $(ARGS)

$(VENV)/.river-ready: $(VENV)/.ready
	@$(BIN)/python -c 'import river' 2>/dev/null || { echo "installing river into $(VENV)"; $(call INSTALL,-e '.[river]'); }
	@touch $@

reproduce-streams reproduce-drift: $(VENV)/.river-ready

$(ARTEFACTS:%=reproduce-%): reproduce-%: $(VENV)/.ready
	@$(BIN)/mloml reproduce $* $(ARGS)

reproduce-all: $(VENV)/.ready ## The paper's tables and figures, and what tests them; can be interrupted and called again
	@$(BIN)/mloml reproduce all $(ARGS)

reference: $(VENV)/.river-ready ## results/reference anew with the code as it is: some hours, needs MLOML_DATA
	@$(BIN)/python tools/reference.py $(ARGS)

report: $(VENV)/.ready ## One HTML page over all artefacts: results/report/index.html
	@$(BIN)/mloml report $(ARGS)

docs: $(VENV)/.dev-ready ## Build the documentation: docs/_build/html/index.html
	@$(BIN)/sphinx-build -n -W --keep-going -q docs docs/_build/html $(ARGS)
	@$(BIN)/python docs/check_links.py docs/_build/html
	@echo "docs/_build/html/index.html"

dist: $(VENV)/.dev-ready ## Build the wheel and the source distribution, and check them
	@rm -rf dist && $(BIN)/python -m build -q --installer $$(command -v uv >/dev/null 2>&1 && echo uv || echo pip)
	@$(BIN)/twine check --strict dist/* && $(BIN)/check-wheel-contents dist/*.whl

bench: $(VENV)/.dev-ready ## Ratios measured side by side on this machine
	@$(BIN)/python benchmarks/run.py $(ARGS)

lock: $(BIN)/python ## Renew constraints.txt (needs uv)
	@uv pip compile --quiet --universal --python-version 3.11 --all-extras --strip-extras --no-header --no-annotate pyproject.toml -o constraints.txt

clean: ## Remove the environment and what runs wrote into results/
	@rm -rf $(VENV) build dist docs/_build docs/gallery docs/api/generated src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find results -mindepth 1 -maxdepth 1 ! -name reference ! -name README.md -exec rm -rf {} +
