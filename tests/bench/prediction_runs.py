"""The runs of the prediction bench: settings at random, measured in the real engine.

An observer hears every event as the window's does, so what is learnt from here is what the window
would have learnt.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from engine_bridge import protocol
from engine_bridge.metrics.observations import Observation, RunSettings, run_settings
from engine_bridge.metrics.run_observer import RunObserver
from engine_bridge.metrics.step_cost import ModelSize
from engine_bridge.settings.config import EngineConfig
from tests.bench import machine
from tests.bench.engine import EngineProcess

SEED = 1
_CTX_TOK = 2560
# A prompt longer than so much is read twice only: its runs differ little.
_LONG_TOK, _LONG_RUNS = 500, 2
_RUNS, _DECODED_TOK, _EXTRA_PROMPT_TOK, _MORE_TOK = 3, 64, 128, 4
_WARM_TOK = 96
_PATIENCE_S = 240.0
# Runs that differ by more were disturbed by something else; they are made again, so many times.
_SPREAD, _TRIES = 0.25, 2


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
        passes: Micro-batches of its steps: streams that do not lie side by side take several.
        others: Share of the machine that other programs used meanwhile, 0 to 1.
        observations: What the window would have learnt.
    """

    setting: Setting
    settings: RunSettings
    ttft_s: list[float] = field(default_factory=list)
    tpot_s: list[float] = field(default_factory=list)
    depth_tok: float = 0.0
    passes: float = 1.0
    others: float = 0.0
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
        bystanders = machine.Bystanders([watched.process.pid])
        for place, setting in enumerate(settings):
            config = base.with_values(setting.values)
            applied = watched.applied(protocol.Apply(watched.process.next_id(), config))
            bystanders.share()
            for attempt in range(_TRIES + 1):
                one = _measured(watched, setting, applied, f"{place} {attempt}")
                if max(spread(one.ttft_s), spread(one.tpot_s)) <= _SPREAD:
                    break
            one.others = bystanders.share()
            found.append(one)
            print(f"  {place + 1}/{len(settings)} {words(setting)}", file=sys.stderr)
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
    for run in range(_LONG_RUNS if setting.prompt_tok > _LONG_TOK else _RUNS):
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
    written = [each for each in watched.heard if each.work == "decode"]
    result.passes = max((each.passes for each in written), default=1.0)
    inside = np.array([ns for ns in steps[0] if begin <= ns <= end]) / 1e9
    for third in np.array_split(np.diff(inside), 3):
        result.tpot_s.append(float(np.mean(third)))


def spread(runs: Sequence[float]) -> float:
    """(Largest − smallest) / median."""
    return (max(runs) - min(runs)) / median(runs)


def words(setting: Setting) -> str:
    """A setting in a line."""
    v = setting.values
    return (
        f"{v['threads']} thr · {setting.streams}/{v['slots']} slots · K {v['cache_type_k']:4} "
        f"V {v['cache_type_v']:4} · fa {v['flash_attn']:3} · ub {v['ubatch_tok']:3} · "
        f"{setting.prompt_tok:4} tok"
    )
