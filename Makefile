# make run       start a portal on this machine (needs Python 3.11+); prints its address and login
# make demo      fill the running portal with a simulated organization
# make serve     start the server stack with your own PostgreSQL and Redis (needs nginx)
# make test      run the gate: PostgreSQL, and SQLite where the code differs; at most 12 minutes on two cores
# make test-all  run every test, including real Slurm faults, browsers, storms and all seeds
# make check     run lint, types, import contracts, Django checks, migration and template checks
# make fmt       format Python, templates, CSS and JavaScript
# make bench     run the benchmarks behind docs/bench.md
# make storm     run the fault-injection tests: kill -9 under load, and log floods
# make lock      update the dependency locks
# make shapes    update the types of the SDK from the shapes of the API
# make messages  update the translation catalogues in locale/
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help run serve directories packages test test-all check bench storm lock fmt messages shapes demo clean

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
NODE := PATH="$$PATH:$$PWD/.venv-js/bin" node
STATIC := build/static/staticfiles.json
PROGRESS = $(PYTHON) scripts/progress.py
# $(call INSTALL,title,python,lock): install what a lock names, with progress
INSTALL = $(PROGRESS) $(1) --of $$(grep -c '^[a-z].*==' $(3)) Collecting -- \
  $(2) -m pip --disable-pip-version-check install --progress-bar off --no-deps --require-hashes -r $(3)
GUIDE := build/site/help/topics.json

help:
	@sed -n 's/^# make/make/p' Makefile

run: $(VENV)/.base.stamp $(STATIC) $(GUIDE)
	@PYTHON="$(PYTHON)" scripts/setup-isolation.sh
	@exec $(PY) manage.py serve

serve: $(VENV)/.base.stamp $(STATIC) $(GUIDE)
	@exec $(PY) manage.py serve --server

test test-all: packages
	@$(MAKE) $(VENV)/.dev.stamp static/vendor/.stamp $(STATIC) $(GUIDE) .venv-mlflow/.stamp .venv-hf/.stamp
	@$(if $(filter test-all,$@),$(MAKE) .venv-mlflow2/.stamp .venv-mlflow3/.stamp .venv-hf0/.stamp .venv-hf1/.stamp .venv-openapi/.stamp .venv-jupyter/.stamp)
	@$(PY) -m tests.rig suite $(if $(filter test-all,$@),--all)

# Debian packages for the tests. Needs root or `sudo -n`; otherwise prints the command to run.
packages:
	@scripts/setup-tests.sh

check: $(VENV)/.dev.stamp node_modules/.dev.stamp
	@$(PY) -m tests.rig check

bench: packages
	@$(MAKE) $(VENV)/.dev.stamp static/vendor/.stamp .venv-mlflow3/.stamp .venv-hf/.stamp
	@$(PY) -m bench $(ONLY)

storm: $(VENV)/.dev.stamp
	@$(PY) -m tests.storm --submits 2000 --seeds 1,2,3
	@$(PY) -m tests.storm.flood --gib 10

demo: $(VENV)/.base.stamp
	@$(PY) manage.py demo

shapes: $(VENV)/.dev.stamp
	@$(PY) manage.py shapes

messages: $(VENV)/.dev.stamp
	@$(PY) manage.py messages

fmt: $(VENV)/.dev.stamp node_modules/.dev.stamp
	@$(PY) -m ruff check --fix-only --fixable I,UP -q .
	@$(PY) -m ruff format -q .
	@for pass in 1 2; do $(PY) -m djlint --reformat --quiet templates || true; done
	@$(NODE) node_modules/prettier/bin/prettier.cjs --write --log-level=warn static tests scripts *.js

