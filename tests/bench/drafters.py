"""Drafters against ``llama-server``'s: the same prompts, the same drafter, the same settings.

The n-gram kinds draft for Qwen 0.5B, which drafts for Qwen 1.5B as ``draft-simple``.
Where the texts agree the accepted tokens must be equal; the time per token is compared by both
programs' own clocks, in runs that alternate. ``python -m tests.bench.drafters [KIND ...]``; the
server gets the flags that the desk exports.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import urllib.request
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from app.export.llama_flag import Situation
from app.export.llama_speculation import SPECULATION
from engine_bridge import protocol
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.spec_kinds import NGRAM_KINDS
from tests import models
from tests.bench import llama_server, machine
from tests.bench.engine import EngineProcess, layout_config
from tests.bench.peer import ServerProcess, layout_arguments
from tests.bench.stats import log_gains, ratio
from tests.bench.work import ContenderError, Layout
from tests.tiny_model import TinyLlama, write_tiny_llama

TINY = "few-words.gguf"
OUT = llama_server.LINK.parent
KINDS = ("ngram-simple", "ngram-mod", "draft-simple")
PAIRS = 5
NEW_TOK = 128
_WAIT_S = 300.0
# Shorter than the defaults: these prompts repeat lines, not paragraphs.
_LENGTHS: dict[str, object] = {
    "ngram_size_n": 4, "ngram_size_m": 16,
    "ngram_mod_n_match": 16, "ngram_mod_n_min": 4, "ngram_mod_n_max": 24,
}  # fmt: skip
_CODE = """class Account:
    def __init__(self, owner, balance=0):
        self.owner = owner
        self.balance = balance

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError("amount must be positive")
        self.balance += amount
        return self.balance

    def withdraw(self, amount):
        if amount <= 0:
            raise ValueError("amount must be positive")
        if amount > self.balance:
            raise ValueError("not enough money")
        self.balance -= amount
        return self.balance
