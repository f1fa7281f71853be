"""Records the table of the tuner's bench: all combinations of some settings, in rounds.

As a sweep does, in an order that lets drift hit all alike, and written down after every run: what
is killed goes on where it was. Runs of another machine, engine, model or workload are not mixed in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import msgspec

from app.experiments.experiment import Experiment, State, Subject
from app.experiments.grid import GridCell
from app.experiments.keys import begun_at, new_key
from app.experiments.lengths import Fixed
from app.experiments.measuring import Measured
from app.experiments.model_hash import ModelHashes
from app.experiments.player import Progressed
from app.experiments.port import EnginePort
from app.experiments.reporter import Reporter
from app.experiments.runner import Runner, WorkloadRunner
from app.experiments.subject import subject_of
from app.experiments.sweep import Sweep, sweep
from app.experiments.sweep_resume import begun, resumed
from app.experiments.workload import Material, Workload
from engine_bridge.gguf_file import read_model_facts
from engine_bridge.protocol import Applied, Hello
from engine_bridge.settings.config import EngineConfig, pad_context_tok
from engine_bridge.settings.domain import DomainError
from engine_bridge.settings.rules import errors_of
from tests.bench.tuner_table import MEASURE, Domain, Table, TableError, name_in, read, write

ROUNDS = 5
# All of them cost or bring something on two cores: more slots share the weights that a step reads,
# a quantised cache and flash attention take other kernels, and prompts that come together are read
# in one pass or in twelve.
DOMAIN: Domain = {
    "slots": (1, 2, 4, 8),
    "threads": (1, 2),
    "ubatch_tok": (32, 512),
    "flash_attn": ("off", "on"),
    "cache_type_k": ("f16", "q8_0"),
}
QUICK_DOMAIN: Domain = {"slots": (1, 4), "threads": (1, 2), "ubatch_tok": (32, 512)}
# One to three seconds a run on two cores: 64 combinations five times in a quarter of an hour.
WORK = Workload(
    name="table",
    material=Material.RECORDS,
    prompt_tok=Fixed(40),
    answer_tok=Fixed(6),
    requests=8,
    users=8,
)
_WARM_PROMPT_TOK, _WARM_ANSWER_TOK, _WARM_USERS = 16, 2, 2


def base_config(model_path: Path, work: Workload = WORK) -> EngineConfig:
    """The settings that do not vary."""
    ctx_tok = pad_context_tok(work.needed_ctx_tok())
    values = {"model_path": str(model_path), "ctx_per_slot_tok": ctx_tok, "temperature": 0.0}
    return EngineConfig.from_values(values)


def subject_here(hello: Hello, model_path: Path) -> Subject:
    """This machine, engine and model; hashes the model's file once.

    Raises:
        GgufError: If the file is no model.
    """
    path = str(model_path)
    return subject_of(hello, path, read_model_facts(path), ModelHashes().of(path))


def combinations(base: EngineConfig, domain: Domain) -> tuple[GridCell, ...]:
    """All of them, the last setting moving fastest; those that rules forbid say why."""
    found = []
    for values in product(*domain.values()):
        config = base.with_values(dict(zip(domain, values, strict=True)))
        broken = errors_of(config)
        found.append(GridCell(name_in(domain, config), config, broken[0].message if broken else ""))
    return tuple(found)


@dataclass(frozen=True)
class Wanted:
    """What is to be measured.

    Attributes:
        base: The settings that do not vary.
        domain: The settings that do.
        rounds: How often each combination is measured.
        work: What is run.
    """

    base: EngineConfig
    domain: Domain
    rounds: int = ROUNDS
    work: Workload = WORK


def record(
    port: EnginePort,
    wanted: Wanted,
    subject: Subject,
    path: Path,
    reporter: Reporter,
    *,
    is_anew: bool = False,
    runner: Runner | None = None,
    say: Callable[[str], object] = print,
) -> Table:
    """Measure what ``path`` has not yet, writing it after every run.

    Args:
        port: The engine.
        wanted: What is to be measured.
        subject: This machine, engine and model.
        path: The table's file.
        reporter: Told how far it is.
        is_anew: Measure all of it, whatever the file holds.
        runner: Runs the workload; one with a short warm-up by default.
        say: Told in a sentence why a file is not used.

    Raises:
        StorageError: If the file cannot be written.
        PortError: If the engine is of no use.
    """
    work, cells = wanted.work, combinations(wanted.base, wanted.domain)
    asked = Sweep(cells, MEASURE, wanted.rounds, seed=work.seed)
    experiment = None if is_anew else _to_go_on_with(path, asked, subject, work, say)
    if experiment is None:
        experiment = begun(
            asked, subject, work, key=new_key(), begun_at=begun_at(), title="Table of the tuner"
        )
    keeping = _Keeping(reporter, path, wanted.domain)
    if is_wanting(experiment, wanted.rounds):
        experiment = sweep(port, asked, runner or ShortRunner(work), keeping, experiment)
    return Table(wanted.domain, experiment)


def is_wanting(experiment: Experiment, rounds: int) -> bool:
    """Whether a run is missing, or what was disturbed was not yet repeated."""
    cells = [cell for cell in experiment.cells if not cell.skipped]
    return experiment.state is not State.DONE or any(len(cell.runs) < rounds for cell in cells)


def _to_go_on_with(
    path: Path, asked: Sweep, subject: Subject, work: Workload, say: Callable[[str], object]
) -> Experiment | None:
    """What the file holds of this very measurement."""
    if not path.exists():
        return None
    try:
        kept = read(path).experiment
        going_on = resumed(kept, asked, subject, work)
    except (TableError, DomainError) as error:
        say(f"The table is recorded anew. {error}")
        return None
    return going_on if is_wanting(kept, asked.rounds) else kept


class ShortRunner:
    """Runs a workload; warms up with two short prompts.

    Eight users' first prompts in full would take as long as a run of this table. The cache of a new
    context is cleared as it is made, so what is left to touch for the first time is little.
    """

    def __init__(self, work: Workload = WORK) -> None:
        """Run ``work``."""
        self._runner = WorkloadRunner(work)
        short = msgspec.structs.replace(
            work,
            prompt_tok=Fixed(_WARM_PROMPT_TOK),
            answer_tok=Fixed(_WARM_ANSWER_TOK),
            users=min(_WARM_USERS, work.users),
        )
        self._warm = WorkloadRunner(short)

    def warm_up(self, port: EnginePort) -> None:
        """Have the engine work a moment, see ``Runner``."""
        self._warm.warm_up(port)

    def run(
        self,
        port: EnginePort,
        applied: Applied,
        *,
        variant: int = 0,
        progressed: Progressed | None = None,
    ) -> Measured:
        """Run it once, see ``Runner``."""
        return self._runner.run(port, applied, variant=variant, progressed=progressed)


class _Keeping:
    """A reporter that writes the table after every run, so that a kill costs one of them."""

    def __init__(self, reporter: Reporter, path: Path, domain: Domain) -> None:
        self._reporter = reporter
        self._path = path
        self._domain = domain

    def progressed(self, share: float, sentence: str, left_s: float | None) -> None:
        self._reporter.progressed(share, sentence, left_s)

    def kept(self, experiment: Experiment) -> None:
        write(self._path, Table(self._domain, experiment))
        self._reporter.kept(experiment)
