# The commands for building, running and testing. They need Rust and Node; the rest is fetched.
#
#   make run     builds and starts everything on http://127.0.0.1:54321
#   make test    runs every check and test, as continuous integration does

SHELL := /bin/bash
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
# Conversations that `make test` replays, one or two of each kind; `make golden` replays all.
GOLDEN_CHOICE := connect-keys connect-bad-token 'frames-malformed-*' join-twice join-wrong-types 'broadcast-kind3-*' \
  'broadcast-text-*' rest-batch rest-single-private presence-update presence-disconnect auth-table auth-write \
  replay-limit token-refresh-lost db-send-public db-broadcast-changes pg-basic-v1 pg-rls-rows pg-select-two filter-in
# Likewise the recorded requests to the original's Auth: every area, and a few of the generated sequences.
AUTH_GOLDEN_CHOICE := create-confirm 'link-works-*' list update invite-open captcha 'hook-*' bodies redirects 'settings-*' \
  totp-life enroll-errors challenge-errors passkeys flow-none 'callback-new-*' callback-errors callback-pkce-confirm \
  link-identity otp-known-open otp-new-confirm otp-phone-open recover-confirm resend-confirm verify-types-cross \
  signup-new-confirm signup-anonymous-open signup-decoy signup-weak idtoken-nonce 'password-*' pkce-errors 'refresh-*' \
  session-timebox logout user-email-change-open user-password-confirm user-tokens 'seq-00*'
# And the recorded sign-ins by SAML: one or more of every area, among them attacks of each kind.
SAML_GOLDEN_CHOICE := 'metadata-*' 'sso-*' flow-sp flow-idp 'flow-pkce*' flow-same-nameid-two-emails flow-user-is-managed \
  stale-key-changed stale-garbage mapping-custom mapping-profile mapping-email-spaces subject-attribute 'signature-e*' \
  signature-sha1 c14n-inc 'encrypted-aes*' encrypted-damaged 'attack-xsw*' attack-same-id comment-in-nameid-email doctype-bomb \
  rogue-key-value audience-wrong recipient-wrong conditions-expired 'replay-*' relay-expired message-trailing 'admin-put-*' \
  'admin-url-*' 'closed-*' 'off-*' 'next-*'
# Tests about rights, settings and writes, which are run once more with the transactions and statements for Citus. The recorded
# requests to REST are compared in both forms by their own test.
CITUS_TESTS := --test rest --test api --test policies -- identity:: transactions:: tenants:: write:: \
  generated:: explain:: writes:: policies::store_ golden::golden_scenarios
BINARY := $(abspath $(TARGET_DIR)/release/selvedge)
# `cargo test` has built this one already, and its assertions are on. RELEASE=1 runs the tests of e2e/ against the release build,
# whose compilation takes as long as all other builds together.
TESTED_BINARY := $(if $(RELEASE),$(BINARY),$(abspath $(TARGET_DIR)/debug/selvedge))
STEP := tools/step
# A build machine may stall for seconds, which conversations with recorded times do not forgive: there, they get a second try.
RETRY := $(if $(CI),tools/retry)

.DEFAULT_GOAL := help
.PHONY: help run test test-rust test-frontend test-e2e golden cluster bench lint fmt build build-tests package docker postgres

