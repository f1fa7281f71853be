"""``tunedeck bench`` as it is typed, on a real engine with a tiny model."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import psutil
import pytest

from app.experiments.experiment import Experiment, State

pytestmark = pytest.mark.engine

_ROOT = Path(__file__).resolve().parents[2]
_QUICK = ("prompt_tok=48", "answer_tok=12", "requests=4", "users=2")
_TIMEOUT_S = 120.0


def words(model: Path, *more: str, quick: bool = True) -> list[str]:
    """The command line of a small bench."""
    work = [word for value in _QUICK for word in ("--set-workload", value)] if quick else []
    return [
        sys.executable, "-m", "app", "bench", str(model), "--workload", "batch", *work,
        "--set", "slots=2", "--set", "threads=1", *more,
    ]  # fmt: skip


def run(
    model: Path, environment: dict[str, str], *more: str, quick: bool = True
) -> subprocess.CompletedProcess[str]:
    """Type it and wait."""
    return subprocess.run(
        words(model, *more, quick=quick), cwd=_ROOT, env=environment, capture_output=True,
        text=True, timeout=_TIMEOUT_S, check=False,
    )  # fmt: skip


def test_that_a_bench_is_measured_printed_and_kept(
    tiny_chat_path: Path, environment: dict[str, str]
) -> None:
    done = run(tiny_chat_path, environment, "--runs", "2", "--json")
    assert done.returncode == 0, done.stderr
    experiment = msgspec.json.decode(done.stdout, type=Experiment)
    assert experiment.state is State.DONE
    (cell,) = experiment.cells
    assert cell.config == {"slots": 2, "threads": 1}
    assert len(cell.runs) == 2
    for figures in cell.runs:
        assert (figures.requests, figures.failed, figures.new_tok) == (4, 0, 48)
        assert figures.reused_share is not None
        for key in ("ttft_s", "tpot_s", "itl_p99_s", "prefill_tok_s", "total_tok_s",
                    "decode_tok_s", "owned_bytes", "mbu"):  # fmt: skip
            assert (getattr(figures, key) or 0) > 0, key
    assert len(experiment.subject.model_sha256) == 64
    assert experiment.subject.model_bytes == tiny_chat_path.stat().st_size
    assert "llama-cpp-python" in experiment.subject.engine
    # Progress, a line a part, goes to whoever watches.
    planned, *parts = done.stderr.splitlines()
    assert planned.startswith("Planned: a warm-up and 2 runs, ")
    assert [line.split("  ")[1].split(" ·")[0] for line in parts][-2:] == [
        "Run 1 of 2", "Run 2 of 2",
    ]  # fmt: skip
    folder = Path(environment["XDG_DATA_HOME"]) / "tunedeck" / "history"
    assert experiment.key in kept_keys(folder)


def kept_keys(folder: Path) -> list[str]:
    """What the history holds."""
    from app.experiments.history_store import HistoryStore  # noqa: PLC0415 - closed here

    history = HistoryStore(folder)
    try:
        return [row.key for row in history.listing()]
    finally:
        history.close()


def test_that_people_get_a_table_of_eighty_columns(
    tiny_chat_path: Path, environment: dict[str, str]
) -> None:
    done = run(tiny_chat_path, environment, "--runs", "2", "--explain")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[2].split() == ["median", "±", "lowest", "highest"]
    for word in ("TTFT", "Total throughput", "MBU", "machine", "settings   slots=2, threads=1"):
        assert word in done.stdout
    assert "Time per output token" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--set-workload", "prompt_tok=90000"), "Set the context per slot to"),
        (("--set-workload", "text_path=empty.txt"), "empty.txt"),
        (("--runs", "0"), "takes 1 to 1,000 runs"),
        (("--workload", "chatt"), "chat"),
        (("--set", "slots=many"), "slots"),
    ],
)
def test_that_what_cannot_be_measured_is_a_sentence(
    tiny_chat_path: Path, environment: dict[str, str], tmp_path: Path, more: tuple[str, ...],
    said: str,
) -> None:  # fmt: skip
    (tmp_path / "empty.txt").write_text("")
    more = tuple(word.replace("empty.txt", str(tmp_path / "empty.txt")) for word in more)
    done = run(tiny_chat_path, environment, *more)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_that_a_model_that_is_not_there_is_a_sentence(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    done = run(tmp_path / "gone.gguf", environment)
    assert (done.returncode, done.stdout) == (1, "")
    assert "gone.gguf" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


@pytest.fixture
def long_bench(
    tiny_chat_path: Path, environment: dict[str, str]
) -> Iterator[subprocess.Popen[str]]:
    """A bench of very many runs, under way."""
    process = subprocess.Popen(
        words(tiny_chat_path, "--runs", "1000", "--json"), cwd=_ROOT, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    yield process
    process.kill()
    process.communicate()


def test_that_ctrl_c_keeps_what_was_measured(long_bench: subprocess.Popen[str]) -> None:
    assert long_bench.stderr is not None
    for line in long_bench.stderr:
        if "Run 2 of" in line:
            break
    children = psutil.Process(long_bench.pid).children()
    long_bench.send_signal(signal.SIGINT)
    out, err = long_bench.communicate(timeout=_TIMEOUT_S)
    assert long_bench.returncode == 130
    experiment = msgspec.json.decode(out, type=Experiment)
    assert experiment.state is State.STOPPED
    assert len(experiment.cells[0].runs) >= 1
    assert "kept" in err.splitlines()[-1]
    assert "Traceback" not in err
    assert children
    assert psutil.wait_procs(children, timeout=10.0)[1] == []
