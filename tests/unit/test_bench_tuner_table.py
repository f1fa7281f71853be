"""The tuner's table: recording it on a made-up engine, its file, and what it says."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.experiments.experiment import Subject
from app.experiments.measuring import Measured
from app.experiments.player import Progressed
from app.experiments.port import EnginePort
from engine_bridge.protocol import Applied
from engine_bridge.settings.config import EngineConfig
from tests.bench import tuner_recording, tuner_table
from tests.bench.tuner_recording import Wanted, record
from tests.bench.tuner_table import Domain, Table, TableError
from tests.unit.experiments.fake_port import FakeEngine, FakePort, requests_sent
from tests.unit.experiments.made_up import SMALL, SUBJECT, Listener, small_runner
from tests.unit.made_table import BASE, made_table

_DOMAIN: Domain = {"slots": (1, 2), "threads": (1, 2)}
_ROUNDS = 3


def by_threads(config: EngineConfig) -> FakeEngine:
    step_s = 0.03 if config.threads == "auto" else 0.03 / config.threads
    return FakeEngine(step_s=lambda streams: step_s)


class Counting:
    """A runner that counts its runs, and is killed in the middle of one."""

    def __init__(self, killed_after: int | None = None) -> None:
        self.runs = 0
        self._runner = small_runner()
        self._killed_after = killed_after

    def warm_up(self, port: EnginePort) -> None:
        self._runner.warm_up(port)

    def run(
        self,
        port: EnginePort,
        applied: Applied,
        *,
        variant: int = 0,
        progressed: Progressed | None = None,
    ) -> Measured:
        if self.runs == self._killed_after:
            raise KeyboardInterrupt
        self.runs += 1
        return self._runner.run(port, applied, variant=variant, progressed=progressed)


def recorded(
    path: Path,
    runner: Counting | None = None,
    *,
    rounds: int = _ROUNDS,
    subject: Subject = SUBJECT,
    domain: Domain = _DOMAIN,
    is_anew: bool = False,
    said: list[str] | None = None,
) -> Table:
    return record(
        FakePort(by_threads), Wanted(BASE, domain, rounds, SMALL), subject, path, Listener(),
        is_anew=is_anew, runner=runner or Counting(),
        say=print if said is None else said.append,
    )  # fmt: skip


# --- Recording ------------------------------------------------------------------------------


def test_that_every_combination_is_measured_in_every_round_and_kept(tmp_path: Path) -> None:
    path, runner = tmp_path / "table.json", Counting()
    table = recorded(path, runner)
    assert (runner.runs, table.runs, len(table.ranked)) == (12, 12, 4)
    assert table.is_complete
    assert tuner_table.read_complete(path) == table
    assert table.ranked[0][0] == BASE.with_values({"slots": 2, "threads": 2})


def test_that_what_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    with pytest.raises(KeyboardInterrupt):
        recorded(path, Counting(killed_after=7))
    cut = tuner_table.read(path)
    assert (cut.runs, cut.is_complete) == (7, False)
    with pytest.raises(TableError, match="not complete; --only table goes on"):
        tuner_table.read_complete(path)
    rest = Counting()
    table = recorded(path, rest)
    assert (rest.runs, table.runs) == (5, 12)
    before = {cell.name: cell.runs for cell in cut.experiment.cells}
    for cell in table.experiment.cells:
        assert cell.runs[: len(before[cell.name])] == before[cell.name]


def test_that_a_complete_table_is_used_as_it_is_and_more_rounds_are_added(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    table = recorded(path)
    again, more = Counting(), Counting()
    assert recorded(path, again).experiment == table.experiment
    assert recorded(path, more, rounds=_ROUNDS + 2).runs == 20
    assert (again.runs, more.runs) == (0, 8)


@pytest.mark.parametrize(
    ("subject", "domain", "why"),
    [
        (msgspec.structs.replace(SUBJECT, model_sha256="cd" * 32), _DOMAIN, "model"),
        (msgspec.structs.replace(SUBJECT, machine="another"), _DOMAIN, "machine"),
        (msgspec.structs.replace(SUBJECT, engine="another"), _DOMAIN, "engine"),
        (SUBJECT, {"slots": (1, 4), "threads": (1, 2)}, "combinations"),
    ],
)
def test_that_runs_of_something_else_are_not_mixed_in(
    tmp_path: Path, subject: Subject, domain: Domain, why: str
) -> None:
    path, said, runner = tmp_path / "table.json", list[str](), Counting()
    recorded(path)
    table = recorded(path, runner, subject=subject, domain=domain, said=said)
    assert (runner.runs, table.runs) == (12, 12)
    assert len(said) == 1
    assert why in said[0]


def test_that_a_table_is_recorded_anew_where_that_is_wanted(tmp_path: Path) -> None:
    path, said, runner = tmp_path / "table.json", list[str](), Counting()
    recorded(path)
    recorded(path, runner, is_anew=True, said=said)
    assert (runner.runs, said) == (12, [])


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_that_a_file_cut_off_is_said_and_recorded_anew(tmp_path: Path, share: float) -> None:
    path, said, runner = tmp_path / "table.json", list[str](), Counting()
    recorded(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(TableError, match="cannot be read"):
        tuner_table.read(path)
    recorded(path, runner, said=said)
    assert runner.runs == 12
    assert "recorded anew" in said[0]


def test_that_combinations_which_rules_forbid_are_skipped_with_the_reason(tmp_path: Path) -> None:
    domain: Domain = {"flash_attn": ("off", "on"), "cache_type_v": ("f16", "q8_0")}
    table = recorded(tmp_path / "table.json", domain=domain)
    (skipped,) = (cell for cell in table.experiment.cells if cell.skipped)
    assert "needs flash attention" in skipped.skipped
    assert (len(table.ranked), table.runs) == (3, 9)


def test_that_the_real_table_has_60_configurations_that_all_can_run_and_fit() -> None:
    base = tuner_recording.base_config(Path("/m.gguf"))
    cells = tuner_recording.combinations(base, tuner_recording.DOMAIN)
    assert len(cells) >= 60
    assert not any(cell.skipped for cell in cells)
    assert base.slot_cap_tok >= tuner_recording.WORK.needed_ctx_tok()
    # More slots than users would be told apart from as many by nothing.
    assert max(cell.config.slots for cell in cells) <= tuner_recording.WORK.users
    tuner_recording.WORK.check()


def test_that_the_warm_up_is_a_few_short_prompts() -> None:
    port = FakePort()
    port.apply(BASE)
    runner = tuner_recording.ShortRunner()
    runner.warm_up(port)
    # The first asks how many characters a token has.
    _, *asked = requests_sent(port)
    assert 0 < len(asked) < tuner_recording.WORK.users
    assert {command.max_new_tok for command in asked} == {2}


def test_that_shares_are_those_of_the_best_median() -> None:
    table = made_table()
    best, worst = table.ranked[0], table.ranked[-1]
    assert best[1] == pytest.approx(48.0)
    assert table.share_of_best(worst[0]) == pytest.approx(20 / 48)
    assert table.share_of_best(BASE.with_values({"slots": 16})) == 0.0


# --- What a table says ----------------------------------------------------------------------


def test_that_a_table_tells_its_spread_and_what_can_be_told_apart() -> None:
    quiet = tuner_table.as_json(made_table(noise=0.001))
    loud = tuner_table.as_json(made_table(noise=0.5))
    assert quiet["median_spread_share"] < 0.01 < loud["median_spread_share"]
    assert loud["pairs_told_apart_share"] < quiet["pairs_told_apart_share"]
    # With one thread slots change nothing; all other pairs differ.
    assert quiet["pairs_told_apart_share"] == pytest.approx(5 / 6)
    assert quiet["best"]["name"] == "slots=2, threads=2"
    assert (quiet["configurations"], quiet["runs"]) == (4, 16)
    text = "\n".join(tuner_table.lines(quiet))
    assert "slots=2, threads=2" in text
    assert "83 % of all pairs" in text


def test_that_runs_disturbed_are_counted() -> None:
    table = made_table()
    cells = list(table.experiment.cells)
    cells[1] = msgspec.structs.replace(cells[1], disturbed=("Loud.", "", "", "Loud."))
    loud = Table(table.domain, msgspec.structs.replace(table.experiment, cells=tuple(cells)))
    assert tuner_table.as_json(loud)["disturbed_runs"] == 2
