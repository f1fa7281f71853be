"""What was measured, between the engine's events, the disk and whoever asks for predictions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.exceptions import capture_exceptions
from pytestqt.qtbot import QtBot

from app.measurements import Measurements
from app.prediction_words import tpot_ghost, ttft_ghost
from app.storage.measurement_store import Found, MeasurementStore
from app.storage.storage_error import StorageError
from engine_bridge.metrics.ghost import Ghost
from engine_bridge.metrics.observations import MOST, Observation, RunSettings
from engine_bridge.metrics.prediction import Estimate, Predictor, Unmeasured
from engine_bridge.protocol import (
    DeviceFacts,
    Hello,
    RequestFinished,
    RequestStarted,
    RequestTiming,
    TokensDelivered,
)
from engine_bridge.settings.config import EngineConfig
from tests.unit import fake_client
from tests.unit.fake_client import FakeClient, model_facts

NOW_S = 1_800_000_000.0
PLAIN = RunSettings(2, 2, 512, flash_attn=True, placement="0 layers")
PATIENCE_MS = 20_000
HELLO = Hello(
    1, 1, 0, "0.3", "", (DeviceFacts("CPU", "a processor", "cpu", "CPU", 1, 1 << 30),), False
)

Make = Callable[..., Measurements]


def observation(n: int = 0, seconds: float = 1.0) -> Observation:
    settings = msgspec.structs.replace(PLAIN, ubatch_tok=n + 1)
    return Observation("prefill", settings, seconds, 800, 0, at_s=NOW_S + n)


def read_alone(client: FakeClient, request_id: int = 1, prompt_tok: int = 800) -> None:
    timing = RequestTiming(0.0, 2.0, 2.0, None, None, None, prompt_tok, 0, 1)
    for event in (
        RequestStarted(request_id, 0, prompt_tok, 0, "", 0),
        TokensDelivered(request_id, "a", (5,), (1,), 6),
        RequestFinished(request_id, "end", "", timing, prompt_tok),
    ):
        client.event_received.emit(event)


def load(client: FakeClient, name: str = "Toy") -> None:
    facts = model_facts(name=name)
    client.event_received.emit(fake_client.applied(EngineConfig(), model=facts))


@pytest.fixture
def client(qapp: QApplication) -> FakeClient:
    return FakeClient()


@pytest.fixture
def make(client: FakeClient) -> Iterator[Make]:
    made = []

    def make_(store: MeasurementStore | None = None) -> Measurements:
        made.append(Measurements(client.event_received, store, clock=lambda: NOW_S))
        return made[-1]

    yield make_
    for each in made:
        each.close()


def asked(measurements: Measurements, qtbot: QtBot) -> Predictor:
    """The predictor of everything that was measured so far."""
    with qtbot.waitSignal(measurements.changed, timeout=PATIENCE_MS):
        measurements.predictor()
    found = measurements.predictor()
    assert found is not None
    return found


def prefill_s(predictor: Predictor) -> float:
    found = predictor.prefill(PLAIN, 800)
    assert isinstance(found, Estimate), found
    return found.seconds


# --- On the disk --------------------------------------------------------------------------


def test_that_measurements_come_back_from_the_disk(tmp_path: Path) -> None:
    store = MeasurementStore(tmp_path / "measurements")
    assert store.read("here", "toy") == Found()
    written = (observation(1), observation(2, seconds=2.5))
    store.write("here", "toy", written)
    assert store.read("here", "toy") == Found(written)
    assert store.read("there", "toy") == Found()
    assert store.read("here", "other") == Found()


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"\xff\x00", b'{"version":2}', b'{"version":1,"observations":[{"work":"x"}]}',
        b'{"version":1,"observations":[],"more":1}', b" " * 500_000,
    ],
)  # fmt: skip
def test_that_a_damaged_file_is_a_sentence_and_a_new_beginning(
    tmp_path: Path, content: bytes
) -> None:
    store = MeasurementStore(tmp_path)
    store.write("here", "toy", [observation()])
    (tmp_path / "here-toy.json").write_bytes(content)
    found = store.read("here", "toy")
    assert found.observations == ()
    assert "here-toy.json" in found.sentence
    assert "begin anew" in found.sentence
    store.write("here", "toy", [observation()])
    assert store.read("here", "toy").observations == (observation(),)


@pytest.mark.parametrize("seconds", [0.0, -1.0, 1e99])
def test_that_impossible_times_are_a_damaged_file(tmp_path: Path, seconds: float) -> None:
    store = MeasurementStore(tmp_path)
    store.write("here", "toy", [observation()])
    path = tmp_path / "here-toy.json"
    path.write_bytes(path.read_bytes().replace(b'"seconds":1.0', b'"seconds":%g' % seconds))
    assert store.read("here", "toy").observations == ()
    assert store.read("here", "toy").sentence


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes in folders")
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_that_what_has_no_end_is_not_waited_for(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "here-toy.json"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    assert "it is no file" in MeasurementStore(tmp_path).read("here", "toy").sentence


def test_that_files_and_their_number_stay_small(tmp_path: Path) -> None:
    store = MeasurementStore(tmp_path)
    store.write("here", "toy", [observation(n) for n in range(MOST + 9)])
    kept = store.read("here", "toy").observations
    assert [kept[0], kept[-1]] == [observation(9), observation(MOST + 8)]
    assert (tmp_path / "here-toy.json").stat().st_size < 100_000
    os.utime(tmp_path / "here-toy.json", (1, 1))
    for n in range(64):
        store.write("here", f"model{n}", [observation()])
    assert len(list(tmp_path.iterdir())) == 64
    assert not (tmp_path / "here-toy.json").exists()


def test_that_a_disk_that_cannot_be_read_is_told_from_nothing(tmp_path: Path) -> None:
    (tmp_path / "here-toy.json").mkdir()
    with pytest.raises(StorageError):
        MeasurementStore(tmp_path).read("here", "toy")


# --- Learning -----------------------------------------------------------------------------


def test_that_each_answer_is_learnt_from_and_kept(
    make: Make, client: FakeClient, qtbot: QtBot, tmp_path: Path
) -> None:
    store = MeasurementStore(tmp_path)
    first = make(store)
    client.event_received.emit(HELLO)
    load(client)
    assert isinstance(asked(first, qtbot).prefill(PLAIN, 800), Unmeasured)
    read_alone(client)
    assert prefill_s(asked(first, qtbot)) == pytest.approx(2.0, rel=0.05)
    assert first.runs.prompt_tok == 800
    first.close()
    [path] = tmp_path.iterdir()
    # The next start knows it without any answer.
    second = make(store)
    client.event_received.emit(HELLO)
    load(client)
    qtbot.waitUntil(
        lambda: isinstance((found := second.predictor()) and found.prefill(PLAIN, 800), Estimate),
        timeout=PATIENCE_MS,
    )
    assert path.exists()


def test_that_models_are_not_mixed(make: Make, client: FakeClient, qtbot: QtBot) -> None:
    measurements = make()
    client.event_received.emit(HELLO)
    assert measurements.predictor() is None  # there is no model
    load(client, "one")
    read_alone(client)
    assert prefill_s(asked(measurements, qtbot)) > 0
    load(client, "other")
    assert measurements.predictor() is None
    assert isinstance(asked(measurements, qtbot).prefill(PLAIN, 800), Unmeasured)


def test_that_a_fit_that_fails_is_told_and_the_next_measurement_is_another_try(
    make: Make, client: FakeClient, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    measurements = make()
    client.event_received.emit(HELLO)
    load(client)
    tries: list[int] = []

    def fail(_self: Predictor, *_: object) -> None:
        tries.append(1)
        raise ValueError("no such fit")

    with monkeypatch.context() as patched, capture_exceptions() as raised:
        patched.setattr(Predictor, "__init__", fail)
        assert measurements.predictor() is None
        qtbot.waitUntil(lambda: bool(raised), timeout=PATIENCE_MS)
        assert measurements.predictor() is None
    assert [str(found[1]) for found in raised] == ["no such fit"]
    assert len(tries) == 1
    read_alone(client)
    assert prefill_s(asked(measurements, qtbot)) == pytest.approx(2.0, rel=0.05)


def test_that_a_damaged_file_is_noted(
    make: Make, client: FakeClient, qtbot: QtBot, tmp_path: Path
) -> None:
    store = MeasurementStore(tmp_path)
    first = make(store)
    client.event_received.emit(HELLO)
    load(client)
    read_alone(client)
    first.close()
    [path] = tmp_path.iterdir()
    path.write_bytes(b"nonsense")
    second = make(store)
    client.event_received.emit(HELLO)
    with qtbot.waitSignal(second.noted, timeout=PATIENCE_MS) as told:
        load(client)
    assert "cannot be used" in told.args[0]


def test_that_a_folder_that_cannot_be_written_ends_quietly(
    make: Make, client: FakeClient, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"")
    measurements = make(MeasurementStore(tmp_path / "file"))
    client.event_received.emit(HELLO)
    load(client)
    read_alone(client)
    measurements.close()
    assert (tmp_path / "file").read_bytes() == b""


# --- Words --------------------------------------------------------------------------------


def test_that_a_prediction_says_of_what_it_is_and_what_is_now() -> None:
    then, now = Estimate(1.2, (1.2 / 1.15, 1.2 * 1.15), 0.0), Estimate(0.9, (0.8, 1.0), 0.0)
    ghost = ttft_ghost(then, now, 812)
    assert ghost.text == ("predicted 0.90 → 1.20 s ±15 % · for 812 tok, none cached")
    assert (ghost.seconds, ghost.band_s) == (1.2, then.band_s)
    of_two = tpot_ghost(Estimate(0.0321, (0.03, 0.0345), 0.0), now, 2, 1204.4)
    assert of_two.text == ("predicted 900 → 32.1 ms ±7 % · for 2 streams at 1,204 tok")
    alone = tpot_ghost(then, Unmeasured("x"), 1, 10)
    assert alone.text == "predicted 1,200 ms ±15 % · for 1 stream at 10 tok"


def test_that_a_prediction_says_what_of_the_prompt_is_cached_and_what_a_change_loses() -> None:
    """A newcomer: it was for all 2,000 tokens, while a turn of theirs reads 30."""
    then, now = Estimate(1.2, (1.2 / 1.15, 1.2 * 1.15), 0.0), Unmeasured("x")
    assert ttft_ghost(then, now, 37, 1024).text == (
        "predicted 1.20 s ±15 % · for 37 tok after 1,024 cached"
    )
    assert ttft_ghost(then, now, 37, 1024, is_lost=True).text == (
        "predicted 1.20 s ±15 % · for 37 tok after 1,024 cached · "
        "the first turn after Apply reads all 1,061"
    )


def test_that_a_wide_band_is_said_by_its_ends_and_no_number_is_made_up() -> None:
    wide = Estimate(1.0, (0.55, 1.9), 5.0)
    assert ttft_ghost(wide, wide, 1000).text == (
        "predicted 1.00 → (0.55 to 1.90 s) · for 1,000 tok, none cached"
    )
    none = ttft_ghost(Unmeasured("no prompt was read by this model here"), wide, 9)
    assert none.seconds is None
    assert none.text == "predicted: not measured yet · no prompt was read by this model here"


def test_that_a_hopeless_band_is_no_prediction() -> None:
    hopeless, good = Estimate(1.77, (0.28, 11.1), 0.0), Estimate(1.57, (1.4, 1.76), 0.0)
    for ghost in (ttft_ghost(hopeless, good, 1000), tpot_ghost(hopeless, good, 2, 1000)):
        assert ghost == Ghost(text="not predicted: too few or too uneven answers yet")
    # Nor is a hopeless value of the present settings held against a good one.
    assert ttft_ghost(good, hopeless, 9).text == "predicted 1.57 s ±12 % · for 9 tok, none cached"
    twice = Estimate(1.0, (0.5001, 1.9996), 0.0)
    assert ttft_ghost(twice, good, 9).seconds == 1.0
