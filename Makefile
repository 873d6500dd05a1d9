# Everything a newcomer runs. Each target does its own set-up; a second run finds it done.
#
# ARGS is handed to the command behind demo, live, bench and soak: make demo ARGS="--requests 50000"
# PYTHON names the interpreter to build .venv with: make test PYTHON=python3.12

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

# The programs of the environment first; nginx lies where an ordinary user's PATH does not look.
export PATH := $(CURDIR)/.venv/bin:$(PATH):/usr/sbin:/sbin
export FAIRCLOCK_VLLM_PYTHON := $(CURDIR)/.venv-vllm/bin/python
export PIP_ROOT_USER_ACTION := ignore

.PHONY: help demo live test lint bench soak pictures compose lock lock-vllm clean
.PHONY: setup setup-demo setup-live

help: ## Say what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

demo: setup-demo ## A month of simulated traffic through the real collectors, then reports in demo-out/
	fairclock demo --out demo-out $(ARGS)

live: setup-live ## Real nginx in front of real vLLM on the CPU, measured for a minute, in live-out/
	fairclock demo --live --out live-out $(ARGS)

test: setup-live ## Set up, lint, and run every test (25 minutes at most on 2 cores)
	scripts/run-tests

lint: setup check-style ## ruff, mypy --strict and the import contracts alone

bench: setup ## Measure what docs and README claim; prints a table
	python -m benchmarks $(ARGS)

soak: setup-live ## What takes longer than make test may; results are kept under docs/
	FAIRCLOCK_HYPOTHESIS=soak pytest -m "soak or not integration" $(ARGS)

pictures: setup-live ## Make the README's pictures anew, from a demonstration in demo-out/ (made first if there is none)
	[ -e demo-out/reports/yunfan-2026-2026-10.zh.pdf ] || fairclock demo --out demo-out
	python docs/pictures/make_pictures.py demo-out

compose: ## The whole composition in containers: gateway, vLLM (PROFILE=cpu or gpu), store, Prometheus, Grafana
	scripts/compose-secrets
	docker compose --profile $(or $(PROFILE),cpu) up --build --detach --wait

lock: ## Resolve the dependencies in pyproject.toml anew into requirements/ (needs uv)
	scripts/lock $(ARGS)

lock-vllm: ## Resolve vLLM's CPU build anew into requirements/ (needs uv, pip and a source of PyTorch's CPU builds)
	scripts/lock vllm

clean: ## Remove what make made, the environments included
	rm -rf .venv .venv-vllm demo-out live-out dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

.PHONY: check-style
check-style:
	ruff check .
	ruff format --check .
	mypy
	mypy docs/pictures/make_pictures.py docs/make_configuration.py docs/make_metrics.py
	lint-imports

setup:
	@scripts/python-environment

setup-demo:
	@scripts/debian-packages demo
	@scripts/python-environment

setup-live:
	@scripts/debian-packages demo test live
	@scripts/python-environment
	@scripts/vllm-environment
