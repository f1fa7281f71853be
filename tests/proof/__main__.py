"""Runs on the machine with the GPU: builds, writes models, measures; one JSON file and a log.

``run.sh`` of the packed folder starts it. A part that fails says why, and the others go on; a part
for which no time is left is named.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

from tests.proof import shapes
from tests.proof.board import Board
from tests.proof.build import build
from tests.proof.report import Proof


def main() -> int:
    """Everything in order; 1 if a part failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.proof", description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--gpu", choices=("auto", "cuda", "none"), default="auto")
    parser.add_argument("--minutes", type=float, default=9.0)
    args = parser.parse_args()
    proof, board = Proof(args.out, args.minutes * 60), Board()
    gpu = ("cuda" if board.name else "none") if args.gpu == "auto" else args.gpu
    proof.found |= {"gpu": gpu, "board": board.name, "cores": os.cpu_count()}
    source = args.work / "source"
    building = partial(build, source, args.work / f"build-{gpu}", gpu, proof.say)
    binary = proof.part("build", 60, building)
    if binary is not None:
        _measure(proof, board, binary, args.work, is_real=gpu != "none")
    proof.say(f"written: {args.out / 'proof.json'}")
    return 1 if proof.found["failed"] else 0


def _measure(proof: Proof, board: Board, binary: Path, work: Path, *, is_real: bool) -> None:
    small, large = (
        (shapes.SHAPE_1B, shapes.SHAPE_8B) if is_real else (shapes.SMALL_1B, shapes.SMALL_8B)
    )
    made = {**_models(proof, small, work), **_models(proof, large, work)}
    for name in (f"{large.name} Q4_K_M", f"{small.name} F16"):
        if path := made.get(name):
            work_of = partial(_streams, proof, name, path, binary, new_tok=96 if is_real else 32)
            proof.part(f"streams {name}", 60, work_of)
    for name in (f"{large.name} F16", f"{large.name} Q4_K_M"):
        if path := made.get(name):
            _memory_and_times(proof, board, name, path, large.layers)
    if path := made.get(f"{small.name} Q4_K_M"):
        proof.part("picture", 20, partial(_picture, path, proof.out / "window.png"))


def _models(proof: Proof, shape: shapes.Shape, work: Path) -> dict[str, Path]:
    made: dict[str, Path] = {}
    f16 = proof.part(f"write {shape.name}", 5, partial(_written, work, shape))
    if f16 is not None:
        made[f"{shape.name} F16"] = f16
        q4 = proof.part(f"quantise {shape.name}", 10, partial(_quantised, f16))
        if q4 is not None:
            made[f"{shape.name} Q4_K_M"] = q4
    return made


def _streams(proof: Proof, name: str, path: Path, binary: Path, *, new_tok: int) -> dict[str, Any]:
    from tests.proof import measures  # noqa: PLC0415 - only now the library is there

    done = measures.streams(name, path, binary, new_tok)
    mean = measures.geometric_mean(done)
    proof.say(f"{name}: engine / llama-server {mean.value:.3f} [{mean.low:.3f}, {mean.high:.3f}]")
    return measures.cell_lines(done)


def _memory_and_times(proof: Proof, board: Board, name: str, path: Path, layers: int) -> None:
    from tests.bench.machine import usable_cores  # noqa: PLC0415
    from tests.proof import measures  # noqa: PLC0415

    for on_gpu in (0, layers // 2, "all"):
        work_of = partial(measures.placement, path, on_gpu, board)
        proof.part(f"memory {name}, layers {on_gpu}", 15, work_of)
    proof.part(f"times {name}", 15, partial(measures.times, path))
    bandwidth = partial(measures.bandwidth, path, usable_cores(), board, 1)
    proof.part(f"bandwidth {name}", 20, bandwidth)


def _written(work: Path, shape: shapes.Shape) -> Path:
    return shapes.write(work / f"{shape.name}-f16.gguf", shape)


def _quantised(f16: Path) -> Path:
    """In a process of its own: the library keeps the memory of 8 billion values."""
    out = f16.with_name(f16.name.replace("-f16", "-q4_k_m"))
    _run([sys.executable, "-m", "tests.proof.shapes", str(f16), str(out)])
    return out


def _picture(model: Path, target: Path) -> str:
    _run([sys.executable, "-m", "tests.proof.picture", str(model), str(target)])
    return target.name


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[2:4])} ended with {done.stderr[-600:]}")


if __name__ == "__main__":
    sys.exit(main())
