"""Greedy texts of the engine against ``llama-server``'s, prompt by prompt: equal, or explained.

Where two texts part, both tokens were nearly as likely: the gap of their scores is compared with
what the mere shape of a batch changes on this machine, which is measured beforehand. A larger gap
is a fault. ``python -m tests.bench.texts [gemma] [qwen] [qwen-1.5b] [--prompts N] [--tokens N]``.
"""

from __future__ import annotations

import argparse
import json
import sys
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.llama import Context
from engine_bridge.child.template import TemplateRenderer
from engine_bridge.protocol import ChatMessage
from engine_bridge.settings.config import EngineConfig
from tests import models
from tests.bench import machine, report
from tests.bench.llama_server import LINK
from tests.bench.peer import ServerProcess
from tests.bench.text_prompts import COMPLETIONS, QUESTIONS
from tests.engine.harness import InProcess

CTX_TOK = 512
# Two threads would wait for each other wherever another program wants a core.
THREADS = 1
# Texts that the tolerance is measured on.
_PROBED = 10


@dataclass(frozen=True)
class TextModel:
    """A model whose texts are compared.

    Attributes:
        find: Gives its file.
        prompts: What it is asked.
        is_chat: Whether they go through its chat template.
    """

    find: Callable[[], Path]
    prompts: tuple[str, ...]
    is_chat: bool


MODELS = {
    "gemma": TextModel(models.find_gemma, COMPLETIONS, False),
    "qwen": TextModel(lambda: models.find_packaged(models.QWEN_05B), QUESTIONS, True),
    "qwen-1.5b": TextModel(lambda: models.find_packaged(models.QWEN_15B), QUESTIONS, True),
}


@dataclass(frozen=True)
class Answer:
    """Tokens of one prompt and what followed it."""

    prompt: list[int]
    tokens: list[int]


@dataclass(frozen=True)
class Parting:
    """Where two texts part.

    Attributes:
        prompt: Number of the prompt.
        at_tok: Tokens that they have in common.
        gap: How much better the engine's token scores than the other, in logits; both after the
            text in common, computed one token at a time as the engine did.
        is_explained: Whether the shape of a batch alone changes as much.
    """

    prompt: int
    at_tok: int
    gap: float
    is_explained: bool


@dataclass(frozen=True)
class Verdict:
    """What became of the prompts of one model.

    Attributes:
        model: Its name.
        prompts: Prompts asked.
        tokens: Tokens that the engine wrote.
        same_prompts: Prompts that both programs read as the same tokens.
        tolerance: Largest change of a gap between two scores by the shape of the batch alone.
        flips: Share of places where that changed which token is the best.
        partings: Where texts part.
    """

    model: str
    prompts: int
    tokens: int
    same_prompts: int
    tolerance: float
    flips: float
    partings: tuple[Parting, ...]

    @property
    def faults(self) -> int:
        """Texts that part without a reason, and prompts read in another way."""
        unexplained = sum(not parting.is_explained for parting in self.partings)
        return unexplained + self.prompts - self.same_prompts


class Probe:
    """Scores of a text in batches of a chosen shape, in a context of its own."""

    def __init__(self, desk: InProcess, config: EngineConfig, most_rows: int) -> None:
        """Make a context on the model that ``desk`` runs, with ``most_rows`` output rows."""
        wanted = {"spec_types": ("ngram-simple",), "ngram_size_m": most_rows - 1}
        self._context = Context.create(desk.batcher.context.model, config.with_values(wanted))
        self._batch = self._context.new_batch(self._context.batch_tok)

    def close(self) -> None:
        """Free the context."""
        self._context.close()

    def scores(self, answer: Answer, *, at_once: bool) -> NDArray[np.float32]:
        """Scores of what follows the prompt and each token of the answer but the last.

        Args:
            answer: The text.
            at_once: Compute the answer in one batch; otherwise one token at a time.

        Returns:
            (tokens, vocab) float32.
        """
        self._context.clear()
        rows = [self._decoded(answer.prompt, 0, 1)]
        given = answer.tokens[:-1]
        first = len(answer.prompt)
        if at_once and given:
            rows.append(self._decoded(given, first, len(given)))
        elif given:
            rows += [self._decoded([t], first + n, 1) for n, t in enumerate(given)]
        return np.concatenate(rows)

    def _decoded(self, tokens: Sequence[int], first: int, rows: int) -> NDArray[np.float32]:
        batch, count = self._batch, len(tokens)
        batch.token[:count] = tokens
        batch.pos[:count] = range(first, first + count)
        batch.seq[:count] = 0
        batch.wants_logits[:count] = 0
        batch.wants_logits[count - rows : count] = 1
        code = self._context.decode(batch, count)
        if code:
            raise RuntimeError(f"llama_decode returned {code}")
        return self._context.logits()[:rows].copy()


