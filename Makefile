# The two commands a newcomer needs: `make serve` and `make test`. `make help` lists the rest.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

SWIFT := swift
# SwiftPM writes the traits of a package in an order that changes from process to process. Half of all builds would then compile
# Hummingbird, and everything that imports it, again. Only the build gets a fixed order: tests must not depend on one.
# Where Package.resolved is committed, and with LOCKED=1, no other versions of the packages are taken.
LOCKED ?= $(shell git ls-files Package.resolved 2>/dev/null)
PLAIN_BUILD := SWIFT_DETERMINISTIC_HASHING=1 $(SWIFT) build $(if $(LOCKED),--only-use-versions-from-resolved-file)
# Builds have nothing for a debugger to read, unless DEBUG=1. HTTPS=1 adds the HTTPS port and https: addresses (see Package.swift).
BUILD := $(if $(DEBUG),,ENTRUPY_SIM_OPTIMIZE=1) $(PLAIN_BUILD) $(if $(DEBUG),,-debug-info-format none)
# Each module of a release is compiled by two threads: modules wait for each other, and one thread would leave a processor idle.
RELEASE_BUILD := HTTPS=1 $(BUILD) --configuration release -Xswiftc -num-threads -Xswiftc 2
# The port and data directory of `make serve`.
PORT ?= 8642
DATA ?= entrupy-sim-data
# The commands and the pages ask port 8642, unless this variable says otherwise.
SAY_PORT = $(if $(filter-out 8642,$(PORT)),printf '%s\n' "Paste this into the shell of your commands:" "export ENTRUPY_SIM_URL=http://127.0.0.1:$(PORT)",:)
# BINARY_TO_TEST is another program for the targets that test one, such as the debug one of CI.
RELEASE = $(or $(BINARY_TO_TEST),.build/release/entrupy-sim)
# A debug build is ready in less than half the time, and shares its parts with the tests. Once there is a release build, that one is used.
CONFIGURATION := $(if $(DEBUG),debug,$(if $(FAST)$(wildcard .build/release/entrupy-sim),release,debug))
BINARY = .build/$(CONFIGURATION)/entrupy-sim
# On Linux the release binary contains Swift's libraries: it starts faster, and runs without Swift. No program links against it, so
# it exports no symbols: 6 MB less, 3 MB of them in memory. A section for each function lets the linker leave out what nothing calls: 4 MB.
# Debug builds check that no access to a variable overlaps another one; in a release the check would take a twentieth of each request.
ifeq ($(shell uname -s),Linux)
RELEASE_FLAGS := --static-swift-stdlib -Xlinker --no-export-dynamic $(foreach part,function data,-Xcc -f$(part)-sections) \
	-Xswiftc -Xfrontend -Xswiftc -function-sections -Xswiftc -enforce-exclusivity=unchecked
endif
HAS_SWIFT := $(shell command -v $(SWIFT) 2>/dev/null)
# Swift Testing starts all tests at once. Each step of a test then waits behind those of a thousand others: on a slow machine for longer
# than the 30 seconds that a server waits for a body. Many tests wait for other
# processes: all, with those of HTTPS, took 487 s at eight at once, 456 s at sixteen and 418 s at 24; fewer of them ask a server since.
TEST_WIDTH ?= 16
WIDTH_FLAG := --experimental-maximum-parallelization-width
SWIFT_TEST = $(SWIFT) test --skip-build $(if $(findstring $(WIDTH_FLAG),$(shell $(SWIFT) test --help-hidden)),$(WIDTH_FLAG) $(TEST_WIDTH))
# On Linux the tests are a program. `swift test` would plan the whole build again first, which takes longer than a suite of rules.
ifeq ($(shell uname -s),Linux)
RUN_TESTS = .build/debug/entrupy-simPackageTests.xctest --testing-library swift-testing $(WIDTH_FLAG) $(TEST_WIDTH)
else
RUN_TESTS = $(SWIFT_TEST)
endif

# No target is a file.
.PHONY: $(shell sed -nE 's/^([a-z-]+):.*/\1/p' $(MAKEFILE_LIST))

help: ## This list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

