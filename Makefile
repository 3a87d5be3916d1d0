# `make help` lists the targets. Everything they write lies under .build.

.DEFAULT_GOAL := help
.PHONY: check-reproducible test-spark test-schedulers simulate-cluster messages keep-version reliability frictionless simulate fuzz fuzz-smoke fuzz-corpus help demo program release deb install uninstall test test-module test-long check check-address check-thread check-format check-samples check-docs docs-serve manual api check-api format-table architecture check-architecture build docs bench bench-check bench-docs bench-peers bench-build profile generate generate-model format clean

SWIFT_DIRS := Sources Tests Package.swift
# What is shipped, and so what is measured: Swift's libraries inside, the system's outside, where they are kept up to
# date. LLVM's linker puts together what a start needs; GNU's scatters it.
RELEASE := -c release --static-swift-stdlib -Xswiftc -use-ld=lld
# By the linker: GNU's strip drops the segment of what is read-only after the start.
STRIPPED := -Xlinker --strip-all -Xlinker --build-id=none
BENCHMARKS := Tests/Benchmarks/.build/release/benchmarks

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Build, then import, dry-run and export the sample logs
	@.ci/ensure-packages build
	SURFJOURNAL_PROGRAM_ONLY=1 swift build --product surfjournal
	@.ci/stamp .build/debug/surfjournal
	@.ci/demo

test: ## Run the tests, without the long series; ARGS="--filter ChainFuzz" chooses some, SEED=7 repeats a run
	@.ci/ensure-packages test
	.ci/slowest swift test $(ARGS)

test-module: ## Build and run the tests of one module, with nothing that they don't need: MODULE=PersistentStores
	@[ -d "Tests/$(MODULE)Tests" ] || { echo "MODULE is one of $(patsubst Tests/%Tests,%,$(wildcard Tests/*Tests))"; exit 2; }
	@.ci/ensure-packages test
	SURFJOURNAL_MODULE=$(MODULE) swift test --scratch-path .build/modules/$(MODULE) $(ARGS)

test-long: ## Run the tests with the long series, then Spark, Slurm, the fuzzer and the sanitizers; ROUNDS=1000 and SEED=7 change them
	@.ci/ensure-packages test
	SURFJOURNAL_FIGURES=$${SURFJOURNAL_FIGURES:-$(CURDIR)/.build/figures.jsonl} SURFJOURNAL_TESTS=long .ci/slowest swift test --skip SparkTests $(ARGS)
	SURFJOURNAL_FIGURES=$${SURFJOURNAL_FIGURES:-$(CURDIR)/.build/figures.jsonl} $(MAKE) test-spark
	$(MAKE) test-schedulers
	FUZZ_SECONDS=120 FUZZ_SLICE=7 .ci/fuzz
	.ci/check-thread
	.ci/check-address

test-spark: ## Import on a Spark cluster of processes, some of which are killed; installs Spark into .build/spark; ROUNDS=200, SEED=7
	@.ci/ensure-packages spark
	[ -x .build/spark/bin/spark-submit ] || { python3 -m venv .build/spark && .build/spark/bin/python3 -m pip install --quiet pyspark pyarrow pandas; }
	ROUNDS=$${ROUNDS:-5} swift test --filter SparkTests

test-schedulers: ## Run the file for Slurm on a cluster of one node, and check that for Kubernetes; installs what that needs
	@.ci/ensure-packages slurm
	[ -x .build/peers/bin/python3 ] || python3 -m venv .build/peers
	[ -x .build/peers/bin/kubernetes-validate ] || .build/peers/bin/python3 -m pip install --quiet kubernetes-validate
	swift test --filter "SlurmTests|KubernetesJobTests"

fuzz: ## Fuzz for an hour, going on from the last time; FUZZ_SECONDS=28800 and ARGS="dates numbers" change it
	@.ci/ensure-packages test
	.ci/fuzz $(ARGS)

