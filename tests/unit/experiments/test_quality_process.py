"""The process that compares, played by scripts of a few lines."""

from __future__ import annotations

import sys
import threading

import psutil
import pytest

from app.experiments.port import PortError, StoppedError
from app.experiments.quality_process import QualityProcess
from engine_bridge.quality_messages import QualityDone, QualityProgressed, QualityRequest
from engine_bridge.settings.config import EngineConfig

CONFIG = EngineConfig(model_path="/models/some.gguf")
REQUEST = QualityRequest(CONFIG, CONFIG.with_values({"cache_type_k": "q8_0"}), "word")
PROGRESS = 'print(\'{"type":"QualityProgressed","share":0.5,"sentence":"Reading"}\', flush=True)'


def played_by(script: str) -> QualityProcess:
    return QualityProcess((sys.executable, "-c", f"import sys, os\n{script}"))


def test_that_answers_come_in_order_up_to_the_last() -> None:
    process = played_by(f'{PROGRESS}\nprint(\'{{"type":"QualityDone"}}\')')
    assert list(process.answers(REQUEST)) == [QualityProgressed(0.5, "Reading"), QualityDone()]


def test_that_the_process_gets_the_request() -> None:
    script = (
        "import json\n"
        "text = json.loads(sys.stdin.readline())['text']\n"
        "print(json.dumps({'type': 'QualityRefused', 'message': text + ' came'}))"
    )
    with pytest.raises(PortError, match="word came"):
        list(played_by(script).answers(REQUEST))


def test_that_a_refusal_is_its_sentence() -> None:
    refused = '{"type":"QualityRefused","message":"The text is too short."}'
    with pytest.raises(PortError, match=r"^The text is too short\.$"):
        list(played_by(f"print('{refused}')").answers(REQUEST))


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal there")
def test_that_an_abort_is_a_sentence_with_the_last_words() -> None:
    script = "sys.stderr.write('GGML_ASSERT(type) failed\\n')\nsys.stderr.flush()\nos.abort()"
    with pytest.raises(PortError) as raised:
        list(played_by(script).answers(REQUEST))
    assert "compared q8_0/f16 on some.gguf" in str(raised.value)
    assert "GGML_ASSERT(type) failed" in str(raised.value)


def test_that_a_stop_ends_the_process() -> None:
    process = played_by(f"{PROGRESS}\nsys.stdin.read()")
    answers = process.answers(REQUEST)
    next(answers)
    pid = process.pid
    stopper = threading.Thread(target=process.stop)
    stopper.start()
    with pytest.raises(StoppedError):
        next(answers)
    stopper.join()
    assert not psutil.pid_exists(pid)


def test_that_nothing_is_started_after_a_stop() -> None:
    process = played_by("print('never')")
    process.stop()
    with pytest.raises(StoppedError):
        list(process.answers(REQUEST))


def test_that_whoever_listens_no_more_leaves_no_process() -> None:
    process = played_by(f"{PROGRESS}\nsys.stdin.read()")
    answers = process.answers(REQUEST)
    next(answers)
    pid = process.pid
    answers.close()  # type: ignore[attr-defined]
    assert not psutil.pid_exists(pid)


def test_that_a_program_that_is_not_there_is_a_sentence() -> None:
    with pytest.raises(PortError, match="could not be started"):
        list(QualityProcess(("/nowhere/at-all",)).answers(REQUEST))