def tolerance_of(probe: Probe, answers: Sequence[Answer]) -> tuple[float, float]:
    """How far the shape of a batch moves the gap of the two best tokens, and how often too far.

    Returns:
        The largest change in logits, and the share of places where the best token changes.
    """
    changes, flips = [], []
    for answer in answers:
        alone = probe.scores(answer, at_once=False)
        together = probe.scores(answer, at_once=True)
        best = np.argsort(alone, axis=1)[:, -2:]
        gaps = [np.diff(np.take_along_axis(rows, best, axis=1)) for rows in (alone, together)]
        changes.append(np.abs(gaps[0] - gaps[1]).max())
        flips.append(alone.argmax(axis=1) != together.argmax(axis=1))
    return float(max(changes)), float(np.concatenate(flips).mean())


def parting_of(
    probe: Probe, number: int, ours: Answer, theirs: Answer, tolerance: float
) -> Parting | None:
    """Where two answers to one prompt part; None where they are equal."""
    if ours.tokens == theirs.tokens:
        return None
    pairs = enumerate(zip(ours.tokens, theirs.tokens, strict=False))
    shared = next((n for n, (a, b) in pairs if a != b), None)
    if shared is None:  # one of them ended early: no score explains that
        return Parting(number, min(len(ours.tokens), len(theirs.tokens)), np.inf, False)
    text = Answer(ours.prompt, ours.tokens[: shared + 1])
    scores = probe.scores(text, at_once=False)[-1]
    gap = float(scores[ours.tokens[shared]] - scores[theirs.tokens[shared]])
    return Parting(number, shared, gap, abs(gap) <= tolerance)


def _our_answers(
    desk: InProcess, prompts: Sequence[str], new_tok: int, *, is_chat: bool
) -> list[Answer]:
    answers = []
    for text in prompts:
        asked = [ChatMessage("user", text)] if is_chat else text
        finished = desk.finished(desk.ask(asked, max_new_tok=new_tok))
        slot, read = desk.batcher.slots[0], finished.timing.prompt_tok
        # The last token was never computed, and stands behind those that were.
        text_tok = slot.tokens[: slot.cached + 1].tolist()
        answers.append(Answer(text_tok[:read], text_tok[read:]))
    return answers


def _their_answers(
    binary: Path, config: EngineConfig, prompts: Sequence[str], new_tok: int, *, is_chat: bool
) -> list[Answer]:
    flags = [
        *("-m", config.model_path, "-c", str(CTX_TOK), "-np", "1", "-fit", "off", "--jinja"),
        *("-t", str(THREADS), "-tb", str(THREADS), "--cache-ram", "0", "-ctxcp", "0"),
    ]
    server = ServerProcess(binary, flags)
    try:
        return [_their_answer(server.port, text, new_tok, is_chat) for text in prompts]
    finally:
        server.close()


def _their_answer(port: int, text: str, new_tok: int, is_chat: bool) -> Answer:
    if is_chat:
        body = {"messages": [{"role": "user", "content": text}]}
        text = _posted(port, "/apply-template", body)["prompt"]
    read = {"content": text, "add_special": True, "parse_special": True}
    prompt = _posted(port, "/tokenize", read)["tokens"]
    wanted = {"prompt": text, "n_predict": new_tok, "temperature": 0, "return_tokens": True}
    return Answer(prompt, _posted(port, "/completion", wanted | {"cache_prompt": False})["tokens"])


