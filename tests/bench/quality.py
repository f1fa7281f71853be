"""``make bench-quality``: the comparison of KV caches against llama.cpp's own.

``llama-perplexity --kl-divergence``, built of the very source of the embedded engine, and
``tunedeck quality`` read the same text in the same chunks, batches and threads. Writes
``build/bench/quality.json`` with the figures of both and ``mean_kld_relative_difference``, the
largest over all models and cache types. The tool keeps the base's logits in a file, as 16-bit
numbers; TuneDeck keeps none, so perplexities of the base differ by what that rounds.
"""

from __future__ import annotations

import argparse
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.experiments.port import PortError
from app.experiments.quality_process import QualityProcess
from engine_bridge.quality_messages import QualityRequest, TextFigures, TextScored
from engine_bridge.settings.config import EngineConfig
from tests import models
from tests.bench import llama_server, machine, report
from tests.bench.llama_server import BuildError, say

OUT = llama_server.LINK.parent
TARGET_KLD_SHARE = 0.005
TARGET_SAME_TOP_POINTS = 0.1
CTX_TOK = BATCH_TOK = 512
CHUNKS, QUICK_CHUNKS = 20, 4
MODELS: dict[str, Callable[[], Path]] = {
    "gemma": models.find_gemma,
    "qwen2.5-coder-0.5b": lambda: models.find_packaged(models.QWEN_05B),
}
CANDIDATES = ("q8_0/q8_0", "q4_0/q4_0")
_PROSE = llama_server.REPOSITORY / "resources" / "texts" / "prose.txt"
# What was written for this project, where its prose is not there.
_PAGES = llama_server.REPOSITORY / "docs" / "adr"
_RUN_S = 3600.0

# As the tool names them; each is followed by its value and, of means, ± and the standard error.
_TOLD = {
    "mean_kld": r"Mean\s+KLD",
    "max_kld": r"Maximum KLD",
    "p99_kld": r"99\.0%\s+KLD",
    "p90_kld": r"90\.0%\s+KLD",
    "median_kld": r"Median\s+KLD",
    "ppl": r"Mean PPL\(Q\)",
    "ppl_base": r"Mean PPL\(base\)",
    "ppl_ratio": r"Mean PPL\(Q\)/PPL\(base\)",
    "same_top_percent": r"Same top p",
}
_NUMBER = r"(-?[\d.]+)"


class ToolError(Exception):
    """The tool gave no figures; the message says why."""


