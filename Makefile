# Two commands for a new user: `make run` and `make test`. Both make .venv first, and need only
# Python 3.11+ with venv.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
DATA   ?= ./data
ARGS   ?=

.PHONY: run test check unit stories judge exchanges tools kafka compat bench faults torture soak clean help

help:            ## Say what there is to make
	@grep -E '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

run: $(VENV)/runs  ## Start a broker on 127.0.0.1:9092, data under ./data
	@exec $(BIN)/wirekafka serve --data-dir $(DATA) $(ARGS)

test: $(VENV)/tests  ## Set up and pass the tests: units, then stories with real clients
	$(BIN)/python -m pytest -q -n 2 -m "not thorough" --ignore tests/torture tests compat_tests/stories

check: $(VENV)/tests  ## Format, lint, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(VENV)/tests  ## The unit tests alone
	$(BIN)/python -m pytest -q -n 2 --ignore tests/torture tests

stories: $(VENV)/tests  ## The stories alone; ARGS="--bootstrap HOST:PORT" runs them against any broker
	$(BIN)/python -m pytest -q compat_tests/stories $(ARGS)

judge: $(VENV)/tests  ## Held against Apache Kafka: raw exchanges, Kafka's own tools, data folders (Java 17, Maven)
	$(MAKE) --no-print-directory --output-sync=target -j 2 exchanges tools

exchanges: $(VENV)/tests
	$(BIN)/python -m pytest -q compat_tests/differential

tools: $(VENV)/tests
	$(BIN)/python -m pytest -q compat_tests/tools compat_tests/interchange compat_tests/test_table.py compat_tests/test_soak.py compat_tests/test_driver_process.py $(TOOLS)

kafka: $(VENV)/tests  ## Run Apache Kafka 4.4 until Ctrl-C (needs Java 17 and Maven)
	@exec $(BIN)/python -m compat_tests.apache_kafka $(ARGS)

compat: $(VENV)/tests  ## Every story, every client, wirekafka and Apache Kafka: docs/compatibility.md
	$(BIN)/python -m compat_tests.report $(ARGS)

bench: $(VENV)/benches  ## Measure against other brokers and the limit: bench/RESULTS.md, in 40 minutes; ARGS="--quick", "--only latency"
	$(BIN)/python bench/all.py $(ARGS)

faults: $(VENV)/tests  ## Kills, power cuts, failing calls and mangled files, the quick counts of CI
	$(BIN)/python -m pytest -q tests/torture

torture: $(VENV)/tests  ## The same a thousand times over: an hour or more; ARGS="--seed 7" begins elsewhere
	$(BIN)/python -m tests.torture all $(ARGS)

soak: $(VENV)/tests  ## 30 members of real clients come, leave and die for 10 minutes; ARGS="--minutes 1" for less
	$(BIN)/python -m compat_tests.soak --kill-broker-every 45 $(ARGS)

clean:           ## Remove what make made; data stays
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

$(VENV)/made:
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/runs: $(VENV)/made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/tests: $(VENV)/made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $(VENV)/runs $@

$(VENV)/benches: $(VENV)/tests
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	@touch $@
