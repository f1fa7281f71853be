# The two commands of the README are `make run` and `make test`. All set-up is done by bootstrap/,
# which needs nothing but Python 3.11 or newer.
PYTHON ?= python3
# auto, none, cuda, rocm, metal or vulkan
GPU ?= auto
# Arguments of tunedeck (run), pytest (test, check), the benches or chaos.
ARGS ?=

.PHONY: help run test check bench bench-gauges bench-quality bench-tuner chaos gpu-proof setup gpu
help:
	@echo 'make run     the window (ARGS="plan model.gguf" for a command)'
	@echo 'make test    all tests but the benches'
	@echo 'make check   lint, types, import rules, quick tests'
	@echo 'make bench   measures the engine against llama-server'
	@echo 'make bench-gauges   holds the gauges against the truth: bandwidth, prediction, what the charts cost; about twenty minutes, fetches a model of 1.1 GB'
	@echo 'make bench-quality   holds what quantised KV caches cost against llama-perplexity; some minutes, fetches a model of 0.5 GB'
	@echo 'make bench-tuner   holds the tuner against a table of everything it may choose, on a running engine, and with drafts; forty minutes the first time, fetches models of 1.6 GB'
	@echo 'make chaos   does the worst to the desk: kills, hangs, damaged files (CHAOS=full: all of it)'
	@echo 'make gpu-proof   packs what a GPU machine without network needs to build and measure'
	@echo 'make gpu     says which GPU backend would be built, and why'

run test check bench bench-gauges bench-quality bench-tuner chaos gpu-proof setup gpu:
	@command -v $(PYTHON) >/dev/null || { echo 'TuneDeck needs Python 3.11 or newer, and there is no $(PYTHON) here: `apt-get install python3 python3-venv`, `dnf install python3`, `pacman -S python` or `brew install python` brings it.' >&2; exit 1; }
	@$(PYTHON) -m bootstrap --gpu "$(GPU)" $@ $(ARGS)
