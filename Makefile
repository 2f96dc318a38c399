# What people type. Everything else is in scripts/.
.DEFAULT_GOAL := help
.PHONY: help run test test-all lint ci setup web openapi migration locks sbom bench clean

help: ## show this
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

run: setup web ## install what is missing, build the web UI, start Offhook
	@exec .venv/bin/offhook serve $(ARGS)

test: ## the tests, in a few minutes
	@scripts/test.sh $(ARGS)

test-all: ## the slow tests too, in half an hour
	@scripts/test.sh --all $(ARGS)

lint: ## style, types and layers, of the server and of the web UI
	@scripts/lint.sh

ci: ## everything that must pass before a merge
	@.ci/run

setup: ## make .venv from the locks
	@scripts/bootstrap.sh

web: ## build the web UI
	@scripts/build_web.sh

openapi: ## write docs/openapi.json and the web client's types from the code
	@scripts/bootstrap.sh --dev
	@.venv/bin/python -m offhook.commands.openapi
	@scripts/build_web.sh --install
	@if [ -x web/node_modules/.bin/openapi-typescript ]; then cd web && npm run --silent api; fi

migration: ## write the next database migration: make migration MESSAGE="what it does"
	@scripts/bootstrap.sh --dev
	@.venv/bin/python scripts/new_migration.py "$(MESSAGE)"

locks: ## resolve the dependencies anew
	@scripts/make_locks.sh $(ARGS)

sbom: ## write what the product is made of to dist/sbom, as CycloneDX
	@scripts/sbom.sh

bench: ## how to measure the voice loop
	@echo "Load on the voice loop, with fake vendors (see docs/performance.md for the figures and what they mean):"
	@echo "  .venv/bin/python -m bench.voice                       # 1, 10, 20, 40, 80, 100 calls"
	@echo "  .venv/bin/python -m bench.voice --calls 40 --seconds 60 --json"

clean: ## remove what was built and installed
	rm -rf .venv web/node_modules web/dist dist/sbom src/offhook/_ui .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