ifneq ($(HAS_SWIFT),)
serve: build ## Build and run the simulator (PORT=…, DATA=… for its data; HTTPS=1 with HTTPS, FAST=1 for a release build, DEBUG=1 for a debugger)
	@$(SAY_PORT)
	@exec $(BINARY) serve --port $(PORT) --data-dir $(DATA)

test: build-tests ## Run all tests (HTTPS=1 with those of HTTPS, FILTER=… for some, PROGRAM=… for end-to-end tests of another binary)
	@[ -n "$(HTTPS)$(FILTER)" ] || echo "HTTPS=1 make test runs $$(cat Tests/HTTPSTests/*.swift Tests/EndToEndTests/HTTPS/*.swift | grep -c '@Test') more tests, of HTTPS and HTTP/2."
	@$(if $(PROGRAM),ENTRUPY_SIM_PROGRAM=$(abspath $(PROGRAM))) $(RUN_TESTS) $(if $(FILTER),--filter '$(FILTER)')
else
# Without Swift these run in a container. Without a container engine they print how to get Swift.
serve:
	@$(SAY_PORT)
	@PORT=$(PORT) DATA=$(DATA) exec scripts/container serve

test:
	@exec scripts/container test
endif

# SKIP_BUILD=1 takes the tests, and the program, that are there.
build-tests: toolchain
	@[ -n "$(SKIP_BUILD)" ] || $(BUILD) --build-tests

build: toolchain
	@if [ ! -x $(BINARY) ]; then \
		echo "Building entrupy-sim ($(CONFIGURATION)). The first build takes about $(if $(filter release,$(CONFIGURATION)),thirteen,four) minutes on two cores; later ones take seconds to a minute."; fi
	@$(if $(filter release,$(CONFIGURATION)),$(RELEASE_BUILD) $(RELEASE_FLAGS),$(BUILD)) --product entrupy-sim

# SKIP_BUILD=1 takes the program that is there: a build that has nothing to do still takes seconds.
release: toolchain
	@[ -n "$(SKIP_BUILD)$(BINARY_TO_TEST)" -a -x $(RELEASE) ] || $(RELEASE_BUILD) $(RELEASE_FLAGS) --product entrupy-sim

# On Linux SQLite and libcrypto are linked statically, and of ICU's data only what the program needs: the folder holds these alone.
ifeq ($(shell uname -s),Linux)
STATIC := .build/static
endif
dist: toolchain ## Make dist/: archive, .deb, Python wheels, npm packages, artifact bundle, install.sh, Homebrew formula, Nix flake, bills of materials, provenance
	@[ -z "$(STATIC)" ] || { scripts/static-libraries $(STATIC) && scripts/small-icu $(STATIC)/icu.o; }
	@$(if $(STATIC),ENTRUPY_SIM_STATIC=$(CURDIR)/$(STATIC)) $(RELEASE_BUILD) $(RELEASE_FLAGS) --product entrupy-sim
	@scripts/dist $(RELEASE)

test-packages: ## Install each package of dist/ in a clean environment, and take it away again (DEB_ROOT=… for the .deb)
	@[ -e dist/SHA256SUMS ] || $(MAKE) --no-print-directory dist
	@scripts/python
	@scripts/test-packages

SBOM = .build/sbom
test-sbom: ## Check the bills of materials and the provenance, also those of dist/, with the schema of CycloneDX
	@scripts/python
	@[ -x $(SBOM)/bin/python ] || python3 -m venv $(SBOM)
	@$(SBOM)/bin/pip install --quiet --disable-pip-version-check 'cyclonedx-python-lib[json-validation]==11.12.0'
	@$(SBOM)/bin/python -B scripts/test-sbom

test-workflows: ## Check the workflows and actions: their form, pins, permissions, each line of shell, and what may be published
	@CI=1 scripts/lint-tools
	@.build/lint/bin/python -B scripts/test-workflows

test-release: ## Check the scripts of the release with programs that only note what they are asked, and install.sh with bad downloads
	@scripts/test-release
	@scripts/test-install

release-check: ## Do everything that a release does, up to the push of its tag (SKIP_BUILD=1 takes dist/ as it is)
	@scripts/release-check

