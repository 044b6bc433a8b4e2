# Every target installs what it needs on Debian 12 (scripts/debian-packages) and fetches the pinned
# llama.cpp. build/ holds the build, build/engine llama.cpp, build/bin the programs. Where llama.cpp
# comes from, and what it is built with, is said by PACELINE_ENGINE and others: scripts/engine-settings.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
# The steps of a target follow one another; the compiler and ctest share the cores among themselves.
.NOTPARALLEL:

PREFIX ?= /usr/local

.PHONY: build
build: engine ## build the programs into build/bin
	@scripts/configure
	@cmake --build build --target programs

.PHONY: install
install: build ## build, then install below PREFIX (/usr/local); the tree can be moved
	@cmake --install build --prefix "$$(realpath -m "$(PREFIX)")"

.PHONY: demo
demo: build ## measure the shipped models: plain against speculative, in about three minutes
	@build/bin/paceline demo

.PHONY: test
test: packages-test engine format-check layers ## build, check format, layers and sizes, run the tests
	@scripts/configure tests
	@cmake --build build
	@ctest --test-dir build --output-on-failure --no-tests=error --parallel 2

.PHONY: check
check: test tidy asan tsan ## test, then clang-tidy and the tests under ASan, UBSan and TSan

.PHONY: tidy
tidy: packages-check engine ## clang-tidy over src/
	@scripts/configure tests
	@scripts/check-tidy

.PHONY: asan tsan
asan tsan: packages-test engine ## the tests under AddressSanitizer and UBSan, or ThreadSanitizer
	@scripts/test-sanitized $@

.PHONY: fuzz
fuzz: packages-fuzz engine ## every parser's fuzzer for a minute each; SECONDS_EACH=3600 for longer
	@scripts/fuzz

.PHONY: coverage
coverage: build ## how often the 95 % intervals hold the truth, on simulated runs (minutes)
	@cmake --build build --target coverage
	@build/bin/coverage 1000

.PHONY: coverage-compare
coverage-compare: build ## whether compare keeps its word: coverage, false alarms, power, on simulated studies (an hour)
	@cmake --build build --target coverage-compare
	@build/bin/coverage-compare 2000

.PHONY: compare-aa
compare-aa: build ## 20 studies of the laboratory target against itself: how often compare tells what is not there (minutes)
	@scripts/compare-aa build/bin/paceline

.PHONY: compare-builds
compare-builds: build ## llama-server built with -O3 and with -O1, told apart by compare (builds both; minutes)
	@PACELINE_ENGINE=source scripts/fetch-engine
	@scripts/compare-builds build/bin/paceline
.PHONY: coverage-sweep
coverage-sweep: build ## how often a sweep's set of the best holds the true best, on simulated sweeps (minutes)
	@cmake --build build --target ranking
	@build/bin/ranking 2000

.PHONY: bench-overhead
bench-overhead: export PACELINE_ENGINE := source
bench-overhead: export PACELINE_PEERS := ON
bench-overhead: engine ## our plain decode rate over llama-bench's (builds llama.cpp; minutes)
	@scripts/engine-settings | sed 's/^/-D/' | xargs -d '\n' cmake -S . -B build/bench -G Ninja \
	  -DCMAKE_BUILD_TYPE=Release -DPACELINE_TESTS=OFF >/dev/null
	@cmake --build build/bench --target overhead paceline-worker llama-bench
	@build/bench/bin/overhead

# Our programs and llama-server of one source build, in build/bench/bin.
.PHONY: beside
beside: export PACELINE_ENGINE := source
beside: export PACELINE_PEERS := ON
beside: engine
	@scripts/engine-settings | sed 's/^/-D/' | xargs -d '\n' cmake -S . -B build/bench -G Ninja \
	  -DCMAKE_BUILD_TYPE=Release -DPACELINE_TESTS=OFF >/dev/null
	@cmake --build build/bench --target paceline paceline-worker llama-server

.PHONY: inside-outside
inside-outside: beside ## the embedded engine against managed llama-servers of one source build (minutes)
	@scripts/inside-outside build/bench/bin

.PHONY: bench-server
bench-server: beside ## the embedded engine's rate over llama-server's, in turn, with each drafter (minutes)
	@bench/beside-server build/bench/bin

