"""``python -m tests.bench.probe``: what a probe reads at ``llama-server``, against its own clock.

Gemma, one user and two at a time; every answer's TPOT by the probe over that by the server's own
timings of the same answer. Writes ``build/bench/probe.json`` and prints a table.
"""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Sequence

import msgspec

from app.experiments.conditions import Conditions
from app.experiments.lengths import Fixed
from app.experiments.measuring import measured_run
from app.experiments.probe import salted
from app.experiments.probe_greeting import greet
from app.experiments.probe_port import ServerPort
from app.experiments.scripting import sample_text, scripts_of
from app.experiments.server_address import address_of
from app.experiments.server_answer import Answer, timing_of
from app.experiments.workload import Material, Workload
from tests import models
from tests.bench import llama_server, machine, report
from tests.bench.peer import ServerProcess, layout_arguments
from tests.bench.work import Layout

RUNS = 5
TARGET = 0.05
"""How far the median TPOT may be from the server's own."""

_WORK = Workload(
    name="probe", material=Material.PROSE, prompt_tok=Fixed(64), answer_tok=Fixed(48), requests=2
)


def measure(port: ServerPort, users: int, runs: int) -> list[Answer]:
    """The answers of ``runs`` runs; those of a warm-up are thrown away."""
    workload = msgspec.structs.replace(_WORK, users=users, requests=2 * users)
    scripts = scripts_of(workload, greet(port, "", sample_text(workload)).tok_per_char)
    answers: list[Answer] = []
    with Conditions(0) as conditions:
        for run in range(runs + 1):
            measured_run(
                port, salted(scripts, f"Run {users} {run}."), workload, conditions,
                peak_bytes_per_s=None,
            )  # fmt: skip
            answers += port.take_answers() if run else ()
            port.take_answers()
    return answers


def ratios_of(answers: Sequence[Answer]) -> list[float]:
    """The probe's TPOT over the server's, of each answer."""
    found = []
    for answer in answers:
        mine_s = timing_of(answer, 0).tpot_s
        if mine_s is not None and answer.timings is not None and answer.timings.tpot_s is not None:
            found.append(mine_s / answer.timings.tpot_s)
    return found


def main() -> int:
    """Measure, print, write; 1 where the probe is too far off."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    threads = max(1, len(os.sched_getaffinity(0)))
    layout = Layout(models.find_gemma(), slots=2, ctx_per_slot_tok=1024, threads=threads)
    server = ServerProcess(llama_server.build(), layout_arguments(layout))
    content: dict[str, object] = {"machine": machine.describe(), "threads": threads}
    is_met = True
    try:
        with ServerPort(address_of(f"127.0.0.1:{server.port}")) as port:
            for users in (1, 2):
                answers = measure(port, users, runs)
                ratios = ratios_of(answers)
                middle = statistics.median(ratios)
                low, high = min(ratios), max(ratios)
                is_met = is_met and abs(middle - 1) <= TARGET
                tpots_s = [a.timings.tpot_s or 0.0 for a in answers if a.timings is not None]
                print(
                    f"{users} at a time: the server's TPOT {statistics.median(tpots_s) * 1e3:.2f} "
                    f"ms; probe / server {middle:.4f} ({low:.4f} to {high:.4f}, {len(ratios)} "
                    f"answers, {sum(a.new_tok for a in answers)} tokens in "
                    f"{sum(len(a.step_ns) for a in answers)} chunks)"
                )
                content[f"users_{users}"] = {"ratio": middle, "ratios": ratios, "tpot_s": tpots_s}
    finally:
        server.close()
    print(f"target: within {TARGET:.0%}: {'met' if is_met else 'missed'}")
    report.write(llama_server.LINK.parent / "probe.json", content)
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