help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  \033[1m%-14s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: postgres build frontend/dist ## Build everything and start Lookbook on Selvedge
	$(BINARY) start --project sql/app

test: postgres lint test-rust test-frontend test-e2e ## Check, build and test everything

lint: frontend/node_modules console/node_modules e2e/node_modules ## Formatting, lints, types and licences
	@$(STEP) "rustfmt" cargo fmt --all --check
	@$(STEP) "clippy" cargo clippy --workspace --all-targets --locked -- -D warnings
	@$(STEP) "structure" python3 tools/house.py --check
	@$(STEP) "licences" node tools/licences.mjs
	@$(STEP) "paths in the documentation" node tools/check-docs.mjs
	@$(STEP) "capabilities of the SDKs" node tools/sdk-capabilities.mjs --check
	@$(STEP) "metrics of dashboard and alerts" node tools/check-metrics.mjs
	@$(STEP) "frontend: lint" npm --prefix frontend run lint
	@$(STEP) "frontend: types" npm --prefix frontend run typecheck
	@$(STEP) "console: lint" npm --prefix console run lint
	@$(STEP) "console: types" npm --prefix console run typecheck
	@$(STEP) "e2e: lint" npm --prefix e2e run lint
	@$(STEP) "e2e: types" npm --prefix e2e run typecheck

fmt: frontend/node_modules console/node_modules e2e/node_modules ## Format everything
	cargo fmt --all
	npm --prefix frontend run format
	npm --prefix console run format
	npm --prefix e2e run format

# The tests mostly wait for PostgreSQL and the disk, so more of them run at once than there are cores.
test-rust: postgres build-tests ## Rust unit and integration tests on a real PostgreSQL
	@$(STEP) "cargo test" env RUST_TEST_THREADS=6 tools/cargo-test --workspace --locked
	@$(STEP) "cargo test, as with Citus" env RUST_TEST_THREADS=6 SELVEDGE_TEST_CITUS=1 tools/cargo-test --workspace --locked $(CITUS_TESTS)

test-frontend: frontend/node_modules console/node_modules ## Unit tests of the site and the console
	@$(STEP) "frontend: tests" npm --prefix frontend test
	@$(STEP) "console: tests" npm --prefix console test

test-e2e: postgres $(if $(RELEASE),build,build-tests) frontend/dist e2e/node_modules ## The stock clients and a browser against the binary
	@$(STEP) "e2e: clients" env SELVEDGE_BIN=$(TESTED_BINARY) npm --prefix e2e run test:clients
	@$(STEP) "e2e: site and console" env SELVEDGE_BIN=$(TESTED_BINARY) npm --prefix e2e run test:site
	@$(STEP) "console: versions of PostgreSQL" env SELVEDGE_BIN=$(TESTED_BINARY) tools/console-versions
	@$(STEP) "realtime: golden" env SELVEDGE_BIN=$(TESTED_BINARY) $(RETRY) tools/realtime-golden $(GOLDEN_CHOICE)
	@$(STEP) "auth: golden" env SELVEDGE_BIN=$(TESTED_BINARY) $(RETRY) tools/auth-golden $(AUTH_GOLDEN_CHOICE)
	@$(STEP) "saml: golden" env SELVEDGE_BIN=$(TESTED_BINARY) $(RETRY) tools/saml-golden $(SAML_GOLDEN_CHOICE)
	@if lacks=$$(e2e/cluster/run --check 2>&1); then \
	  $(STEP) "cluster, short form" env SELVEDGE_BIN=$(TESTED_BINARY) SELVEDGE_CLUSTER_MINUTES=0 $(RETRY) e2e/cluster/run; \
	else echo "── cluster, short form: not run. $$lacks"; fi

golden: postgres build ## Every recorded conversation with the original's Realtime and Auth, about ten minutes
	@$(STEP) "realtime: golden" env SELVEDGE_BIN=$(BINARY) tools/realtime-golden
	@$(STEP) "auth: golden" env SELVEDGE_BIN=$(BINARY) tools/auth-golden
	@$(STEP) "saml: golden" env SELVEDGE_BIN=$(BINARY) tools/saml-golden

cluster: build e2e/node_modules ## Three nodes in network namespaces, of which everything breaks; as root. MINUTES=0 is the short form
	@$(STEP) "cluster" env SELVEDGE_BIN=$(BINARY) SELVEDGE_CLUSTER_MINUTES=$(or $(MINUTES),30) e2e/cluster/run

bench: postgres build e2e/node_modules ## Requests per second next to pgbench running the same SQL
	python3 bench/bench.py --binary $(BINARY)
	python3 bench/images.py --binary $(BINARY)
	python3 bench/storage.py --binary $(BINARY)
	python3 bench/functions.py --binary $(BINARY)
	python3 bench/console.py --binary $(BINARY)
	@$(STEP) "cargo build --release, load driver" cargo build --release --locked --package bench-realtime
	python3 bench/realtime.py --binary $(BINARY) --driver $(dir $(BINARY))bench-realtime

package: build e2e/node_modules ## npm packages and an archive for this platform, in target/packages
	@$(STEP) "packages" tools/package.py --binary $(BINARY) --output $(TARGET_DIR)/packages

docker: ## Build the images: selvedge, the program alone, and lookbook
	docker build --file docker/Dockerfile --target server --tag selvedge .
	docker build --file docker/Dockerfile --tag lookbook .

build: console/dist ## Build the release binary with the console in it
	@$(STEP) "cargo build --release" cargo build --release --locked --package selvedge

# The console comes first, because the binary embeds it.
build-tests: console/dist
	@$(STEP) "cargo test --no-run" cargo test --workspace --locked --no-run --quiet

postgres:
	@tools/postgres

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
