# make run    everything on this machine, from nothing but Python 3.11+ and make: ends at an address and a login
# make test   the gate: PostgreSQL and Redis, and SQLite where the code differs; at most 10 minutes on two cores
# make test-all  every test, also real Slurm faults, browsers, storms and all seeds
# make check  lint, types, import contracts, Django's checks, migrations, templates
# make bench  the measurements behind docs/bench.md       make storm  kill -9 under load, and floods
# make lock   remake the dependency locks                 make fmt    format Python, templates, CSS and JavaScript
# make messages   bring the catalogues of locale/ into step with the sources
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help run serve directories packages test test-all check bench storm lock fmt messages clean

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check -q

help:
	@sed -n 's/^# //p' Makefile | head -7

run: $(VENV)/.base.stamp static/vendor/.stamp
	@exec $(PY) manage.py serve

serve: $(VENV)/.base.stamp static/vendor/.stamp
	@exec $(PY) manage.py serve --server

test test-all: packages
	@$(MAKE) $(VENV)/.dev.stamp static/vendor/.stamp
	@$(PY) -m tests.rig suite $(if $(filter test-all,$@),--all)

# The Debian packages of the tests; needs root or `sudo -n`, otherwise it prints the one command to run.
packages:
	@scripts/setup-tests.sh

check: $(VENV)/.dev.stamp node_modules/.dev.stamp
	@$(PY) -m tests.rig check

bench: $(VENV)/.dev.stamp static/vendor/.stamp
	@$(PY) -m bench $(ONLY)

storm: $(VENV)/.dev.stamp
	@$(PY) -m tests.storm --submits 2000 --seeds 1,2,3
	@$(PY) -m tests.storm.flood --gib 10

messages: $(VENV)/.base.stamp
	@$(PY) manage.py messages

fmt: $(VENV)/.dev.stamp node_modules/.dev.stamp
	@$(PY) -m ruff check --fix-only --fixable I,UP -q .
	@$(PY) -m ruff format -q .
	@for pass in 1 2; do $(PY) -m djlint --reformat --quiet templates || true; done
	@PATH="$$PATH:$$PWD/.venv-js/bin" node node_modules/prettier/bin/prettier.cjs --write --log-level=warn static tests scripts

LOCK := uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url -q
lock:
	@command -v uv >/dev/null || { echo "make lock needs uv: pip install uv"; exit 1; }
	@cd requirements && for name in base directories dev js; do $(LOCK) $(UPGRADE) $$name.in -o $$name.lock; done
	@sed -i -E '/^(--index-url|--extra-index-url|--find-links|--trusted-host)/d' requirements/*.lock

clean:
	@rm -rf $(VENV) .venv-js node_modules static/vendor var

# LDAP and SAML for `make run` and `make serve`; the tests have them anyway.
directories: $(VENV)/.directories.stamp

$(VENV)/.directories.stamp: requirements/directories.lock | $(VENV)/.base.stamp
	@echo "Installing what LDAP directories and SAML need …"
	@$(PIP) install --require-hashes -r requirements/directories.lock \
	  || { echo "On Debian and Ubuntu: apt install gcc python3-dev libldap-dev libsasl2-dev"; exit 1; }
	@touch $@

# --- what the targets stand on: made once, remade when the lock is newer ---

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Muster needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Say which: make run PYTHON=python3.12"; exit 1; }
	@echo "Making a virtual environment in $(VENV) …"
	@$(PYTHON) -m venv $(VENV) \
	  || { rm -rf $(VENV); echo "python3 -m venv failed: on Debian and Ubuntu, apt install python3-venv"; exit 1; }

# `muster` from a checkout: the same environment, the client's source.
define WRAPPER
printf '#!/bin/sh\nPYTHONPATH="%s/client" exec "%s/$(PY)" -m muster "$$@"\n' "$(CURDIR)" "$(CURDIR)" >$(VENV)/bin/muster && chmod 755 $(VENV)/bin/muster
endef

$(VENV)/.base.stamp: requirements/base.lock | $(PY)
	@$(PY) -m pip --version >/dev/null 2>&1 || $(PY) -m ensurepip >/dev/null
	@echo "Installing what Muster needs (once) …"
	@$(PIP) install --require-hashes -r requirements/base.lock
	@$(WRAPPER)
	@touch $@

$(VENV)/.dev.stamp: requirements/dev.lock | $(PY)
	@$(PY) -m pip --version >/dev/null 2>&1 || $(PY) -m ensurepip >/dev/null
	@echo "Installing what the tests need (once) …"
	@$(PIP) install --require-hashes -r requirements/dev.lock
	@$(WRAPPER)
	@touch $@ $(VENV)/.base.stamp

# npm from the machine, else from PyPI in an environment of its own: for the browser's libraries, which we serve, and for Prettier.
define NPM
if ! command -v npm >/dev/null; then \
  test -x .venv-js/bin/npm || { $(PYTHON) -m venv .venv-js; \
    .venv-js/bin/python -m pip --disable-pip-version-check -q install --require-hashes -r requirements/js.lock; }; \
  export PATH="$$PWD/.venv-js/bin:$$PATH"; \
fi; npm ci --no-audit --no-fund --loglevel=error
endef

static/vendor/.stamp: package.json package-lock.json
	@echo "Fetching the browser's libraries (once) …"
	@$(NPM) --omit=dev && npm run --silent vendor
	@mkdir -p $(@D) && touch $@

# `npm ci` empties node_modules, and this stamp with it.
node_modules/.dev.stamp: package.json package-lock.json
	@echo "Fetching Prettier (once) …"
	@$(NPM)
	@touch $@