LOCK := uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url -q
lock:
	@command -v uv >/dev/null || { echo "make lock needs uv: pip install uv"; exit 1; }
	@cd requirements && for name in base directories dev js guide mlflow mlflow2 mlflow3 hf hf0 hf1 openapi jupyter; do $(LOCK) $(UPGRADE) $$name.in -o $$name.lock; done
	@sed -i -E '/^(--index-url|--extra-index-url|--find-links|--trusted-host)/d' requirements/*.lock

clean:
	@rm -rf $(VENV) .venv-js .venv-guide .venv-mlflow* .venv-hf* .venv-openapi .venv-jupyter node_modules static/vendor build var

# LDAP and SAML support for `make run` and `make serve`. The tests always have it.
directories: $(VENV)/.directories.stamp

$(VENV)/.directories.stamp: requirements/directories.lock | $(VENV)/.base.stamp
	@$(call INSTALL,"Installing packages for LDAP and SAML",$(PY),$<) \
	  || { echo "On Debian and Ubuntu: apt install gcc python3-dev libldap-dev libsasl2-dev"; exit 1; }
	@touch $@

# --- Environments, created once and updated when a lock changes ---

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Muster needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Choose another: make run PYTHON=python3.12"; exit 1; }
	@$(PROGRESS) "Creating a virtual environment in $(VENV)" -- $(PYTHON) -m venv $(VENV) \
	  || { rm -rf $(VENV); echo "python3 -m venv failed: on Debian and Ubuntu, apt install python3-venv"; exit 1; }

# `muster` in the virtual environment runs the client from this checkout.
define WRAPPER
printf '#!/bin/sh\nPYTHONPATH="%s/client" exec "%s/$(PY)" -m muster "$$@"\n' "$(CURDIR)" "$(CURDIR)" >$(VENV)/bin/muster && chmod 755 $(VENV)/bin/muster
endef

$(VENV)/.base.stamp: requirements/base.lock | $(PY)
	@$(PY) -m pip --version >/dev/null 2>&1 || $(PY) -m ensurepip >/dev/null
	@$(call INSTALL,"Installing packages (once)",$(PY),$<)
	@$(WRAPPER)
	@touch $@

$(VENV)/.dev.stamp: requirements/dev.lock | $(PY)
	@$(PY) -m pip --version >/dev/null 2>&1 || $(PY) -m ensurepip >/dev/null
	@$(call INSTALL,"Installing packages for the tests (once)",$(PY),$<)
	@$(WRAPPER)
	@touch $@ $(VENV)/.base.stamp

# Clients of the tests, whose packages would conflict with ours. Tests start them as programs.
.venv-%/.stamp: requirements/%.lock
	@$(CLIENT)

# Builds the guide; without a pip of its own.
.venv-guide/.stamp: requirements/guide.lock | $(VENV)/.base.stamp
	@test -x $(@D)/bin/python || $(PYTHON) -m venv --without-pip $(@D)
	@$(PROGRESS) "Installing Zensical, which builds the guide (once)" -- \
	  $(PY) -m pip --python $(@D)/bin/python --disable-pip-version-check install --progress-bar off --no-deps --require-hashes -r $<
	@touch $@

define CLIENT
test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D); \
$(call INSTALL,"Installing $(<F:.lock=) for the tests (once)",$(@D)/bin/python,$<); touch $@
endef

# npm for the browser libraries and Prettier: the system's, else from PyPI in a separate environment.
define NPM
if ! command -v npm >/dev/null; then \
  test -x .venv-js/bin/npm || { $(PYTHON) -m venv .venv-js; \
    $(call INSTALL,"Installing Node.js (once)",.venv-js/bin/python,requirements/js.lock); }; \
  export PATH="$$PWD/.venv-js/bin:$$PATH"; \
fi; $(PROGRESS) "Installing $(1) (once)" -- npm ci --no-audit --no-fund --loglevel=error $(2)
endef

static/vendor/.stamp: package.json package-lock.json scripts/vendor.mjs $(wildcard scripts/vendor/*.js)
	@$(call NPM,browser libraries,--omit=dev) && npm run --silent vendor
	@mkdir -p $(@D) && touch $@

# Hashed, minified and compressed. `manage.py serve` uses the sources instead while one of them is newer.
$(STATIC): scripts/bundle.mjs $(shell find static -type f -not -path 'static/vendor/*') $(VENV)/.base.stamp static/vendor/.stamp
	@test -d node_modules/esbuild || { $(call NPM,browser libraries,--omit=dev); }
	@PATH="$$PATH:$$PWD/.venv-js/bin" $(PROGRESS) "Building static files" -- node scripts/bundle.mjs
	@$(PROGRESS) "Collecting static files" -- \
	  $(PY) manage.py collectstatic --settings portal.settings.collect --noinput --clear -v0 --ignore rest_framework --ignore 'redoc*'

# The guide at /help/, and its index for the command palette.
$(GUIDE): zensical.toml scripts/guide_site.py $(shell find docs/guide docs/theme -type f) .venv-guide/.stamp | $(VENV)/.base.stamp
	@rm -rf $(@D) && $(PROGRESS) "Building the guide" -- .venv-guide/bin/zensical build --strict
	@.venv-guide/bin/python -m scripts.guide_site $(@D)
	@$(PY) -m whitenoise.compress -q $(@D)

# `npm ci` empties node_modules, including this stamp.
node_modules/.dev.stamp: package.json package-lock.json
	@$(call NPM,Prettier and linters)
	@touch $@