"""
_TASKS = (
    "Repeat this class without any change.",
    "Rename `balance` to `amount_held` and give the whole class again.",
    "Add type hints to the class and give all of it again.",
)
PROMPTS = tuple(
    f"<|im_start|>user\n{task}\n```python\n{_CODE}```<|im_end|>\n<|im_start|>assistant\n```python\n"
    for task in _TASKS
)


@dataclass(frozen=True)
class Answer:
    """What one program made of one prompt.

    Attributes:
        text: The answer.
        drafted_tok: Tokens drafted.
        accepted_tok: Of them accepted.
        tpot_s: Seconds a token behind the first, by the program's own clock.
    """

    text: str
    drafted_tok: int
    accepted_tok: int
    tpot_s: float


@dataclass
class Compared:
    """All answers of a kind, a list of rounds each.

    Attributes:
        engine: The engine's.
        server: ``llama-server``'s.
    """

    engine: list[list[Answer]] = field(default_factory=list)
    server: list[list[Answer]] = field(default_factory=list)

    def line(self, kind: str) -> tuple[str, bool]:
        """A line of the table, and whether the counts are equal where the texts agree."""
        pairs = [
            (mine, theirs)
            for ours, others in zip(self.engine, self.server, strict=True)
            for mine, theirs in zip(ours, others, strict=True)
        ]
        same = [(mine, theirs) for mine, theirs in pairs if mine.text == theirs.text]
        is_equal = all(m.accepted_tok == t.accepted_tok for m, t in same)
        mine_s, theirs_s = _means(self.engine), _means(self.server)
        time = ratio(log_gains(theirs_s, mine_s, is_more_better=False))
        quotients = [mine / theirs for mine, theirs in zip(mine_s, theirs_s, strict=True)]
        return (
            f"{kind:14} {len(same):3}/{len(pairs):<3} "
            f"{sum(m.drafted_tok for m, _ in same):6} {sum(t.drafted_tok for _, t in same):6}  "
            f"{sum(m.accepted_tok for m, _ in same):6} {sum(t.accepted_tok for _, t in same):6} "
            f"{'equal' if is_equal else 'DIFFER':6}  "
            f"{statistics.median(mine_s) * 1e3:6.2f} {statistics.median(theirs_s) * 1e3:6.2f}  "
            f"{statistics.median(quotients):5.3f} ({min(quotients):.3f} to {max(quotients):.3f}; "
            f"mean {time.value:.3f}, 95 % {time.low:.3f} to {time.high:.3f})"
        ), is_equal


HEADER = (
    f"{'kind':14} {'texts':7} {'drafted':13}  {'accepted':20}  {'ms per token':13}  "
    "time ratio engine/server\n"
    f"{'':14} {'same':7} {'engine':>6} {'server':>6}  {'engine':>6} {'server':>6} {'':6}  "
    f"{'engine':>6} {'server':>6}  median (spread)"
)


def _means(rounds: Sequence[Sequence[Answer]]) -> list[float]:
    return [statistics.fmean(answer.tpot_s for answer in answers) for answers in rounds]


class Server:
    """``llama-server`` with a drafter.

    Args:
        binary: The program.
        layout: Pool, threads, batches.
        config: What drafts.
    """

    def __init__(self, binary: Path, layout: Layout, config: EngineConfig) -> None:
        """Start it."""
        situation = Situation(config, None, None, "llama-server")
        words = [word for flag in SPECULATION for word in flag.words(situation)]
        self._process = ServerProcess(binary, [*layout_arguments(layout), *words])

    def close(self) -> None:
        """End it."""
        self._process.close()

    def tokens_of(self, text: str) -> list[int]:
        """The tokens of a prompt, control tokens read as such."""
        answer = self._post("/tokenize", {"content": text, "parse_special": True})
        return [int(token) for token in answer["tokens"]]

    def answer(self, prompt: Sequence[int], new_tok: int) -> Answer:
        """Go on from a prompt."""
        found = self._post(
            "/completion",
            {
                "prompt": list(prompt), "n_predict": new_tok, "ignore_eos": True,
                "cache_prompt": False, "temperature": 0.0,
            },
        )  # fmt: skip
        timings = found["timings"]
        return Answer(
            found["content"],
            int(timings.get("draft_n", 0)),
            int(timings.get("draft_n_accepted", 0)),
            timings["predicted_per_token_ms"] * 1e-3,
        )

    def _post(self, path: str, body: dict[str, object]) -> dict[str, Any]:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._process.port}{path}",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=_WAIT_S) as response:
            found: dict[str, Any] = json.loads(response.read())
        return found


class Drafting:
    """The engine with a drafter."""

    def __init__(self, config: EngineConfig) -> None:
        """Start it and load."""
        self._process = EngineProcess()
        try:
            self._process.send(protocol.Load(self._process.next_id(), config))
            self._process.wait_for(protocol.Applied, _WAIT_S)
            # After its first load it measures the memory's bandwidth, with all cores.
            self._process.wait_for(protocol.BandwidthMeasured, _WAIT_S)
        except BaseException:
            self._process.close()
            raise

    def close(self) -> None:
        """End it."""
        self._process.close()

    def answer(self, prompt: Sequence[int], new_tok: int) -> Answer:
        """Go on from a prompt, alone in the engine."""
        number = self._process.next_id()
        conversation = f"bench {number}"
        self._process.send(
            protocol.Generate(
                request_id=number, conversation_id=conversation, messages=(),
                prompt_tokens=tuple(prompt), ignore_eog=True, max_new_tok=new_tok,
            )
        )  # fmt: skip
        texts: list[str] = []

        def take(event: protocol.Event) -> None:
            if isinstance(event, protocol.TokensDelivered):
                texts.append(event.text)

        finished = self._process.wait_for(protocol.RequestFinished, _WAIT_S, take)
        self._process.send(protocol.Forget(conversation_id=conversation))
        timing = finished.timing
        if timing.tpot_s is None:
            raise ContenderError(f"The engine ended early: {finished}")
        return Answer("".join(texts), timing.drafted_tok, timing.accepted_tok, timing.tpot_s)


def config_of(kind: str, layout: Layout, draft: Path) -> EngineConfig:
    """The settings of both programs."""
    config = layout_config(layout).with_values({"spec_types": (kind,), **_LENGTHS})
    if kind in NGRAM_KINDS:
        return config
    return msgspec.structs.replace(config, draft_model_path=str(draft))


def models_of(kind: str, *, is_tiny: bool) -> tuple[Path, Path]:
    """The model that answers, and the one that drafts for it if the kind asks a model.

    The tiny one drafts for itself.

    Raises:
        ModelMissingError: If one of them cannot be had.
    """
    if is_tiny:
        OUT.mkdir(parents=True, exist_ok=True)
        model = write_tiny_llama(OUT / TINY, TinyLlama(vocab_tok=512))
        return model, model
    small = models.find_packaged(models.QWEN_05B)
    return small if kind in NGRAM_KINDS else models.find_packaged(models.QWEN_15B), small


def prompts_of(layout: Layout) -> tuple[str | tuple[int, ...], ...]:
    """What is asked: code for a model that knows some, words without meaning for one that repeats.

    The tiny model falls into a loop of its own; its first words are drawn among few.
    """
    if layout.model.name != TINY:
        return PROMPTS
    random = np.random.default_rng(5)
    return tuple(tuple(random.integers(300, 310, 40).tolist()) for _ in range(5))


def compare(
    config: EngineConfig, layout: Layout, binary: Path, pairs: int, new_tok: int
) -> Compared:
    """Let both answer all prompts ``pairs`` times and once before that, by turns."""
    found = Compared()
    with ExitStack() as running:
        server = running.enter_context(closing(Server(binary, layout, config)))
        engine = running.enter_context(closing(Drafting(config)))
        prompts = [
            server.tokens_of(prompt) if isinstance(prompt, str) else list(prompt)
            for prompt in prompts_of(layout)
        ]
        for number in range(pairs + 1):
            ours: list[Answer] = []
            theirs: list[Answer] = []
            for place, prompt in enumerate(prompts):
                # Who goes first changes, prompt by prompt.
                if (number + place) % 2:
                    ours.append(engine.answer(prompt, new_tok))
                    theirs.append(server.answer(prompt, new_tok))
                else:
                    theirs.append(server.answer(prompt, new_tok))
                    ours.append(engine.answer(prompt, new_tok))
            if number:
                found.engine.append(ours)
                found.server.append(theirs)
    return found


def main(words: Sequence[str]) -> int:
    """Print the table; 1 where counts differ although the texts agree."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.drafters")
    parser.add_argument("kinds", nargs="*", default=list(KINDS), metavar="KIND")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="rounds, at least 2")
    parser.add_argument("--tiny", action="store_true", help="a model that takes no time: counts")
    parser.add_argument("--tokens", type=int, default=NEW_TOK, help="of every answer")
    # Threads that wait for each other wait for whatever else runs: one suffices on a busy machine.
    parser.add_argument("--threads", type=int, default=machine.usable_cores())
    wanted = parser.parse_args(words)
    try:
        binary = llama_server.build()
        print(f"{wanted.tokens} tokens, greedy, 1 slot, {wanted.threads} threads")
        print(HEADER, flush=True)
        is_equal = True
        for kind in wanted.kinds:
            model, draft = models_of(kind, is_tiny=wanted.tiny)
            layout = Layout(model, 1, 2048, wanted.threads)
            config = config_of(kind, layout, draft)
            line, is_same = compare(config, layout, binary, wanted.pairs, wanted.tokens).line(kind)
            is_equal &= is_same
            print(f"{line}  {model.stem}", flush=True)
    except (ContenderError, llama_server.BuildError, models.ModelMissingError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0 if is_equal else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