simulate: ## Play worlds of the simulator for an hour, from the next seeds; SIMULATE_SECONDS=28800 and ARGS="nights" change it
	@.ci/ensure-packages test
	.ci/simulate $(ARGS)

simulate-cluster: ## Play the import of 16 billion rows by 1,000 machines, and print the table of the documentation
	@.ci/ensure-packages test
	SURFJOURNAL_SIMULATE_CLUSTER=1 swift test --filter ClusterSimulationTests

fuzz-smoke: ## Fuzz every target for some seconds after its kept inputs, two minutes in all
	@.ci/ensure-packages test
	FUZZ_SECONDS=120 FUZZ_SLICE=7 .ci/fuzz $(ARGS)

fuzz-corpus: ## Keep the inputs that reach most in Tests/Fuzz/Corpus; ARGS="dates numbers" chooses targets
	.ci/fuzz-corpus keep $(ARGS)

check: check-format check-samples check-docs check-architecture build test docs check-api ## Run all that a change has to pass: format, samples, documents, map, build, tests, docs, API

check-format: ## Check the format of the Swift sources
	swift format lint --strict --recursive --parallel $(SWIFT_DIRS)

check-address: ## Run the tests under the sanitizers of addresses and of undefined C code; ARGS="--filter ChainFuzz" chooses some
	@.ci/ensure-packages test
	.ci/check-address $(ARGS)

check-thread: ## Run the tests under the thread sanitizer; ARGS="--filter ChainFuzz" chooses some
	@.ci/ensure-packages test
	.ci/check-thread $(ARGS)

check-samples: ## Check that SampleData is what its generator writes
	@.ci/ensure-packages test
	python3 SampleData/generate.py --check

messages: ## Write all messages of the program and its libraries, by module, into .build/messages.md
	SURFJOURNAL_MESSAGES=$(CURDIR)/.build/messages.md swift test --filter MessageCatalogueTests
	@echo "Read .build/messages.md"

reliability: ## Write docs/reliability.md: the promises, their tests, and what the long runs have tried
	@.ci/reliability

check-docs: ## Check the links of the documentation and the tests that it cites
	.ci/check-docs
	.ci/reliability --check

keep-version: ## Keep files of the present version for the tests of later ones, in Tests/Versions
	@.ci/ensure-packages test
	swift build --product surfjournal
	.ci/keep-version .build/debug/surfjournal

api: ## Make the present public API of the libraries the baseline in docs/api
	@.ci/symbol-graphs
	@.ci/api --write

check-api: ## Check that the public API is the baseline in docs/api
	@.ci/symbol-graphs
	@.ci/api --check

format-table: ## Compare stores of Apple's framework with new ones of their models; STORES="PATH ..." names files and folders
	.ci/format-table .build/debug/surfjournal $(STORES)

architecture: ## Write the map of modules and folders into docs/architecture.md
	@.ci/architecture --write

check-architecture: ## Check that docs/architecture.md shows the modules and folders as they are
	@.ci/architecture --check

build: ## Build everything for debugging, tests included; a warning is an error
	@.ci/ensure-packages build
	swift build --build-tests

docs: ## Build the manual and the documentation of the libraries into .build/docs
	@.ci/ensure-packages build
	@.ci/ensure-packages docs
	@.ci/docs

docs-serve: ## Serve .build/docs at http://localhost:8000, which the pages of the libraries need
	@[ -e .build/docs/index.html ] || $(MAKE) docs
	cd .build/docs && python3 -m http.server --bind 127.0.0.1 8000

manual: ## Run the commands of docs/manual, and write what they print into its pages; PAGES="FILE ..." chooses some
	@.ci/ensure-packages test
	swift build --product surfjournal
	.ci/manual --write .build/debug/surfjournal $(PAGES)

