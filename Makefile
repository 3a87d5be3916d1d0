# `make help` lists the targets. Everything they write lies under .build.

.DEFAULT_GOAL := help
.PHONY: help demo test check check-format check-samples build docs bench bench-check generate format clean

SWIFT_DIRS := Sources Tests Package.swift

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Build in release, then import, dry-run and export the sample logs
	@.ci/ensure-packages build
	swift build -c release --product surfjournal
	@.ci/demo

test: ## Run every test
	@.ci/ensure-packages test
	swift test

check: check-format check-samples build test docs ## Run all that a change has to pass: format, samples, build, tests, docs

check-format: ## Check the format of the Swift sources
	swift format lint --strict --recursive --parallel $(SWIFT_DIRS)

check-samples: ## Check that SampleData is what its generator writes
	@.ci/ensure-packages test
	python3 SampleData/generate.py --check

build: ## Build everything for debugging, tests included; a warning is an error
	@.ci/ensure-packages build
	swift build --build-tests

docs: ## Build the documentation of the libraries into .build/docs
	@.ci/ensure-packages build
	@.ci/docs

bench: ## Run the benchmarks
	@.ci/ensure-packages test
	swift run --package-path Tests/Benchmarks -c release benchmarks

bench-check: ## Run the benchmarks and fail where a promised floor is not kept
	@.ci/ensure-packages test
	swift run --package-path Tests/Benchmarks -c release benchmarks --check

generate: ## Write SampleData anew
	python3 SampleData/generate.py

format: ## Format the Swift sources
	swift format --in-place --recursive --parallel $(SWIFT_DIRS)

clean: ## Remove everything built
	rm -rf .build Tests/Benchmarks/.build