# ENGINE is the engine's command, ENGINE_BUILD_FLAGS are flags of its `build`: the environment takes them to the scripts.
test-image: ## Build the image with Docker or Podman and try it (ENGINE=… its command, ENGINE_BUILD_FLAGS=…; FROM_SOURCE=1, or IMAGE=… that is there)
	@scripts/python
	@scripts/engine >/dev/null
	@[ -n "$(FROM_SOURCE)$(IMAGE)$(DIST)" -o -e dist/SHA256SUMS ] || $(MAKE) --no-print-directory dist
	@python3 -B Tests/Container/image.py $(if $(FROM_SOURCE),--source) $(if $(IMAGE),--image $(IMAGE)) $(if $(DIST),--dist $(DIST))

CONTAINER_TOOLS = .build/containers
test-containers: ## Run the recipes for Compose, Kubernetes and Testcontainers with the image (ONLY=… one of them, SHORT=1 for fewer checks)
	@scripts/python
	@scripts/engine >/dev/null
	@[ -x $(CONTAINER_TOOLS)/bin/python ] || python3 -m venv $(CONTAINER_TOOLS)
	@$(CONTAINER_TOOLS)/bin/pip install --quiet --disable-pip-version-check podman-compose==1.6.0 PyYAML==6.0.2 \
		$(if $(SHORT),,testcontainers==4.15.0 pytest==8.3.4 kubernetes-validate==1.37.0)
	@$(CONTAINER_TOOLS)/bin/python -B Tests/Container/recipes.py --tools $(CONTAINER_TOOLS) $(if $(IMAGE),--image $(IMAGE)) \
		$(if $(ONLY),--only $(ONLY)) $(if $(SHORT),--short)

test-https: release ## Check the HTTPS port with curl, openssl, nghttp2's client and Python's ssl, those that are installed
	@python3 -B Tests/HTTPS/https.py --binary $(RELEASE)
	@[ ! -e /proc/self/status ] || python3 -B Tests/HTTPS/streams.py --binary $(RELEASE)

test-fleet: release ## Try recipes/fleet: three servers behind nginx, one killed and replaced
	@command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || scripts/debian-install nginx-light "nginx, which this check needs"
	@recipes/fleet/try.py $(RELEASE)

demo: release ## Walk one item through a fresh server and compare every answer with the expected one
	@scripts/python
	@python3 demo/walk.py --binary $(RELEASE)

TIMES ?= 10
test-busy: build-tests ## Run all tests TIMES times on a machine under load, until one fails
	@TIMES=$(TIMES) scripts/test-busy $(RUN_TESTS)

test-console: $(if $(BINARY_TO_TEST),,release) ## Drive the console in a real browser, with screenshots in .build/screenshots (SHORT=1 for fewer)
	@scripts/browser
	@python3 Tests/Console/console.py --binary $(or $(BINARY_TO_TEST),$(RELEASE)) $(if $(SHORT),--short,--screenshots .build/screenshots) \
		$(if $(ONLY),--only $(ONLY)) $(if $(FIREFOX),--firefox)

pictures: $(if $(BINARY_TO_TEST),,release) ## Make the docs' pictures of the console anew, with the browser test
	@scripts/browser
	@python3 Tests/Console/console.py --binary $(or $(BINARY_TO_TEST),$(RELEASE)) --only the_pictures_of_the_docs --pictures docs/images

ROUNDS ?= 20
test-crash: release ## Kill the server under load ROUNDS times, cut its power, break its disk; check all acknowledged writes
	@scripts/python
	@python3 Tests/Crash/crash.py --binary $(RELEASE) --rounds $(ROUNDS)

RUNS ?= 200
test-parallel: release ## Start RUNS concurrent test runs on one server, each in its own namespace
	@scripts/python
	@python3 Tests/Parallel/parallel.py --binary $(RELEASE) --runs $(RUNS)

WAY = .build/way
test-way: toolchain ## Walk a submit through a program that counts what runs, and compare the files that steer it with docs/architecture.md
	@[ -n "$(SKIP_BUILD)" ] || $(BUILD) --scratch-path $(WAY) --product entrupy-sim -Xswiftc -profile-generate -Xswiftc -profile-coverage-mapping
	@scripts/python
	@python3 -B Tests/Way/way.py --binary $(WAY)/debug/entrupy-sim