.PHONY: bench-startup
bench-startup: build ## how long paceline takes to start, in milliseconds
	@cmake --build build --target startup
	@build/bin/startup

.PHONY: bench-history
bench-history: build ## how long listing and filtering takes in a store of a million requests, a gigabyte in TMPDIR (minutes)
	@cmake --build build --target history
	@build/bin/history

.PHONY: check-kill
check-kill: build ## kill a study at 50 random moments and go on with it: it must be whole (minutes)
	@scripts/check-kill build/bin/paceline 50
.PHONY: bench-claim
bench-claim: build ## how long `paceline claim` takes for a megabyte of noise, in milliseconds
	@cmake --build build --target claim_noise
	@build/bin/claim_noise

.PHONY: bench-bandwidth
bench-bandwidth: build ## read bandwidth of machine --probe over that of a plain loop, in turn (a minute)
	@cmake --build build --target bandwidth
	@build/bin/bandwidth

.PHONY: bench-widths
bench-widths: build ## pass time against width, 1 to 16, on the heavy laboratory target in F16 and Q8_0 (minutes)
	@for quant in as-is q8_0; do \
	  build/bin/paceline run -m models/target-mtp-f16.gguf --ballast 32/5632 --quant $$quant \
	    --widths 16 --launches 10 -t 1 --class json --prompts 1 -n 2; \
	done

.PHONY: card-tables
card-tables: build ## the model card's acceptance tables: every drafter on every class (minutes)
	@scripts/card-tables build/bin/paceline

.PHONY: map-check
map-check: build ## passes that maps predict against real requests: every drafter, length and prompt (minutes)
	@scripts/map-check build/bin/paceline

.PHONY: map-grid
map-grid: build ## the best draft length by a map and by runs of every length, and what each took (long)
	@scripts/map-grid build/bin/paceline

.PHONY: bench-client
bench-client: packages-bench build ## what an event costs our HTTP client, beside libcurl and a bare loop
	@cmake --build build --target client
	@build/bin/client

.PHONY: bench-peers
bench-peers: build ## CPU per token of AIPerf, GuideLLM, llama-benchy and ours, where PyPI is reachable (minutes)
	@bench/peers build/bin/paceline

.PHONY: bench-pairs
bench-pairs: build ## every pair of an architecture and a drafter on small random models, in one table (minutes)
	@bench/pairs build/bin/paceline

.PHONY: lab-models
lab-models: export PACELINE_ENGINE := source
lab-models: packages-train engine ## train a family of laboratory models into build/lab-models (about two hours on 2 cores)
	@scripts/lab-models

.PHONY: lab-models-check
lab-models-check: export PACELINE_ENGINE := source
lab-models-check: export PACELINE_PEERS := ON
lab-models-check: packages-train engine ## hold their tokens and perplexities against llama.cpp's own programs (builds those)
	@scripts/engine-settings | sed 's/^/-D/' | xargs -d '\n' cmake -S . -B build/bench -G Ninja \
	  -DCMAKE_BUILD_TYPE=Release -DPACELINE_TESTS=OFF >/dev/null
	@cmake --build build/bench --target llama-perplexity llama-tokenize
	@scripts/lab-models --check build/bench/bin

.PHONY: format
format: packages-test ## rewrite the C++ as clang-format 14 would have it
	@scripts/check-format --fix

.PHONY: layers
layers: packages-test ## check which folder includes which, and the sizes of files and functions
	@scripts/check-layers
	@scripts/check-sizes
	@scripts/test-checks --quiet

.PHONY: clean
clean: ## remove what was built; llama.cpp in build/engine stays
	@if [ -d build ]; then find build -mindepth 1 -maxdepth 1 ! -name engine -exec rm -rf {} +; fi

.PHONY: help
help: ## this list
	@sed -nE 's/^([a-z -]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 24

.PHONY: engine
engine: packages-build
	@scripts/fetch-engine

.PHONY: format-check
format-check: packages-test
	@scripts/check-format

.PHONY: packages-build packages-test packages-check packages-bench packages-fuzz packages-train
packages-build:
	@scripts/install-packages build
packages-test:
	@scripts/install-packages build test
packages-check:
	@scripts/install-packages build test check
packages-bench:
	@scripts/install-packages build bench
packages-fuzz:
	@scripts/install-packages build fuzz
packages-train:
	@scripts/install-packages build train