release: program ## Build what is handed out: the program, Debian packages of it and of the manual, an archive, checksums
	@.ci/ensure-packages package
	@.ci/ensure-packages docs
	rm -rf .build/release-files
	Packaging/deb .build/surfjournal .build/release-files
	SITE=.build/release-manual .ci/docs --manual
	Packaging/doc-deb .build/release-manual "$$(.build/surfjournal --version | cut -d' ' -f2)" .build/release-files
	Packaging/tarball .build/surfjournal .build/release-files
	cd .build/release-files && sha256sum *.deb *.tar.gz >SHA256SUMS && cat SHA256SUMS

# The linker's build ID is a digest that includes the debug information, and that has the paths of this machine.
program: ## Build the program with all that is Swift's, stripped, as .build/surfjournal
	@.ci/ensure-packages build
	SURFJOURNAL_PROGRAM_ONLY=1 swift build $(RELEASE) $(STRIPPED) --product surfjournal --scratch-path .build/static
	cp .build/static/release/surfjournal .build/surfjournal
	@.ci/stamp .build/surfjournal

# Built once: `sudo make install` after `make program` needs no compiler.
.build/surfjournal:
	$(MAKE) program

check-reproducible: ## Build the program twice from nothing, at one path, and compare the bytes
	.ci/check-reproducible

deb: .build/surfjournal ## Make a Debian package of the built program in .build/release-files
	@.ci/ensure-packages package
	Packaging/deb .build/surfjournal .build/release-files

PREFIX ?= /usr/local

install: .build/surfjournal ## Install the program, its manual and completions below PREFIX (/usr/local); DESTDIR is put before it
	@SOURCE_DATE_EPOCH=$$(Packaging/epoch) Packaging/install .build/surfjournal "$(DESTDIR)/" "$(PREFIX)"

uninstall: ## Remove what `make install` has installed below PREFIX
	@Packaging/install --remove .build/surfjournal "$(DESTDIR)/" "$(PREFIX)"

bench: bench-build ## Run the benchmark; ARGS="--rows 100000 --rounds 3" changes it, ARGS=--help lists how
	$(BENCHMARKS) $(ARGS)

bench-check: bench-build ## Run the benchmark; fail if something is not as promised, or clearly worse than it was
	$(BENCHMARKS) --check $(ARGS)

bench-docs: bench-build ## Run all of the benchmark and write its figures into the documentation
	$(BENCHMARKS) --all --markdown Sources/PipelineEngine/PipelineEngine.docc/Benchmarks.md $(ARGS)

profile: bench-build ## Say what a row of an import costs, by stage, and write it into the documentation
	@.ci/ensure-packages profile
	$(BENCHMARKS) profile --markdown Sources/PipelineEngine/PipelineEngine.docc/CostPerRow.md $(ARGS)

bench-peers: ## Install programs to compare with that are not among Debian's, into .build
	@.ci/ensure-packages test
	python3 -m venv .build/bench/peers
	.build/bench/peers/bin/python3 -m pip install --quiet duckdb sqlite-utils

frictionless: ## Install frictionless into .build and compare what it finds in dirty files with what we find
	@.ci/ensure-packages test
	[ -x .build/peers/bin/python3 ] || python3 -m venv .build/peers
	.build/peers/bin/python3 -c "import frictionless" 2>/dev/null || .build/peers/bin/python3 -m pip install --quiet frictionless
	swift build --product surfjournal
	.build/peers/bin/python3 Tests/Peers/frictionless_compare.py .build/debug/surfjournal --list

bench-build:
	@.ci/ensure-packages test
	swift build $(RELEASE) --package-path Tests/Benchmarks
	swift build $(RELEASE) --package-path Tests/Benchmarks --product surfjournal

generate-model: ## Write the code of the journal's model into Sources/SurfJournal/Generated
	swift build --product modelgen
	.build/debug/modelgen Sources/SurfJournal/SurfJournalModel.xcdatamodeld SurfJournal Sources/SurfJournal/Generated

generate: ## Write SampleData anew
	python3 SampleData/generate.py

format: ## Format the Swift sources
	swift format --in-place --recursive --parallel $(SWIFT_DIRS)

clean: ## Remove everything built
	rm -rf .build Tests/Benchmarks/.build