@dataclass(frozen=True)
class Task:
    """What both programs read.

    Attributes:
        model: The model's file.
        text: The text's file.
        chunks: Chunks that are read.
        threads: Threads of both.
    """

    model: Path
    text: Path
    chunks: int
    threads: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare; the exit code is 1 where a target was missed or nothing could be measured."""
    args = parse(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("make bench-quality: told to end"))
    try:
        binary = llama_server.build(jobs=args.threads, tool=llama_server.PERPLEXITY)
        cells = [cell for name in args.only for cell in _measure(name, binary, args)]
    except (BuildError, ToolError, PortError, models.ModelMissingError) as error:
        print(f"make bench-quality: {error}", file=sys.stderr)
        return 1
    content = as_json(cells, args.threads)
    path = OUT / ("quality-quick.json" if args.quick else "quality.json")
    report.write(path, content)
    print("\n".join(table(cells)))
    print(f"\nwritten: {path}")
    missed = misses(content)
    for sentence in missed:
        print(sentence, file=sys.stderr)
    return 1 if missed else 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.quality", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=MODELS, help="these models; all of them")
    parser.add_argument("--candidates", nargs="+", default=list(CANDIDATES), metavar="K/V")
    parser.add_argument("--chunks", type=int, help=f"chunks of {CTX_TOK} tokens ({CHUNKS})")
    parser.add_argument("--threads", type=int, default=machine.usable_cores())
    parser.add_argument("--text", type=Path, help="what is read; prose of the program")
    parser.add_argument(
        "--quick", action="store_true", help=f"Gemma and {QUICK_CHUNKS} chunks, quality-quick.json"
    )
    args = parser.parse_args(arguments)
    args.only = args.only or (["gemma"] if args.quick else list(MODELS))
    args.chunks = args.chunks or (QUICK_CHUNKS if args.quick else CHUNKS)
    if args.chunks < 2:
        parser.error("--chunks takes 2 or more: llama-perplexity refuses fewer")
    return args


def _measure(name: str, binary: Path, args: argparse.Namespace) -> list[dict[str, Any]]:
    model = MODELS[name]()
    cells = []
    OUT.mkdir(parents=True, exist_ok=True)
    # The base's logits are 2 bytes × vocabulary × scored tokens: a GB or more, so on the disk.
    with tempfile.TemporaryDirectory(prefix="quality-", dir=OUT) as folder:
        text = Path(folder) / "text.txt"
        text.write_text(text_of(args.text), encoding="utf-8")
        task = Task(model, text, args.chunks, args.threads)
        base = Path(folder) / "base.logits"
        say(f"{name}: llama-perplexity reads the text with f16")
        base_ppl, base_s = _tool_base(binary, task, base)
        for candidate in args.candidates:
            say(f"{name}: llama-perplexity reads it with {candidate}")
            begun_s = time.monotonic()
            peer = _tool_candidate(binary, task, base, candidate)
            peer_s = time.monotonic() - begun_s + base_s
            say(f"{name}: TuneDeck reads it with f16 and {candidate} side by side")
            begun_s = time.monotonic()
            own = own_figures(_own(task, candidate))
            own_s = time.monotonic() - begun_s
            peer["ppl_base_exact"] = base_ppl
            cells.append(cell_of(name, candidate, task, own, peer, own_s=own_s, peer_s=peer_s))
    return cells


def text_of(path: Path | None) -> str:
    """The text that both read, without line ends behind it, which the tool would take away."""
    if path is not None:
        return path.read_text(encoding="utf-8").rstrip()
    if _PROSE.is_file():
        return _PROSE.read_text(encoding="utf-8").rstrip()
    pages = sorted(_PAGES.glob("*.md"))
    return "\n\n".join(page.read_text(encoding="utf-8") for page in pages).rstrip()


# --- Both programs --------------------------------------------------------------------------


def tool_arguments(task: Task) -> list[str]:
    """The flags by which the tool reads as TuneDeck does: one sequence, a chunk a batch."""
    return [
        *("-m", str(task.model), "-f", str(task.text)),
        *("-c", str(CTX_TOK), "-b", str(BATCH_TOK), "-ub", str(BATCH_TOK)),
        *("-t", str(task.threads), "-tb", str(task.threads)),
        *("--chunks", str(task.chunks), "-fit", "off"),
    ]


def _tool_base(binary: Path, task: Task, base: Path) -> tuple[float, float]:
    """Let the tool write the base's logits; the perplexity it gives, and the seconds it took."""
    begun_s = time.monotonic()
    said = _run([str(binary), *tool_arguments(task), "--kl-divergence-base", str(base)])
    found = re.search(rf"Final estimate: PPL = {_NUMBER}", said)
    if found is None:
        raise ToolError(f"llama-perplexity gave no perplexity:\n{_tail(said)}")
    return float(found[1]), time.monotonic() - begun_s


def _tool_candidate(binary: Path, task: Task, base: Path, candidate: str) -> dict[str, float]:
    k, _, v = candidate.partition("/")
    types = ["-ctk", k, "-ctv", v or k]
    more = ["--kl-divergence", "--kl-divergence-base", str(base)]
    return tool_figures(_run([str(binary), *tool_arguments(task), *types, *more]))