def _posted(port: int, path: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


def compare(name: str, binary: Path, most_prompts: int, new_tok: int) -> Verdict:
    """Ask both programs the prompts of the model ``name``, one slot, greedy."""
    model = MODELS[name]
    prompts = model.prompts[:most_prompts]
    config = EngineConfig.from_values(
        {
            "model_path": str(model.find()), "slots": 1, "ctx_per_slot_tok": CTX_TOK,
            "temperature": 0.0, "threads": THREADS, "threads_batch": THREADS, "cache_ram_mib": 0,
            "ctx_checkpoints": 0, "cache_prompt": False,
        }
    )  # fmt: skip
    renderer = TemplateRenderer(deadline_s=60.0)
    try:
        with InProcess(renderer) as desk:
            desk.load(config)
            ours = _our_answers(desk, prompts, new_tok, is_chat=model.is_chat)
            theirs = _their_answers(binary, config, prompts, new_tok, is_chat=model.is_chat)
            probe = Probe(desk, config, new_tok)
            try:
                return _verdict(name, probe, ours, theirs)
            finally:
                probe.close()
    finally:
        renderer.close()


def _verdict(name: str, probe: Probe, ours: Sequence[Answer], theirs: Sequence[Answer]) -> Verdict:
    tolerance, flips = tolerance_of(probe, ours[:_PROBED])
    partings = [
        parting_of(probe, number, mine, other, tolerance)
        for number, (mine, other) in enumerate(zip(ours, theirs, strict=True))
    ]
    return Verdict(
        name,
        len(ours),
        sum(len(answer.tokens) for answer in ours),
        sum(mine.prompt == other.prompt for mine, other in zip(ours, theirs, strict=True)),
        tolerance,
        flips,
        tuple(parting for parting in partings if parting is not None),
    )


def table(verdicts: Sequence[Verdict]) -> str:
    """The verdicts for a person."""
    lines = ["model   prompts  tokens  equal  explained  fault  tolerance  widest gap  flips"]
    for v in verdicts:
        gaps = [abs(parting.gap) for parting in v.partings]
        explained = sum(parting.is_explained for parting in v.partings)
        lines.append(
            f"{v.model:8}{v.prompts:7}{v.tokens:8}{v.prompts - len(v.partings):7}{explained:11}"
            f"{v.faults:7}{v.tolerance:11.3f}{max(gaps, default=0.0):12.3f}{v.flips:7.1%}"
        )
        lines += [
            f"  prompt {p.prompt}: parts after {p.at_tok} tokens, gap {p.gap:.3f}"
            + ("" if p.is_explained else "  FAULT")
            for p in v.partings
        ]
    return "\n".join(lines)


def main(argv: Sequence[str]) -> int:
    """Compare the models named, all by default; 1 where a text parts without a reason."""
    parser = argparse.ArgumentParser(description="greedy texts against llama-server's")
    parser.add_argument("models", nargs="*", help=f"of {', '.join(MODELS)}")
    parser.add_argument("--prompts", type=int, default=50, help="of each model (%(default)s)")
    parser.add_argument("--tokens", type=int, default=64, help="of each answer (%(default)s)")
    args = parser.parse_args(argv)
    if unknown := set(args.models) - MODELS.keys():
        parser.error(f"there is no model {unknown.pop()!r}")
    if not LINK.exists():
        print("llama-server is not built; `make bench` builds it.", file=sys.stderr)
        return 1
    names = args.models or list(MODELS)
    verdicts = [compare(name, LINK, args.prompts, args.tokens) for name in names]
    print(table(verdicts))
    content = {"machine": machine.describe(), "models": [asdict(v) for v in verdicts]}
    path = LINK.parent / "texts.json"
    report.write(path, content)
    print(f"written: {path}")
    return 1 if any(verdict.faults for verdict in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
