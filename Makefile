# Every entry, for people and machines alike. `make` alone lists them.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help run build-quick release test test-all lint bench bench-peers install-fpe python soak fuzz docs coverage

# Terminals export COLUMNS as their width; only `make run COLUMNS=a,b` names columns.
# The same care for FILE, which some environments export too.
demo_options :=
ifeq ($(origin FILE),command line)
demo_options += --input "$$KEYWRIGHT_MAKE_FILE"
run: export KEYWRIGHT_MAKE_FILE := $(value FILE)
endif
ifeq ($(origin COLUMNS),command line)
demo_options += --columns "$$KEYWRIGHT_MAKE_COLUMNS"
run: export KEYWRIGHT_MAKE_COLUMNS := $(value COLUMNS)
endif

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build-quick ## build and do the main job: make run [FILE=path.csv [COLUMNS=a,b]]
	target/quick/keywright demo --home ./keywright-home $(demo_options)

build-quick:
	@scripts/setup
	umask 022 && cargo build --profile quick --locked -p keywright-cli -p keywright-bench

release: ## the program for production, in target/pgo/release: built by what it does at work (see scripts/release)
	@scripts/release

test: ## the tests of the crates; the last line counts them
	@scripts/setup tests
	@scripts/run-tests

test-all: ## every test, with whole programs, tokens, foreign clients and writers
	@scripts/setup test-all
	@scripts/run-tests all

lint: ## formatting, clippy and rustdoc, warnings denied
	@scripts/setup
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

bench: ## the speed promises, measured on this machine
	@scripts/bench

bench-peers: ## secret stores on this machine: the bao or vault on PATH, beside our own operations
	@scripts/setup
	umask 022 && cargo build --release --locked -p keywright-cli -p keywright-bench
	target/release/keywright bench op --store dev vault.null vault.kv.get vault.kv.set \
	  vault.transit.encrypt vault.transit.decrypt envelope.seal.64

install-fpe: ## fpe.h for C programs: header, libraries, pkg-config file (PREFIX, DESTDIR)
	@scripts/setup
	cargo build --release --locked -p keywright-capi-fpe
	crates/faces/capi-fpe/install target/release

python: ## the Python wheel, and a virtual environment with it and what its examples need
	@scripts/setup
	@scripts/python

soak: ## long runs: crashes, load, edits of an audit log, histories, torn writes, policies, files
	@scripts/soak

fuzz: ## every fuzz target, FUZZ_SECONDS (60) each; needs nightly
	@scripts/fuzz

docs: ## the documentation of the crates, in target/doc
	cargo doc --workspace --no-deps --locked

coverage: ## which lines the tests reach: Cobertura, in coverage.xml
	@scripts/setup test-all
	@scripts/coverage
