# The only commands a newcomer needs. Rust and Node have to be there; the rest is fetched.
#
#   make run     everything, on http://127.0.0.1:54321
#   make test    the whole truth; continuous integration calls the same

SHELL := /bin/bash
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
BINARY := $(abspath $(TARGET_DIR)/release/selvedge)
STEP := tools/step

.DEFAULT_GOAL := help
.PHONY: help run test test-rust test-frontend test-e2e bench lint fmt build docker postgres

help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  \033[1m%-14s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: postgres build frontend/dist ## Build everything and start Lookbook on Selvedge
	$(BINARY) start --project sql/app

test: postgres lint test-rust test-frontend test-e2e ## Check, build and test everything

lint: frontend/node_modules e2e/node_modules ## Formatting, lints, types and licences
	@$(STEP) "rustfmt" cargo fmt --all --check
	@$(STEP) "clippy" cargo clippy --workspace --all-targets --locked -- -D warnings
	@$(STEP) "licences" node tools/licences.mjs
	@$(STEP) "frontend: lint" npm --prefix frontend run lint
	@$(STEP) "frontend: types" npm --prefix frontend run typecheck
	@$(STEP) "e2e: lint" npm --prefix e2e run lint
	@$(STEP) "e2e: types" npm --prefix e2e run typecheck

fmt: frontend/node_modules e2e/node_modules ## Format everything
	cargo fmt --all
	npm --prefix frontend run format
	npm --prefix e2e run format

# The tests mostly wait for PostgreSQL and the disk: more of them at once than there are cores.
test-rust: postgres ## Rust unit and integration tests on a real PostgreSQL
	@$(STEP) "cargo test" env RUST_TEST_THREADS=6 cargo test --workspace --locked

test-frontend: frontend/node_modules ## Unit tests of the front end
	@$(STEP) "frontend: tests" npm --prefix frontend test

test-e2e: postgres build frontend/dist e2e/node_modules ## The stock clients and a browser against the built binary
	@$(STEP) "e2e" env SELVEDGE_BIN=$(BINARY) npm --prefix e2e test

bench: postgres build ## Requests per second next to pgbench running the same SQL
	python3 bench/bench.py --binary $(BINARY)
	python3 bench/images.py --binary $(BINARY)
	python3 bench/storage.py --binary $(BINARY)

docker: ## Build the image
	docker build --file docker/Dockerfile --tag selvedge .

build: ## Build the release binary
	@$(STEP) "cargo build --release" cargo build --release --locked --package selvedge

postgres:
	@tools/postgres

frontend/node_modules: frontend/package-lock.json
	@$(STEP) "frontend: npm ci" npm --prefix frontend ci --no-audit --no-fund
	@touch $@

e2e/node_modules: e2e/package-lock.json
	@$(STEP) "e2e: npm ci" npm --prefix e2e ci --no-audit --no-fund
	@touch $@

frontend/dist: frontend/node_modules $(shell find frontend/src frontend/public frontend/index.html frontend/vite.config.ts -type f 2>/dev/null)
	@$(STEP) "frontend: build" npm --prefix frontend run build
	@node tools/compress.mjs frontend/dist
	@touch $@
