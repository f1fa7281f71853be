"""How well TTFT and TPOT are predicted for settings that were not used for fitting.

``python -m tests.bench.prediction [gemma|qwen] [--settings 24] [--seed 1] [--again]``: measures
settings in the real engine, learns from half of them as the window does, predicts the other half.
``--again`` predicts anew from the runs of the last time. Half a dozen minutes a model.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
import numpy as np

from engine_bridge import protocol
from engine_bridge.metrics.observations import (
    Observation,
    Observations,
    RunSettings,
    run_settings,
)
from engine_bridge.metrics.prediction import Estimate, Predictor
from engine_bridge.metrics.run_observer import RunObserver
from engine_bridge.metrics.step_cost import ModelSize
from engine_bridge.settings.config import EngineConfig
from tests import models
from tests.bench import llama_server, machine, report
from tests.bench.engine import EngineProcess

SETTINGS, SEED = 24, 1
TARGET_ERROR = 0.15
_CTX_TOK = 2560
_RUNS, _DECODED_TOK, _EXTRA_PROMPT_TOK, _MORE_TOK = 3, 64, 128, 4
_WARM_TOK = 96
_PATIENCE_S = 240.0
_FOUND: dict[str, Callable[[], Path]] = {
    "gemma": models.find_gemma,
    "qwen": lambda: models.find_packaged(models.QWEN_05B),
}


@dataclass(frozen=True)
class Setting:
    """One of the settings and the work done with it.

    Attributes:
        values: Settings of the engine.
        prompt_tok: Tokens of its prompts.
        streams: Streams that write at once.
    """

    values: dict[str, Any]
    prompt_tok: int
    streams: int


@dataclass
class Measured:
    """A setting with what it took.

    Attributes:
        setting: Which.
        settings: As the engine made them.
        ttft_s: Of each prompt.
        tpot_s: Of each third of the writing.
        depth_tok: Mean depth of a stream while it wrote.
        observations: What the window would have learnt.
    """

    setting: Setting
    settings: RunSettings
    ttft_s: list[float] = field(default_factory=list)
    tpot_s: list[float] = field(default_factory=list)
    depth_tok: float = 0.0
    observations: list[Observation] = field(default_factory=list)


def settings_to_measure(count: int, seed: int) -> list[Setting]:
    """Different settings at random, every choice about equally often."""
    generator = np.random.default_rng(seed)
    types = [("f16", "f16"), ("q8_0", "q8_0"), ("q4_0", "q4_0"), ("q8_0", "f16"), ("f16", "q8_0")]

    def dealt(choices: Sequence[Any]) -> list[Any]:
        deck = [choices[number % len(choices)] for number in range(count)]
        return [deck[place] for place in generator.permutation(count)]

    rows = zip(
        dealt([1, 2]), dealt([1, 2, 3, 4]), dealt(types), dealt(["on", "off"]),
        dealt([128, 256, 512]), strict=True,
    )  # fmt: skip
    lengths = generator.permutation(np.geomspace(128, 2000, count).round().astype(int))
    found = []
    for (threads, slots, (type_k, type_v), flash_attn, ubatch_tok), prompt_tok in zip(
        rows, lengths.tolist(), strict=True
    ):
        # A quantised cache of values needs flash attention.
        values = {
            "threads": threads, "slots": slots, "cache_type_k": type_k, "ubatch_tok": ubatch_tok,
            "cache_type_v": type_v, "flash_attn": "on" if type_v != "f16" else flash_attn,
        }  # fmt: skip
        found.append(Setting(values, prompt_tok, int(generator.integers(1, slots + 1))))
    return found


class _Watched:
    """The engine, with an observer that hears everything."""

    def __init__(self, vocab_seed: int) -> None:
        self.process = EngineProcess()
        self.observer = RunObserver()
        self.heard: list[Observation] = []
        self.steps: dict[int, list[int]] = {}
        self.vocab = 0
        self._random = np.random.default_rng(vocab_seed)

    def take(self, event: protocol.Event) -> None:
        self.heard += self.observer.fold(event, time.time())
        if isinstance(event, protocol.TokensDelivered):
            self.steps.setdefault(event.request_id, []).extend(event.step_ns)

    def applied(self, command: protocol.Load | protocol.Apply) -> protocol.Applied:
        self.process.send(command)
        event = self.process.wait_for(protocol.Applied, _PATIENCE_S, self.take)
        self.take(event)
        return event

    def tokens(self, count: int) -> tuple[int, ...]:
        """Random ordinary tokens: control tokens stand at either end of a vocabulary."""
        drawn = self._random.integers(self.vocab // 4, 3 * self.vocab // 4, size=count)
        return tuple(int(token) for token in drawn)

    def ask(self, conversation: str, prompt: tuple[int, ...], new_tok: int) -> int:
        number = self.process.next_id()
        self.process.send(
            protocol.Generate(
                request_id=number, conversation_id=conversation, messages=(), prompt_tokens=prompt,
                ignore_eog=True, max_new_tok=new_tok,
            )
        )  # fmt: skip
        return number

    def finished(self, numbers: Sequence[int]) -> dict[int, protocol.RequestFinished]:
        """Wait for the ends of requests."""
        found: dict[int, protocol.RequestFinished] = {}
        while not found.keys() >= set(numbers):
            event = self.process.wait_for(protocol.RequestFinished, _PATIENCE_S, self.take)
            self.take(event)
            found[event.request_id] = event
        return found

    def forget(self, conversation: str) -> None:
        self.process.send(protocol.Forget(conversation))


def measure(path: Path, settings: Sequence[Setting]) -> tuple[list[Measured], ModelSize]:
    """Run every setting in one engine process.

    Raises:
        ContenderError: If the engine dies, refuses or is too slow.
    """
    watched = _Watched(SEED)
    try:
        base = EngineConfig(model_path=str(path), ctx_per_slot_tok=_CTX_TOK, temperature=0.0)
        loaded = watched.applied(protocol.Load(watched.process.next_id(), base))
        assert loaded.model is not None
        watched.vocab = loaded.model.vocab
        # After its first load it measures the memory's bandwidth, with all cores.
        watched.process.wait_for(protocol.BandwidthMeasured, _PATIENCE_S, watched.take)
        found = []
        for place, setting in enumerate(settings):
            config = base.with_values(setting.values)
            applied = watched.applied(protocol.Apply(watched.process.next_id(), config))
            found.append(_measured(watched, setting, applied, f"{place}"))
            print(f"  {place + 1}/{len(settings)} {_words(setting)}", file=sys.stderr)
        return found, ModelSize.of(loaded.model)
    finally:
        watched.process.close()


def _measured(
    watched: _Watched, setting: Setting, applied: protocol.Applied, name: str
) -> Measured:
    result = Measured(setting, run_settings(applied.config, applied.effective))
    # One warm-up that nobody learns from: a new context is touched for the first time.
    watched.finished([watched.ask(f"{name} warm", watched.tokens(_WARM_TOK), 8)])
    watched.forget(f"{name} warm")
    watched.heard.clear()
    prompts: dict[str, tuple[int, ...]] = {}
    for run in range(_RUNS):
        while len(prompts) >= setting.values["slots"]:
            gone = next(iter(prompts))
            del prompts[gone]
            watched.forget(gone)
        conversation = f"{name} {run}"
        prompts[conversation] = watched.tokens(setting.prompt_tok)
        ended = watched.finished([watched.ask(conversation, prompts[conversation], 1)])
        timing = next(iter(ended.values())).timing
        assert timing.ttft_s is not None
        result.ttft_s.append(timing.ttft_s)
    _write(watched, setting, prompts, result, name)
    result.observations = list(watched.heard)
    for conversation in prompts:
        watched.forget(conversation)
    return result


def _write(
    watched: _Watched,
    setting: Setting,
    prompts: dict[str, tuple[int, ...]],
    result: Measured,
    name: str,
) -> None:
    """Let the streams write at once, each behind a prompt that its slot holds already."""
    while len(prompts) < setting.streams:
        conversation = f"{name} more {len(prompts)}"
        prompts[conversation] = watched.tokens(_EXTRA_PROMPT_TOK)
        watched.finished([watched.ask(conversation, prompts[conversation], 1)])
    chosen = list(prompts.items())[-setting.streams :]
    numbers = [
        watched.ask(conversation, prompt + watched.tokens(_MORE_TOK), _DECODED_TOK)
        for conversation, prompt in chosen
    ]
    ended = watched.finished(numbers)
    result.depth_tok = float(np.mean([e.used_tok for e in ended.values()])) - _DECODED_TOK / 2
    # While all of them write.
    steps = [watched.steps[number] for number in numbers]
    begin, end = max(each[0] for each in steps), min(each[-1] for each in steps)
    inside = np.array([ns for ns in steps[0] if begin <= ns <= end]) / 1e9
    for third in np.array_split(np.diff(inside), 3):
        result.tpot_s.append(float(np.mean(third)))


# --- What comes of it ---------------------------------------------------------------------


@dataclass(frozen=True)
class Compared:
    """One figure of a setting that was held out.

    Attributes:
        figure: ``TTFT`` or ``TPOT``.
        words: The setting.
        measured_s: Median of its runs.
        spread: (largest − smallest) / median of them.
        predicted_s: What was predicted.
        is_inside: Whether the measured one lies in the predicted band.
        band: Half the width of that, as a share.
    """

    figure: str
    words: str
    measured_s: float
    spread: float
    predicted_s: float
    is_inside: bool
    band: float

    @property
    def error(self) -> float:
        """Predicted / measured − 1."""
        return self.predicted_s / self.measured_s - 1


def compare(measured: Sequence[Measured], size: ModelSize, seed: int) -> list[Compared]:
    """Learn from half of the settings, chosen by ``seed``, and predict the others."""
    order = np.random.default_rng(seed).permutation(len(measured)).tolist()
    learnt = order[: len(measured) // 2]
    known = Observations()
    for place in sorted(learnt):
        for observation in measured[place].observations:
            known.add(observation)
    predictor = Predictor(known.all(), size, os.cpu_count())
    rows = []
    for place in sorted(set(order) - set(learnt)):
        each = measured[place]
        words = _words(each.setting)
        ttft = predictor.prefill(each.settings, each.setting.prompt_tok)
        tpot = predictor.decode(each.settings, each.setting.streams, each.depth_tok)
        for figure, runs, estimate in (("TTFT", each.ttft_s, ttft), ("TPOT", each.tpot_s, tpot)):
            assert isinstance(estimate, Estimate), estimate
            middle = median(runs)
            low, high = estimate.band_s
            rows.append(
                Compared(
                    figure, words, middle, (max(runs) - min(runs)) / middle, estimate.seconds,
                    low <= middle <= high, estimate.error,
                )
            )  # fmt: skip
    return rows


def _words(setting: Setting) -> str:
    v = setting.values
    return (
        f"{v['threads']} thr · {setting.streams}/{v['slots']} slots · K {v['cache_type_k']:4} "
        f"V {v['cache_type_v']:4} · fa {v['flash_attn']:3} · ub {v['ubatch_tok']:3} · "
        f"{setting.prompt_tok:4} tok"
    )


def table(name: str, rows: Sequence[Compared]) -> str:
    """The figures as text."""
    lines = [f"{name}: settings that were not used for fitting"]
    head = f"{'':4} {'setting':66} {'measured':>9} {'spread':>7} {'predicted':>9} {'error':>7}"
    lines.append(f"{head} {'band':>6}")
    for row in rows:
        unit, scale = ("s ", 1.0) if row.figure == "TTFT" else ("ms", 1e3)
        lines.append(
            f"{row.figure} {row.words:66} {row.measured_s * scale:7.2f} {unit}"
            f"{100 * row.spread:5.0f} % {row.predicted_s * scale:7.2f} {unit}"
            f"{100 * row.error:+5.0f} % ±{100 * row.band:3.0f} %{'' if row.is_inside else ' out'}"
        )
    for figure, (middle, high, inside) in summary(rows).items():
        verdict = "met" if middle <= TARGET_ERROR else "MISSED"
        lines.append(
            f"{name} {figure}: median error {100 * middle:.1f} %, 90th percentile "
            f"{100 * high:.1f} %; in the band (80 % meant): {100 * inside:.0f} %; target: at most "
            f"{100 * TARGET_ERROR:.0f} %: {verdict}"
        )
    return "\n".join(lines)


def summary(rows: Sequence[Compared]) -> dict[str, tuple[float, float, float]]:
    """By figure: median and 90th percentile of the error's size, share inside the band."""
    found = {}
    for figure in ("TTFT", "TPOT"):
        errors = [abs(row.error) for row in rows if row.figure == figure]
        inside = [row.is_inside for row in rows if row.figure == figure]
        found[figure] = (
            float(np.median(errors)), float(np.quantile(errors, 0.9)), sum(inside) / len(inside)
        )  # fmt: skip
    return found


