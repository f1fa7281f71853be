"""What a step costs outside ``llama_decode``: the loop in Python, the pipe, the clock.

``python -m tests.bench.overhead [RUNS]``: the tiny model, greedy, streaming, one thread, so that a
core is left for pipe and reader.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from engine_bridge import protocol
from engine_bridge.gguf_file import read_model_facts
from tests.bench import machine, report
from tests.bench.engine import EngineProcess, layout_config
from tests.bench.llama_server import LINK
from tests.bench.work import Layout, random_work
from tests.tiny_model import write_tiny_llama

RUNS = 7
STREAMS = (1, 4, 8, 16)
# At most: a part for the step and one for each stream.
STEP_US, STREAM_US = 60.0, 15.0
_NEW_TOK = 1200
_PROMPT_TOK = 16
_PATIENCE_S = 120.0


def outside_us(process: EngineProcess, streams: int, vocab: int, seed: int) -> float:
    """Microseconds a step outside ``llama_decode``, over the middle of a run."""
    work = random_work(streams, _PROMPT_TOK, _NEW_TOK, vocab, seed)
    ids = [process.next_id() for _ in work.prompts]
    for request_id, prompt in zip(ids, work.prompts, strict=True):
        assert not isinstance(prompt, str)
        process.send(
            protocol.Generate(
                request_id=request_id, conversation_id="", messages=(), prompt_tokens=prompt,
                ignore_eog=True, max_new_tok=_NEW_TOK,
            )
        )  # fmt: skip
    spans: list[protocol.StepsMeasured] = []

    def note(event: protocol.Event) -> None:
        if isinstance(event, protocol.StepsMeasured):
            spans.append(event)

    for _ in ids:
        process.wait_for(protocol.RequestFinished, _PATIENCE_S, note)
    whole = [s for s in spans if s.streams == streams and s.prefilled_tok == 0][1:-1]
    outside_ns = sum(span.end_ns - span.begin_ns - span.busy_s * 1e9 for span in whole)
    return outside_ns / 1e3 / sum(span.steps for span in whole)


def measure(path: Path, streams: int, runs: int) -> list[float]:
    """A value for each run, one that is thrown away before them."""
    vocab = read_model_facts(path).vocab
    process = EngineProcess()
    try:
        config = layout_config(Layout(path, streams, 1280, threads=1))
        process.send(protocol.Load(process.next_id(), config))
        process.wait_for(protocol.Applied, _PATIENCE_S)
        process.wait_for(protocol.BandwidthMeasured, _PATIENCE_S)
        return [outside_us(process, streams, vocab, seed) for seed in range(runs + 1)][1:]
    finally:
        process.close()


def main() -> int:
    """Measure, print, write ``build/bench/overhead.json``."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    LINK.parent.mkdir(parents=True, exist_ok=True)
    path = write_tiny_llama(LINK.parent / "tiny.gguf")
    content: dict[str, object] = {"machine": machine.describe()}
    print(f"Outside llama_decode, µs a step, tiny model, median of {runs} runs (spread)")
    for streams in STREAMS:
        values = measure(path, streams, runs)
        allowed = STEP_US + STREAM_US * streams
        median = float(np.median(values))
        verdict = "met" if median <= allowed else "MISSED"
        print(
            f"  {streams:>2} streams {median:7.0f}  ({min(values):.0f} to {max(values):.0f})  "
            f"at most {allowed:.0f}: {verdict}",
            flush=True,
        )
        content[f"{streams} streams"] = values
    report.write(LINK.parent / "overhead.json", content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
