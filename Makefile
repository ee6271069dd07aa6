# The two commands a newcomer needs: `make serve` and `make test`. `make help` lists the rest.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

SWIFT := swift
# Where `make serve` listens and keeps its state.
PORT ?= 8642
DATA ?= entrupy-sim-data
ifdef DEBUG
CONFIGURATION := debug
else
CONFIGURATION := release
endif
BINARY = .build/$(CONFIGURATION)/entrupy-sim
RELEASE = .build/release/entrupy-sim

.PHONY: help serve build release test test-crash test-contract demo lint format docs toolchain clean

help: ## This list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

serve: build ## Build and run the simulator (DEBUG=1 builds faster, PORT=… and DATA=… say where)
	@exec $(BINARY) serve --port $(PORT) --data-dir $(DATA)

build: toolchain
	@if [ ! -x $(BINARY) ]; then \
		echo "Building entrupy-sim ($(CONFIGURATION)). The first build takes about 5 minutes on two cores; later ones take seconds."; \
		[ $(CONFIGURATION) = debug ] || echo "In a hurry? make serve DEBUG=1 is built in about half the time."; fi
	@$(SWIFT) build --configuration $(CONFIGURATION) --product entrupy-sim

release: toolchain
	@$(SWIFT) build --configuration release --product entrupy-sim

test: toolchain ## Run all tests
	@$(SWIFT) build --build-tests
	@$(SWIFT) test --skip-build

demo: release ## Walk one item through a fresh server and compare every answer with the expected one
	@scripts/python
	@python3 demo/walk.py --binary $(RELEASE)

ROUNDS ?= 20
test-crash: release ## Kill the server under load, ROUNDS times, and look for what it had acknowledged
	@scripts/python
	@python3 Tests/Crash/crash.py --binary $(RELEASE) --rounds $(ROUNDS)

EXAMPLES ?= 50
test-contract: release ## Hold the server to openapi/entrupy-sim.yaml with schemathesis, EXAMPLES an operation (SEED=… repeats a run)
	@scripts/python
	@python3 Tests/Contract/contract.py --binary $(RELEASE) --examples $(EXAMPLES) $(if $(SEED),--seed $(SEED))

lint: ## Check the format of all Swift code
	@$(SWIFT) format lint --strict --recursive --parallel Sources Tests Package.swift

format: ## Format all Swift code
	@$(SWIFT) format --in-place --recursive --parallel Sources Tests Package.swift

docs: ## Make docs/fidelity.md anew from the list in the code
	@$(SWIFT) build --product entrupy-sim && .build/debug/entrupy-sim fidelity > docs/fidelity.md

toolchain:
	@scripts/toolchain

clean: ## Remove what was built
	@rm -rf .build