def _as_json(rows: Sequence[Compared]) -> dict[str, Any]:
    return {
        "target_error": TARGET_ERROR,
        **{
            figure.lower(): {"median_error": middle, "p90_error": high, "inside_band": inside}
            for figure, (middle, high, inside) in summary(rows).items()
        },
        "held_out": [
            {
                "figure": row.figure, "setting": row.words, "measured_s": row.measured_s,
                "spread": row.spread, "predicted_s": row.predicted_s, "error": row.error,
                "band": row.band, "inside": row.is_inside,
            }
            for row in rows
        ],
    }  # fmt: skip


def main() -> int:
    """Measure, print, write ``prediction.json`` beside the other results."""
    os.environ.setdefault("TUNEDECK_FETCH", "1")
    parser = argparse.ArgumentParser(prog="python -m tests.bench.prediction")
    parser.add_argument("model", nargs="?", choices=list(_FOUND))
    parser.add_argument("--settings", type=int, default=SETTINGS)
    parser.add_argument("--seed", type=int, default=SEED, help="of the half that is held out")
    parser.add_argument("--again", action="store_true", help="use the runs of the last time")
    given = parser.parse_args()
    target = llama_server.LINK.parent / "prediction.json"
    content: dict[str, Any] = {"machine": machine.describe(), "models": {}}
    if target.exists():
        content["models"] = json.loads(target.read_text(encoding="utf-8"))["models"]
    is_met = True
    for name in [given.model] if given.model else list(_FOUND):
        begun = time.monotonic()
        if given.again:
            kept = content["models"][name]
            measured = msgspec.convert(kept["runs"], list[Measured])
            size = ModelSize(**kept["size"])
        else:
            settings = settings_to_measure(given.settings, SEED)
            measured, size = measure(_FOUND[name](), settings)
        rows = compare(measured, size, given.seed)
        print(table(name, rows))
        print(f"{time.monotonic() - begun:.0f} s")
        runs = {"runs": msgspec.to_builtins(measured), "size": msgspec.to_builtins(size)}
        content["models"][name] = _as_json(rows) | {"seed": given.seed} | runs
        is_met &= all(middle <= TARGET_ERROR for middle, _, _ in summary(rows).values())
    report.write(target, content)
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