def _run(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_RUN_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ToolError(f"llama-perplexity took more than {_RUN_S:.0f} s.") from None
    said = done.stdout.decode(errors="replace")
    if done.returncode != 0:
        raise ToolError(f"llama-perplexity ended with {done.returncode}:\n{_tail(said)}")
    return said


def _tail(said: str) -> str:
    return "\n".join(said.strip().splitlines()[-15:])


def tool_figures(said: str) -> dict[str, float]:
    """The figures in what the tool printed.

    Raises:
        ToolError: If one is missing.
    """
    figures: dict[str, float] = {}
    for name, words in _TOLD.items():
        found = re.search(rf"^{words}\s*:\s+{_NUMBER}(?: ±\s+{_NUMBER})?", said, re.MULTILINE)
        if found is None:
            raise ToolError(f"llama-perplexity did not tell {name}:\n{_tail(said)}")
        figures[name] = float(found[1])
        if found[2] is not None:
            figures[f"{name}_error"] = float(found[2])
    return figures


def _own(task: Task, candidate: str) -> TextFigures:
    k, _, v = candidate.partition("/")
    base = EngineConfig.from_values(
        {"model_path": str(task.model), "threads": task.threads, "threads_batch": task.threads}
    )
    request = QualityRequest(
        base=base,
        candidate=base.with_values({"cache_type_k": k, "cache_type_v": v or k}),
        text=task.text.read_text(encoding="utf-8"),
        ctx_tok=CTX_TOK,
        chunks=task.chunks,
        speed_steps=0,
    )
    figures = None
    for answer in QualityProcess().answers(request):
        if isinstance(answer, TextScored):
            figures = answer.figures
    assert figures is not None  # it is refused, or ends with figures
    return figures


def own_figures(text: TextFigures) -> dict[str, float]:
    """TuneDeck's figures by the names of the tool's."""
    return {
        "mean_kld": text.kld.value,
        "mean_kld_error": text.kld.error,
        "max_kld": text.kld_max,
        "p99_kld": text.kld_p99,
        "p90_kld": text.kld_p90,
        "median_kld": text.kld_median,
        "ppl": text.ppl.value,
        "ppl_error": text.ppl.error,
        "ppl_base": text.ppl_base.value,
        "ppl_base_error": text.ppl_base.error,
        "ppl_ratio": text.ppl_ratio.value,
        "ppl_ratio_error": text.ppl_ratio.error,
        "same_top_percent": 100 * text.same_top.value,
        "same_top_percent_error": 100 * text.same_top.error,
        "tokens": float(text.tokens),
        "chunks": float(text.chunks),
    }


# --- What comes out -------------------------------------------------------------------------


def cell_of(
    name: str,
    candidate: str,
    task: Task,
    own: dict[str, float],
    peer: dict[str, float],
    *,
    own_s: float,
    peer_s: float,
) -> dict[str, Any]:
    """One model and cache type."""
    return {
        "model": name,
        "candidate": candidate,
        "chunks": task.chunks,
        "ctx_tok": CTX_TOK,
        "tunedeck": own,
        "llama_perplexity": peer,
        "mean_kld_relative_difference": own["mean_kld"] / peer["mean_kld"] - 1,
        "same_top_difference_points": own["same_top_percent"] - peer["same_top_percent"],
        "tunedeck_s": round(own_s, 1),
        "llama_perplexity_s": round(peer_s, 1),
    }


def as_json(cells: Sequence[dict[str, Any]], threads: int) -> dict[str, Any]:
    """The content of ``quality.json``."""
    return {
        "machine": machine.describe(),
        "peer": f"llama-perplexity of llama-cpp-python {llama_server.installed_version()}",
        "threads": threads,
        "cells": list(cells),
        "mean_kld_relative_difference": max(
            (abs(cell["mean_kld_relative_difference"]) for cell in cells), default=None
        ),
        "same_top_difference_points": max(
            (abs(cell["same_top_difference_points"]) for cell in cells), default=None
        ),
    }


def misses(content: dict[str, Any]) -> list[str]:
    """Sentences of the targets that were missed."""
    found = []
    if content["mean_kld_relative_difference"] > TARGET_KLD_SHARE:
        found.append(f"Missed: mean KLD within {100 * TARGET_KLD_SHARE} % of the tool's.")
    if content["same_top_difference_points"] > TARGET_SAME_TOP_POINTS:
        found.append(f"Missed: same top within {TARGET_SAME_TOP_POINTS} points of the tool's.")
    return found


def table(cells: Sequence[dict[str, Any]]) -> list[str]:
    """Both programs' figures, a block for each model and cache type."""
    lines = []
    for cell in cells:
        own, peer = cell["tunedeck"], cell["llama_perplexity"]
        lines += [
            "",
            f"{cell['model']}, {cell['candidate']} against f16: {own['chunks']:.0f} chunks of "
            f"{cell['ctx_tok']} tokens, {own['tokens']:,.0f} scored",
            f"{'':<20}{'TuneDeck':>14}{'llama-perplexity':>18}",
        ]
        lines += [f"{key:<20}{own[key]:>14.6f}{peer[key]:>18.6f}" for key in _TOLD]
        lines.append(
            f"mean KLD {100 * cell['mean_kld_relative_difference']:+.3f} %, same top "
            f"{cell['same_top_difference_points']:+.3f} points; {cell['tunedeck_s']:.0f} s against "
            f"{cell['llama_perplexity_s']:.0f} s (its base once more included)"
        )
    return lines[1:]


if __name__ == "__main__":
    sys.exit(main())
