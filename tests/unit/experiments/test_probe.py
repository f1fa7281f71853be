"""Whole probes of a made-up server, alone and beside a made-up engine, on a still machine."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from app import cli
from app.experiments.experiment import Experiment, Kind, State
from app.experiments.lengths import Fixed
from app.experiments.port import ConfigRefusedError, PortError
from app.experiments.probe import Beside, probe
from app.experiments.probe_port import ServerPort
from app.experiments.server_address import address_of
from app.experiments.server_process import process_of
from app.experiments.tables import experiment_lines
from app.experiments.workload import Material, Workload
from app.experiments.workload_error import WorkloadError
from app.storage.folders import own_folders
from tests.unit.experiments.fake_port import FakePort, config_with
from tests.unit.experiments.fake_server import MODEL, Behaviour, FakeServer, Reply, refusing, well
from tests.unit.experiments.made_up import Listener, still

WORK = Workload(
    name="toy", material=Material.CODE, prompt_tok=Fixed(60), answer_tok=Fixed(6), requests=4,
    turns=2, prefix_share=0.3, users=2, ttft_slo_s=60.0, tpot_slo_s=60.0,
)  # fmt: skip
_GREETINGS = 2  # requests before the warm-up


def probed(
    server: FakeServer,
    runs: int = 2,
    *,
    workload: Workload = WORK,
    listener: Listener | None = None,
    beside: Beside | None = None,
    port: ServerPort | None = None,
) -> Experiment:
    with port or ServerPort(address_of(server.url)) as opened:
        return probe(
            opened, "", workload, listener or Listener(), runs, beside=beside, watch=still
        )  # fmt: skip


def notes_of(experiment: Experiment) -> str:
    return " ".join(experiment.cells[0].notes)


def with_timings(reply: Reply) -> None:
    for number in range(reply.most_tok):
        reply.delta(content=f" {number}")
    reply.delta("length")
    told = {"predicted_n": reply.most_tok, "predicted_ms": 1e6, "prompt_n": 50, "prompt_ms": 100}
    reply.event({"choices": [], "timings": told})
    reply.usage(reply.most_tok, prompt_tokens_details={"cached_tokens": 20})
    reply.done()


def without_usage(reply: Reply) -> None:
    for number in range(reply.most_tok):
        reply.delta(content=f" {number}")
    reply.delta("length")
    reply.done()


def two_a_chunk(reply: Reply) -> None:
    for number in range(0, reply.most_tok, 2):
        reply.delta(content=f" {number} {number + 1}")
    reply.delta("length")
    reply.usage(reply.most_tok, prompt_tok=30 + len(str(reply.body)) // 4)
    reply.done()


def thinks_and_stops(reply: Reply) -> None:
    reply.delta(reasoning_content="hm")
    reply.delta("stop", content="yes")
    reply.usage(2, prompt_tok=10 + len(str(reply.body)) // 4)
    reply.end()


def test_that_a_probe_is_kept_with_what_a_client_can_know() -> None:
    listener = Listener()
    with FakeServer() as server:
        found = probed(server, 3, listener=listener)
    assert (found.kind, found.state) == (Kind.PROBE, State.DONE)
    (cell,) = found.cells
    assert [run.requests for run in cell.runs] == [4, 4, 4]
    for run in cell.runs:
        assert None not in (run.ttft_s, run.tpot_s, run.itl_p99_s, run.total_tok_s, run.kept_share)
        unknown = (run.prefill_tok_s, run.decode_tok_s, run.mbu, run.owned_bytes, run.reused_share)
        assert unknown == (None,) * 5
        assert run.new_tok == 24
    assert found.subject.model == MODEL
    assert found.subject.model_path == f"{server.url}/v1"
    assert found.subject.engine == "fake b1"
    assert [len(each.cells[0].runs) for each in listener.kept_ones] == [1, 2, 3, 3]


def test_that_the_warm_up_and_the_greeting_are_in_no_run() -> None:
    with FakeServer() as server:
        probed(server, 2)
        assert len(server.bodies) == _GREETINGS + 3 * WORK.requests


def test_that_no_run_begins_like_another_and_its_conversations_share_their_beginning() -> None:
    with FakeServer() as server:
        probed(server, 2)
        openings = [body["messages"][0]["content"][:20] for body in server.bodies[_GREETINGS:]]
    runs = [openings[n : n + WORK.requests] for n in range(0, len(openings), WORK.requests)]
    assert [len(set(run)) for run in runs] == [1, 1, 1]
    assert len({run[0] for run in runs}) == 3


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (well, "Tokens are counted by the server (usage): 48 in 48 chunks."),
        (two_a_chunk, "48 in 24 chunks. Some chunks hold several, so ITL is longer than TPOT."),
        (without_usage, "each of its 48 chunks counts as one."),
        (without_usage, "The server does not count prompts, so their lengths are those of English"),
        (thinks_and_stops, "8 of 16 chunks were thoughts"),
        (thinks_and_stops, "8 of 8 answers ended without [DONE]."),
        (thinks_and_stops, "The answers had 16 of the 48 tokens that were asked for"),
        (with_timings, "The server's own clock says TPOT 200,000.00 ms and prefill 500 tok/s"),
    ],
)
def test_that_how_tokens_were_counted_is_said(behaviour: Behaviour, words: str) -> None:
    with FakeServer(behaviour) as server:
        found = probed(server)
    assert words in notes_of(found)
    assert words.split(maxsplit=1)[0] in "\n".join(experiment_lines(found))


def test_that_the_server_s_own_figures_are_kept_beside() -> None:
    with FakeServer(with_timings) as server:
        found = probed(server)
    extra = found.cells[0].extra
    assert extra["server_tpot_s"] == pytest.approx(1e3 / 5)  # five gaps between six tokens
    assert 0 < extra["tpot_by_server_tpot"] < 1
    assert found.cells[0].runs[0].reused_share == pytest.approx(0.5)
    printed = "\n".join(experiment_lines(found))
    assert "Server prefill" in printed
    assert "settings" not in printed  # a server's are unknown


def test_that_a_path_that_a_server_calls_its_model_by_is_not_kept() -> None:
    with FakeServer(models=("/models/secret/Toy-Q4.gguf",)) as server:
        found = probed(server)
        assert server.bodies[-1]["model"] == "/models/secret/Toy-Q4.gguf"
    assert found.subject.model == "Toy-Q4.gguf"
    assert "secret" not in msgspec.json.encode(found).decode()


def test_that_an_engine_beside_takes_turns_and_gets_the_same() -> None:
    engine = FakePort()
    listener = Listener()
    with FakeServer() as server:
        config = config_with(slots=2)
        found = probed(server, 6, listener=listener, beside=Beside(engine, config))
    order = [sentence.rsplit(": ")[-1][:8] for _, sentence, _ in listener.told]
    sides = [name for name, _ in itertools.groupby(order)]
    assert len(found.cells) == 2
    server_cell, own = found.cells
    assert own.name == "embedded engine, slots=2"
    assert len(server_cell.runs) == len(own.runs) == 6
    assert own.runs[0].owned_bytes is not None
    # Back and forth: every second change is none.
    assert sides.count("embedded") == 4
    assert {message["content"][:4] for body in server.bodies[_GREETINGS:]
            for message in body["messages"][:1]} == {"Run "}  # fmt: skip
    assert "in TPOT" in found.conclusion[0]
    assert "6 pairs" in found.conclusion[0]
    assert "cannot be seen from here" in found.conclusion[-1]


def test_that_too_few_pairs_are_no_verdict() -> None:
    with FakeServer() as server:
        found = probed(server, 2, beside=Beside(FakePort(), config_with(slots=2)))
    assert "5 are needed to tell a difference" in found.conclusion[0]


def test_that_a_conversation_too_long_for_the_engine_beside_is_refused() -> None:
    long = msgspec.structs.replace(WORK, prompt_tok=Fixed(4000))
    with (
        FakeServer() as server,
        pytest.raises(ConfigRefusedError, match="Set the context per slot to"),
    ):
        probed(server, workload=long, beside=Beside(FakePort(), config_with(slots=2)))


def test_that_a_server_that_breaks_later_leaves_the_runs_before() -> None:
    with FakeServer() as server:

        def behaviour(reply: Reply) -> None:
            is_late = len(server.bodies) > _GREETINGS + 2 * WORK.requests
            (refusing(401, {}) if is_late else well)(reply)

        server.behaviour = behaviour
        found = probed(server, 3)
    assert (found.state, len(found.cells[0].runs)) == (State.FAILED, 1)
    assert "wants a key" in found.failure


def test_that_failed_requests_are_counted_and_told() -> None:
    numbers = itertools.count()

    def sometimes(reply: Reply) -> None:
        if next(numbers) % 3 == 2:
            reply.status(500, {"error": {"message": "made up"}})
        else:
            well(reply)

    with FakeServer(sometimes) as server:
        found = probed(server)
    assert found.state is State.DONE
    assert sum(run.failed for run in found.cells[0].runs) > 0
    assert "did not end as asked for" in notes_of(found)


def test_that_a_server_that_answers_nothing_is_no_experiment() -> None:
    with FakeServer() as server:

        def behaviour(reply: Reply) -> None:
            (refusing(500, {}) if len(server.bodies) > _GREETINGS else well)(reply)

        server.behaviour = behaviour
        listener = Listener()
        with pytest.raises(PortError, match="HTTP 500"):
            probed(server, listener=listener)
    assert not listener.kept_ones


def test_that_a_stop_keeps_what_was_measured() -> None:
    with FakeServer() as server:
        port = ServerPort(address_of(server.url))
        listener = Listener(port.stop, after=2)
        found = probed(server, 5, listener=listener, port=port)
    assert (found.state, len(found.cells[0].runs)) == (State.STOPPED, 2)


@pytest.mark.parametrize("runs", [0, 1001])
def test_that_a_number_of_runs_that_cannot_be_is_refused(runs: int) -> None:
    with FakeServer() as server, pytest.raises(WorkloadError, match="1 to 1,000 runs"):
        probed(server, runs)


def test_that_the_process_of_a_server_here_is_found_and_of_one_elsewhere_is_not() -> None:
    with FakeServer() as server:
        assert process_of(address_of(server.url)) == os.getpid()
        url = server.url
    assert process_of(address_of(url)) is None
    assert process_of(address_of("http://192.0.2.1:80")) is None


# --- The command line -------------------------------------------------------------------


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], bytes]:
    """Folders of its own; gives all that was written there."""
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    def written() -> bytes:
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        return b"".join(path.read_bytes() for path in files)

    return written


_SHORT = ("--set-workload", "requests=2", "--set-workload", "turns=1", "--set-workload",
          "answer_tok=4", "--set-workload", "think_s=0", "--runs", "2")  # fmt: skip


def test_that_the_command_prints_a_table_and_keeps_it_but_no_key(
    history: Callable[[], bytes], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("MINE", "k3y-value")
    with FakeServer() as server:
        assert cli.main(["probe", server.url, *_SHORT, "--api-key-env", "MINE"]) == 0
        assert set(server.keys) == {"Bearer k3y-value"}
    printed = capsys.readouterr()
    assert "TTFT" in printed.out
    assert "counted by the server (usage)" in printed.out
    assert b"k3y-value" not in history()
    assert b"probe" in history()
    assert "k3y-value" not in printed.out + printed.err
    assert own_folders().history.exists()


def test_that_json_is_the_whole_experiment(
    history: Callable[[], bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    with FakeServer() as server:
        words = ["probe", server.url, *_SHORT, "--concurrency", "2", "--json"]
        assert cli.main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["state"]) == ("probe", "done")
    assert json.loads(found["workload"])["users"] == 2
    assert len(found["cells"][0]["runs"]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["http://me:pw@host"], "takes no user"),
        (["ftp://host"], "is no address"),
        (["localhost:1", "--runs", "0"], "A probe takes 1 to 1,000 runs"),
        (["localhost:1", "--concurrency", "0"], "--concurrency is from 1"),
        (["localhost:1", "--set", "slots=2"], "--set is for the engine of --beside"),
        (["localhost:1", "--beside", "gone.gguf"], "There is no file gone.gguf"),
        (["localhost:1", "--beside", "m.gguf", "--set", "slot=2"], "Did you mean 'slots'?"),
        (["localhost:1", "--api-key-env", "NOT_THERE"], "has no variable NOT_THERE"),
        (["localhost:1", "--wait", "0"], "--wait is above 0"),
        (["localhost:1", "--workload", "cat"], "chat"),
        (["localhost:1", "--set-workload", "rate_req_s=2", "--concurrency", "2"], "has a rate"),
    ],
)  # fmt: skip
def test_that_wrong_words_are_told_before_anything_is_asked(
    words: list[str], said: str, history: Callable[[], bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["probe", *words]) == 1
    printed = capsys.readouterr()
    assert said in printed.err
    assert not printed.out
    assert not history()


def test_that_a_server_that_is_not_there_is_one_sentence(
    history: Callable[[], bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    with FakeServer() as server:
        url = server.url
    assert cli.main(["probe", url, *_SHORT]) == 1
    printed = capsys.readouterr()
    assert "Nothing listens at" in printed.err
    assert "Traceback" not in printed.err
    assert not printed.out