EXAMPLES ?= 50
test-contract: release ## Check the server against openapi/entrupy-sim.yaml with schemathesis, EXAMPLES per operation (SEED=… repeats a run; SWITCHES=1 adds each change of future by itself)
	@scripts/python
	@python3 Tests/Contract/contract.py --binary $(RELEASE) --examples $(EXAMPLES) $(if $(SEED),--seed $(SEED)) $(if $(SWITCHES),--switches)

# The number of inputs for the cheapest parser. More expensive ones get fewer, unless RUNS sets the number for all. GUIDED=1 uses
# libFuzzer, guided by coverage, in a separate build, which takes as long as the first one; OPTIMIZED=1 a separate release build,
# which reads more inputs a second.
FUZZ_RUNS = $(if $(filter command environment,$(firstword $(origin RUNS))),--whole --runs $(RUNS),--runs 10000)
FUZZ_ARTIFACTS = .build/fuzz-artifacts
# Uploads of changed worlds to a server: each costs a request or more. 0 for none.
WORLDS ?= $(if $(filter command environment,$(firstword $(origin RUNS))),5000,120)
ifdef GUIDED
FUZZER = $(firstword $(wildcard $(dir $(shell readlink -f "$$(command -v swiftc)"))../lib/clang/*/lib/linux/libclang_rt.fuzzer_no_main-$(shell uname -m).a))
FUZZ_BUILD = .build/guided
else
FUZZER = seeded
FUZZ_BUILD = .build$(if $(OPTIMIZED),/optimized)
endif
FUZZ_CONFIGURATION = $(if $(OPTIMIZED),release,debug)
test-fuzz: toolchain ## Feed every parser with mutated inputs (RUNS=1000000 each, GUIDED=1 with libFuzzer, SEED=… repeats a run)
	@scripts/python
	@[ -n "$(FUZZER)" ] || { echo "this toolchain has no libFuzzer; run without GUIDED=1"; exit 1; }
	@ENTRUPY_SIM_FUZZ=$(FUZZER) $(BUILD) -c $(FUZZ_CONFIGURATION) $(if $(OPTIMIZED),-Xswiftc -enable-testing) \
		--scratch-path $(FUZZ_BUILD) --product fuzz
	@python3 Tests/FuzzTests/fuzz.py --binary $(FUZZ_BUILD)/$(FUZZ_CONFIGURATION)/fuzz --artifacts $(FUZZ_ARTIFACTS) $(FUZZ_RUNS) \
		$(if $(SEED),--seed $(SEED))
	@[ $(WORLDS) = 0 ] || { $(MAKE) --no-print-directory build-tests && \
		FUZZ_ROUNDS=$(WORLDS) FUZZ_SEED=$(or $(SEED),2) $(RUN_TESTS) --filter 'UploadedWorldFuzz|aRecordingThatIsCutAnywhere'; }

# The list is Tests/Mutations/mutations.json. The changes are made in a copy of the tree, .build/mutations, which has its own build.
test-mutations: toolchain ## Break one rule after another and check that its test fails (ONLY=regex, or COUNT=10 SEED=…, for some)
	@scripts/python
	@python3 -B Tests/Mutations/selftest.py --quiet
	@python3 -B Tests/Mutations/mutations.py --build 'env HTTPS=1 $(BUILD)' --test 'env HTTPS=1 $(SWIFT) test' $(if $(ONLY),--only '$(ONLY)') \
		$(if $(COUNT),--count $(COUNT)) $(if $(SEED),--seed '$(SEED)')

MINUTES ?= 60
SOAK_OUT ?= $(if $(filter 60,$(MINUTES)),docs/soak.json)
test-soak: release ## Run mixed work for MINUTES=60 and compare memory, disk, descriptors and p99 with the start; 60 redraws docs/soak.svg
	@scripts/python
	@python3 Tests/Soak/soak.py --binary $(RELEASE) --minutes $(MINUTES) $(if $(SOAK_OUT),--out $(SOAK_OUT))
	@[ -z "$(SOAK_OUT)" ] || $(MAKE) --no-print-directory plot-soak

plot-soak:
	@[ -x $(BENCH_TOOLS)/bin/python ] || (python3 -m venv $(BENCH_TOOLS) && $(BENCH_TOOLS)/bin/pip install --quiet matplotlib==3.9.2)
	@$(BENCH_TOOLS)/bin/python -B Tests/Soak/plot.py $(SOAK_OUT) $(SOAK_OUT:.json=.svg)

# Each sanitizer has a separate build. XCTest's runner leaks and runs no test of ours: it is disabled, and leak detection is off.
# FILTER selects the tests to run.
# The tests start servers too, whose output they read: every process writes its reports to files.
SANITIZED = $(SWIFT_TEST) --disable-xctest $(if $(FILTER),--filter '$(FILTER)')
test-asan: toolchain ## Run all tests under the address sanitizer (FILTER=… for some of them)
	@$(PLAIN_BUILD) --build-tests --sanitize address --scratch-path .build/asan
	@rm -rf .build/asan/reports && mkdir -p .build/asan/reports
	@ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:log_path=$(CURDIR)/.build/asan/reports/asan \
		$(SANITIZED) --sanitize address --scratch-path .build/asan
	@scripts/no-reports .build/asan/reports

test-tsan: toolchain ## Run all tests under the thread sanitizer (FILTER=… for some of them)
	@$(PLAIN_BUILD) --build-tests --sanitize thread --scratch-path .build/tsan
	@rm -rf .build/tsan/reports && mkdir -p .build/tsan/reports
	@TSAN_OPTIONS=halt_on_error=0:suppressions=$(CURDIR)/Tests/Support/tsan-suppressions.txt:log_path=$(CURDIR)/.build/tsan/reports/tsan \
		$(SANITIZED) --sanitize thread --scratch-path .build/tsan
	@scripts/no-reports .build/tsan/reports

ROUNDS_OF_BENCH ?= 3
BENCH_TOOLS = .build/bench
PEERS = .build/peers
bench: dist ## Measure everything and rewrite docs/benchmarks.md; takes about twelve minutes, needs an idle machine
	@scripts/python
	@command -v wrk >/dev/null || scripts/debian-install wrk "wrk, which makes the load"
	@[ -x $(BENCH_TOOLS)/bin/python ] || (python3 -m venv $(BENCH_TOOLS) && $(BENCH_TOOLS)/bin/pip install --quiet matplotlib==3.9.2)
	@cd Benchmarks && ../$(BENCH_TOOLS)/bin/python -B bench.py --binary ../dist/entrupy-sim --rounds $(ROUNDS_OF_BENCH) --out ../docs/benchmarks
	@cd Benchmarks && ../$(BENCH_TOOLS)/bin/python -B report.py ../docs/benchmarks/figures.json ../docs/benchmarks.md

bench-peers: dist ## Measure similar servers and this one in one run; takes about three minutes, needs an idle machine
	@scripts/python
	@command -v wrk >/dev/null || scripts/debian-install wrk "wrk, which makes the load"
	@command -v nginx >/dev/null || scripts/debian-install nginx-light "nginx, the ceiling"
	@[ -x $(PEERS)/bin/uvicorn ] || (python3 -m venv $(PEERS) && $(PEERS)/bin/pip install --quiet \
		fastapi==0.115.6 uvicorn==0.34.0 localstripe==1.15.7 'moto[server]==5.0.26')
	@cd Benchmarks && python3 -B peers.py --binary ../dist/entrupy-sim --tools ../$(PEERS) --out ../docs/benchmarks/peers.json

BEFORE ?=
bench-compare: release ## Compare the release build with another binary, route by route (BEFORE=path of the other one)
	@[ -n "$(BEFORE)" ] || { echo "name the other binary: make bench-compare BEFORE=path"; exit 1; }
	@command -v wrk >/dev/null || scripts/debian-install wrk "wrk, which makes the load"
	@python3 -B Benchmarks/compare.py --before $(abspath $(BEFORE)) --after $(RELEASE)

bench-instructions: release ## Count the instructions of a request, route by route (BEFORE=path of another binary; CHECK=1 against Benchmarks/instructions.json, RECORD=1 writes it)
	@command -v valgrind >/dev/null || scripts/debian-install valgrind "valgrind, which counts"
	@python3 -B Benchmarks/instructions.py $(if $(BEFORE),--before $(abspath $(BEFORE))) --after $(RELEASE) \
		$(if $(CHECK),--check) $(if $(RECORD),--record)

bench-build: toolchain ## Measure the first build of a fresh clone, against the limits in Benchmarks/build.json (HTTPS=1, RECORD=1 writes them)
	@scripts/python
	@python3 -B Benchmarks/build.py $(if $(HTTPS),--https) $(if $(RECORD),--record)

ROUNDS_OF_ISOLATION ?= 5
bench-isolation: release ## Compare the p99 of webhooks of 200 namespaces with and without one that hangs; takes two minutes
	@scripts/python
	@python3 -B Benchmarks/isolation.py --binary $(RELEASE) --rounds $(ROUNDS_OF_ISOLATION)

bench-short: release ## Run each load of bench for a second, with few items, to check that it works; the figures mean little
	@scripts/python
	@command -v wrk >/dev/null || scripts/debian-install wrk "wrk, which makes the load"
	@python3 -B Benchmarks/bench.py --binary $(RELEASE) --rounds 1 --seconds 1 --items 20000

docs: toolchain ## Build the documentation of the libraries for apps and tests into dist/docs, with DocC
	@scripts/docs dist/docs

# dist/docs is made anew, unless SITE_DOCC=0: then it is taken as it is, and without it the pages of the Swift libraries are left out. The
# pages of the API are the program's.
SITE_DOCC ?= 1
site: $(if $(SKIP_BUILD)$(BINARY_TO_TEST),,build) $(if $(filter 0,$(SITE_DOCC)),,docs) ## Build the site of the documents, the API and the libraries into dist/site, and check its links (SITE_DOCC=0 builds no DocC)
	@scripts/python
	@python3 -B site/build.py --out dist/site --program $(or $(BINARY_TO_TEST),$(BINARY)) $$([ ! -d dist/docs/data/documentation ] || echo --docc dist/docs)

test-site: site ## Try what builds the site with hostile documents, and the site in a browser (SHORT=1 for fewer pages, SITE_DOCC=0 as in site)
	@python3 -B Tests/Site/selftest.py
	@scripts/browser
	@python3 -B Tests/Site/browser.py $(if $(SHORT),--short,--screenshots .build/screenshots)

test-agents: $(if $(BINARY_TO_TEST),,release) ## Run all commands of the skill and of llms.txt for coding agents, and compare what they print
	@scripts/python
	@python3 -B Tests/Agents/selftest.py
	@python3 -B Tests/Agents/skill.py --binary $(or $(BINARY_TO_TEST),$(RELEASE))
	@python3 -B Tests/Agents/llms.py --binary $(or $(BINARY_TO_TEST),$(RELEASE))

test-consumer: $(if $(BINARY_TO_TEST),,build) ## Build a package that depends on this one by URL, and run its tests and the articles' snippets
	@scripts/python
	@python3 Tests/Consumer/consumer.py --binary $(or $(BINARY_TO_TEST),$(BINARY))

test-pages: $(if $(BINARY_TO_TEST),,build) ## Paste the pages that a newcomer follows into one shell, in two orders; bash and zsh; installs zsh if it is missing
	@command -v zsh >/dev/null || scripts/debian-install zsh "zsh, into which this check pastes"
	@scripts/python
	@scripts/test-pages $(or $(BINARY_TO_TEST),$(BINARY))

test-shells: build-tests ## Paste every snippet and printed command, with hostile values, and every shell block of the docs into bash and zsh; installs zsh if it is missing
	@command -v zsh >/dev/null || scripts/debian-install zsh "zsh, into which this check pastes"
	@ENTRUPY_SIM_SHELLS=1 $(RUN_TESTS) --filter 'PastedSnippetTests|ConsoleScriptTests|PrintedCommandTests|QuotingRuleTests|DocumentedShellTests'

PYTEST = .build/pytest
test-python: $(if $(BINARY_TO_TEST),,build) ## Install the pytest plugin, run its example, with one process and with four, and try it on hostile servers (SHORT=1 without each test's second run, in two processes)
	@scripts/python
	@[ -x $(PYTEST)/bin/pytest ] || python3 -m venv $(PYTEST)
	@$(PYTEST)/bin/pip install --quiet --disable-pip-version-check pytest==8.3.4 pytest-xdist==3.6.1 requests==2.32.3 httpx==0.28.1
	@rm -rf .build/recipes && cp -R recipes/python .build/recipes && $(PYTEST)/bin/pip install --quiet --disable-pip-version-check \
		--force-reinstall --no-deps .build/recipes
	@cd .build/recipes && export ENTRUPY_SIM_BINARY=$(abspath $(or $(BINARY_TO_TEST),$(BINARY))) && \
		../pytest/bin/pytest -q -p no:cacheprovider test_example.py && ../pytest/bin/pytest -q -p no:cacheprovider -n 4 test_example.py && \
		PYTHONDONTWRITEBYTECODE=1 ../pytest/bin/pytest -q -p no:cacheprovider -n 2 $(if $(SHORT),-k 'not workers1 and not workers2') $(CURDIR)/Tests/Python

MCP_TOOLS = .build/mcp
test-mcp: $(if $(BINARY_TO_TEST),,build) ## Drive the tools for coding agents with the protocol's official client, over stdio and HTTP
	@scripts/python
	@[ -x $(MCP_TOOLS)/bin/python ] || (python3 -m venv $(MCP_TOOLS) && $(MCP_TOOLS)/bin/pip install --quiet --disable-pip-version-check mcp==2.3.0)
	@$(MCP_TOOLS)/bin/python -B Tests/Agents/mcp_tools.py --binary $(or $(BINARY_TO_TEST),$(BINARY))

RECIPE_TOOLS = .build/test-recipes
test-recipes: $(if $(BINARY_TO_TEST),,build) ## Run the recipes for CI, verify webhooks in five languages, send the collections' requests (SHORT=1 for fewer)
	@scripts/python
	@[ -x $(RECIPE_TOOLS)/bin/python ] || python3 -m venv $(RECIPE_TOOLS)
	@$(RECIPE_TOOLS)/bin/pip install --quiet --disable-pip-version-check PyYAML==6.0.2
	@$(RECIPE_TOOLS)/bin/python -B Tests/Recipes/ci.py --binary $(or $(BINARY_TO_TEST),$(BINARY)) $(if $(SHORT),--short)
	@python3 -B Tests/Recipes/webhooks.py --binary $(or $(BINARY_TO_TEST),$(BINARY))
	@python3 -B Tests/Recipes/collection.py --binary $(or $(BINARY_TO_TEST),$(BINARY)) $(if $(SHORT),--short)

test-node: $(if $(BINARY_TO_TEST),,build) ## Install the npm packages without a registry, run docs/node.md, and try them on hostile servers (ONLY=launcher,… for some files)
	@scripts/test-node $(or $(BINARY_TO_TEST),$(BINARY))

test-android: $(if $(BINARY_TO_TEST),,build) ## Compile the Android recipe's networking part and run it on the JVM
	@scripts/android $(or $(BINARY_TO_TEST),$(BINARY))

promises: release build-tests ## Measure the figures of docs/promises.md that take minutes, and write it (ONLY=id,… for some, HOURS=1 for all)
	@scripts/promises --run $(if $(ONLY),--only $(ONLY)) $(if $(HOURS),--hours)

lint: ## Check the format of all Swift code, every file (scripts/soundness), the version, the claims of docs/promises.md, the threats, what AGENTS.md names
	@scripts/version --check
	@scripts/promises --check
	@scripts/agents
	@python3 -B Benchmarks/report.py docs/benchmarks/figures.json docs/benchmarks.md --check
	@scripts/test-promises
	@scripts/threats
	@scripts/test-threats
	@scripts/what-a-test-can-do --check
	@scripts/test-what-a-test-can-do
	@scripts/lint-tools
	@scripts/soundness
	@scripts/test-soundness
	@if .build/lint/bin/python3 -c 'import yaml' 2>/dev/null; then .build/lint/bin/python3 -B scripts/generate --check && .build/lint/bin/python3 -B scripts/test-generate; \
	else echo "skipped: whether the generated files are those of the description needs PyYAML (scripts/lint-tools)"; fi
	@$(SWIFT) format lint --strict --recursive --parallel Sources Tests Package.swift

generate: ## Make what follows from the description, the other files of openapi/ and the list of embedded files
	@scripts/lint-tools
	@.build/lint/bin/python3 -B scripts/generate

format: ## Format all Swift code
	@$(SWIFT) format --in-place --recursive --parallel Sources Tests Package.swift

toolchain:
	@scripts/toolchain

clean: ## Delete all build products
	@rm -rf .build
