# The commands for building, running and testing. They need Rust and Node; the rest is fetched.
#
#   make run     builds and starts everything on http://127.0.0.1:54321
#   make check   runs what a commit has to pass
#   make test    runs every check and test, as continuous integration does
#
# Which steps these have, and which of them run side by side, is in tools/plan.py.

SHELL := /bin/bash
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
BINARY := $(abspath $(TARGET_DIR)/release/selvedge)
STEP := tools/step
# Installs PostgreSQL where the machine has none, and tells it to the command that follows.
WITH_POSTGRES := tools/postgres

.DEFAULT_GOAL := help
.PHONY: help run check test test-all soak test-rust test-frontend test-e2e golden cluster bench fmt hooks build package docker

help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  \033[1m%-14s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## Build everything and start Lookbook on Selvedge
	@tools/steps run
	$(WITH_POSTGRES) $(abspath $(TARGET_DIR))/debug/selvedge start --project sql/app

check: ## Formatting, lints, types, structure and unit tests: what a commit has to pass
	@tools/steps check

test: ## Check, build and test everything that a change can break; JOB=check, rust, clients or site is a part of it
	@$(WITH_POSTGRES) tools/steps test $(if $(JOB),--job $(JOB))

test-all: ## And what `make test` leaves out or shortens: all recordings, every test in its form for Citus, the cluster
	@$(WITH_POSTGRES) tools/steps test-all

soak: ## The long forms, once before a change of what they test: the cluster for 30 minutes
	@$(WITH_POSTGRES) tools/steps soak

hooks: ## Let git check the subject of each commit of this checkout
	ln -sf "$(CURDIR)/tools/commit-subjects" "$$(git rev-parse --git-path hooks)/commit-msg"

fmt: frontend/node_modules console/node_modules e2e/node_modules ## Format everything
	cargo fmt --all
	npm --prefix frontend run format
	npm --prefix console run format
	npm --prefix e2e run format

test-rust: ## Rust unit and integration tests on a real PostgreSQL
	@$(WITH_POSTGRES) tools/steps test "cargo test" "cargo test, as with Citus" "cargo test, Storage in S3"

test-frontend: ## Unit tests of the site and the console
	@tools/steps test "frontend: tests" "console: tests"

test-e2e: ## The stock clients and a browser against the binary
	@$(WITH_POSTGRES) tools/steps test "e2e: clients" "e2e: site and console" "console: versions of PostgreSQL"

golden: ## Every recorded conversation with the original's Realtime and Auth, about ten minutes
	@$(WITH_POSTGRES) tools/steps test-all "realtime: golden, all" "auth: golden, all" "saml: golden, all"

cluster: build e2e/node_modules ## Three nodes in network namespaces, of which everything breaks; as root. MINUTES=0 is the short form
	@$(STEP) "cluster" env SELVEDGE_BIN=$(BINARY) SELVEDGE_CLUSTER_MINUTES=$(or $(MINUTES),30) e2e/cluster/run

bench: build e2e/node_modules ## Requests per second next to pgbench running the same SQL
	$(WITH_POSTGRES) python3 bench/bench.py --binary $(BINARY)
	$(WITH_POSTGRES) python3 bench/images.py --binary $(BINARY)
	$(WITH_POSTGRES) python3 bench/storage.py --binary $(BINARY)
	$(WITH_POSTGRES) python3 bench/functions.py --binary $(BINARY)
	$(WITH_POSTGRES) python3 bench/console.py --binary $(BINARY)
	@$(STEP) "cargo build --release, load driver" cargo build --release --locked --package bench-realtime
	$(WITH_POSTGRES) python3 bench/realtime.py --binary $(BINARY) --driver $(dir $(BINARY))bench-realtime

package: build e2e/node_modules ## npm packages and an archive for this platform, in target/packages
	@$(STEP) "packages" tools/package.py --binary $(BINARY) --output $(TARGET_DIR)/packages

docker: ## Build the images: selvedge, the program alone, and lookbook
	docker build --file docker/Dockerfile --target server --tag selvedge .
	docker build --file docker/Dockerfile --tag lookbook .

build: console/dist ## Build the release binary with the console in it
	@$(STEP) "cargo build --release" cargo build --release --locked --package selvedge

frontend/node_modules: frontend/package-lock.json
	@$(STEP) "frontend: npm ci" npm --prefix frontend ci --no-audit --no-fund
	@touch $@

console/node_modules: console/package-lock.json
	@$(STEP) "console: npm ci" npm --prefix console ci --no-audit --no-fund
	@touch $@

console/dist: console/node_modules $(shell find console/src console/public console/index.html console/vite.config.ts ui -type f 2>/dev/null)
	@$(STEP) "console: build" npm --prefix console run build
	# The binary embeds the files, so its build script has to run again after a first build of the page.
	@touch $@ crates/console/build.rs

e2e/node_modules: e2e/package-lock.json
	@$(STEP) "e2e: npm ci" npm --prefix e2e ci --no-audit --no-fund
	@touch $@

frontend/dist: frontend/node_modules $(shell find ui frontend/src frontend/public frontend/index.html frontend/vite.config.ts -type f 2>/dev/null)
	@$(STEP) "frontend: build" npm --prefix frontend run build
	@node tools/compress.mjs frontend/dist
	@touch $@
