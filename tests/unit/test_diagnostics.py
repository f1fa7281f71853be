"""A diagnostics file tells what runs here, and neither who, nor where, nor what was said."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pynvml
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.diagnostics import Situation, report_on, save, text_of
from app.greeting import greeting_of_new_engine
from app.redaction import Names, Redactor, names_here
from app.storage.storage_error import StorageError
from engine_bridge.hardware.identity import processor_name
from engine_bridge.hardware.nvidia import NvidiaReader
from engine_bridge.protocol import DeviceFacts, Hello
from engine_bridge.settings.config import EngineConfig
from tests.unit.fake_client import EMPTY_PLAN, applied, model_facts
from tests.unit.nvml_replay import Replay, rtx_3090
from widgets.log_line import LogLine, log_lines

# In pieces: no file of this project names a person's folder.
HOME, OTTO, OTTO_ON_A_MAC = "/" + "home/clara", "/" + "home/otto", "/" + "Users/otto"
ROOT = Path(__file__).resolve().parents[2]
NAMES = Names(
    homes=(HOME, "C:\\Users\\clara"),
    users=("Clara Müller", "clara", "cm"),
    hosts=("atlas.example.org", "atlas"),
    paths=(f"{HOME}/my models/Gemma 3.gguf",),
)
CHAT = "My aunt lives in Riga and paints lighthouses by night.\nShe sells them for 40 euros each."
SYSTEM_PROMPT = "You are the secretary of the Society for Slow Trains in Graz."
HELLO = Hello(
    2, 4711, 1, "0.3.36", "AVX2 = 1 | OPENMP = 1",
    (DeviceFacts("CUDA0", "NVIDIA H200", "gpu", "CUDA", 2**30, 2**37),), True,
)  # fmt: skip


def log_of(*texts: str) -> list[LogLine]:
    return [line for text in texts for line in log_lines(1_790_000_000.0, "info", "engine", text)]


@pytest.fixture
def situation() -> Situation:
    config = EngineConfig().with_values(
        {"slots": 8, "model_path": f"{HOME}/my models/Gemma 3.gguf"}
    )
    facts = model_facts(path=f"{HOME}/my models/Gemma 3.gguf", name="Gemma 3")
    return Situation(
        config=config, applied=applied(config, model=facts), plan=EMPTY_PLAN, hello=HELLO,
        state="ready",
        last_death=f"Ended by SIGSEGV while loading {HOME}/my models/Gemma 3.gguf.",
        log=log_of(
            f"opening {HOME}/my models/Gemma 3.gguf for clara on atlas.example.org",
            "token hf_aBcDeFgHiJkLmNoP is not valid",
            f"unexpected words in the prompt: {CHAT[:40]}",
            "n_ctx = 4096",
        ),
        conversations=(CHAT, SYSTEM_PROMPT),
    )  # fmt: skip


def whole(situation: Situation) -> str:
    report = report_on(situation, Redactor(NAMES, situation.conversations))
    return text_of(report) + json.dumps(report, ensure_ascii=False)


def test_that_the_report_tells_what_runs_here(situation: Situation) -> None:
    text = whole(situation)
    for told in (
        "SIGSEGV", "slots: 8", "AVX2 = 1", "NVIDIA H200", "0.3.36", "n_ctx = 4096", "Gemma 3.gguf",
        platform.python_version(), "PySide6-Essentials", "ctx_per_slot_tok", "NVIDIA driver",
        "made of it", "weights",
    ):  # fmt: skip
        assert told in text, told


def test_that_an_empty_list_is_told_by_the_word_that_it_has_as_a_setting(
    situation: Situation,
) -> None:
    """No device named is every device, and no share named is one by free memory."""
    text = whole(situation)
    assert "  devices: all\n" in text
    assert "  tensor_split: auto\n" in text
    assert "  override_tensor: none\n" in text
    assert "  spec_types: none\n" in text


def test_that_no_name_home_token_or_sentence_is_in_it(situation: Situation) -> None:
    text = whole(situation)
    for planted in (
        "clara", "Clara", "Müller", "/home/", "my models", "atlas", "example.org", "hf_aBc", "aunt",
        "Riga", "lighthouses", "Society", "Graz",
    ):  # fmt: skip
        assert planted not in text, planted
    assert "a line was left out: it repeats words of a conversation" in text


# Ways in which a name, a home or a secret comes to stand in a line.
@pytest.mark.parametrize(
    ("said", "told"),
    [
        (f"in {HOME}/x", "in ~/x"),
        (HOME, "~"),
        (f"file://{HOME}/a.txt", "file://~/a.txt"),
        ("C:\\Users\\clara\\x", "~\\x"),
        ("c:/users/Clara/x", "~/x"),
        ('{"path": "C:\\\\Users\\\\clara\\\\x"}', '{"path": "~\\\\x"}'),
        # Another one's home, and a folder whose name only begins alike.
        (f"{OTTO}/x and {OTTO_ON_A_MAC}/y", "/home/<user>/x and /Users/<user>/y"),
        ("D:\\Users\\otto\\x", "D:\\Users\\<user>\\x"),
        (f"{HOME}belle/x", "/home/<user>/x"),
        ("CLARA said", "<user> said"),
        ("Clara Müller said", "<user> said"),
        ("user=clara uid=clara_1", "user=<user> uid=<user>_1"),
        ("declarative and clarabelle", "declarative and clarabelle"),
        ("cm and CM and acme", "<user> and CM and acme"),
        ("Atlas:8080", "<host>:8080"),
        ("clara@atlas.example.org", "<address>"),
        ("https://otto:geheim@hub.test/x", "https://<user>@hub.test/x"),
        ("HF_TOKEN=hf_AbCdEfGhIjKl", "HF_TOKEN=<token>"),
        ("Authorization: Bearer abc.def-ghi_jkl", "Authorization: Bearer <token>"),
        ('"api_key": "0123456789abcdef"', '"api_key": "<token>"'),
        ("max_token = 4096 of 8192", "max_token = 4096 of 8192"),
        ("5 tokens: 12.5 tok/s", "5 tokens: 12.5 tok/s"),
        ("GPU-01234567-89ab-cdef-0123-456789abcdef", "<serial>"),
        ("at /data/private/secret-project/a.gguf:", "at a.gguf:"),
        ("at C:\\data\\secret\\a.gguf", "at a.gguf"),
        (f"{HOME}/my models/Gemma 3.gguf", "Gemma 3.gguf"),
        ("the cache_type_k of CUDA0", "the cache_type_k of CUDA0"),
        # Names in the spelling of addresses, of JSON, and of a Mac's disk.
        ("by Clara%20M%C3%BCller", "by <user>"),
        ("by Clara M\\u00fcller", "by <user>"),
        ("by Clara Mu\u0308ller", "by <user>"),
        # Folders with spaces, of others and on any drive.
        ("from /media/Otto Maier/my models/a.gguf (V3)", "from a.gguf (V3)"),
        ("E:\\Otto Maier\\a b.gguf", "a b.gguf"),
        ("\\\\box\\Otto Maier\\a.gguf", "a.gguf"),
        ("/media/O M/a.gguf and /media/O M/b.gguf", "a.gguf and b.gguf"),
        ("C:\\Users\\Otto Maier\\x", "C:\\Users\\<user>\\x"),
        ("3 / 4 s for a.gguf", "3 / 4 s for a.gguf"),
    ],
)
def test_that_each_way_of_telling_is_known(said: str, told: str) -> None:
    assert Redactor(NAMES).text(said) == told


@pytest.mark.parametrize("name", ["user", "host", "token", "address", "root"])
def test_that_a_user_who_is_called_like_a_stand_in_is_no_trouble(name: str) -> None:
    redactor = Redactor(Names((f"/home/{name}",), (name,), ("host",)))
    assert redactor.text(f"/home/{name}/x by {name} on host") == "~/x by <user> on " + (
        "<user>" if name == "host" else "<host>"
    )


def test_that_a_name_of_one_letter_is_taken_out_of_paths_alone() -> None:
    redactor = Redactor(Names((), ("x",), ()))
    assert redactor.text("/mnt/x/y has x = 3") == "/mnt/<user>/y has x = 3"


@pytest.mark.parametrize(
    "piece",
    [
        "/",
        "a",
        "0f",
        "a.",
        "aB3+",
        "/home/",
        "token=",
        "sk-",
        "GPU-01234567-",
        "a@",
        "\\Users",
        " ",
        " /a",
        " /.gguf",
        "\\u0041",
        "/home/a b",
    ],
)
def test_that_no_line_keeps_the_window_waiting(piece: str) -> None:
    """Python holds its lock while it matches; measured 30 ms at most, some took 350 once."""
    line = piece * (4000 // len(piece))
    redactor = Redactor(NAMES, [CHAT])
    begun_s = time.thread_time()
    redactor.line(line)
    assert time.thread_time() - begun_s < 0.3


@given(st.integers(0, len(CHAT) - 24), st.text(max_size=20), st.text(max_size=20))
def test_that_any_24_characters_of_a_conversation_are_recognised(
    begin: int, before: str, behind: str
) -> None:
    piece = CHAT[begin : begin + 24]
    redactor = Redactor(NAMES, [CHAT])
    # What stands around it must not run together with it, as spaces at the seam would.
    line = redactor.line(f"{before}|{piece}|{behind}")
    kept = " ".join(piece.split())
    assert len(kept) < 23 or line.startswith("[a line was left out")


def test_that_an_escaped_conversation_is_recognised() -> None:
    said = "ä\tshort\nline\nof\nö things\nthat nobody\nelse knows"
    redactor = Redactor(NAMES, [said])
    for written in (json.dumps(said), repr(said), ascii(said), said.replace("\n", "\\n")):
        assert "left out" in redactor.line(f"bad prompt: {written}"), written


def test_that_the_folder_of_a_draft_model_is_not_told(situation: Situation) -> None:
    path = "/media/Jane Roe/drafts,old/tiny \u201cdraft\u201d.gguf"
    config = situation.config.with_values({"draft_model_path": path})
    said = replace(situation, config=config, log=(LogLine(0.0, "info", "engine", f"in {path}"),))
    report = report_on(said)
    assert "Roe" not in text_of(report)
    assert "in tiny" in text_of(report)


def test_that_a_conversation_is_recognised_in_other_spacing_and_case() -> None:
    redactor = Redactor(NAMES, [CHAT])
    assert redactor.line("my AUNT lives\tin  riga and paints").startswith("[a line")
    assert redactor.line("an aunt who paints") == "an aunt who paints"


def test_that_the_names_of_this_machine_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/somewhere/dora")
    monkeypatch.setenv("USER", "dorothea")
    monkeypatch.setenv("HOSTNAME", "zeus.test")
    names = names_here(["/m.gguf"])
    assert "/somewhere/dora" in names.homes
    assert {"dora", "dorothea"} <= set(names.users)
    assert {"zeus.test", "zeus"} <= set(names.hosts)
    assert names.paths == ("/m.gguf",)
    if platform.node() not in ("", "localhost"):
        assert platform.node() in names.hosts
    # The longest first, so that no part of a name is left behind a shorter one.
    assert list(names.users) == sorted(names.users, key=lambda name: (-len(name), name))


def test_that_only_the_end_of_a_long_log_is_told() -> None:
    report = report_on(Situation(log=log_of(*(f"line {n}" for n in range(5000)))), Redactor(NAMES))
    log = report["log"]
    assert isinstance(log, list)
    assert len(log) == 2000
    assert log[-1].endswith("line 4999")


def test_that_a_desk_on_which_nothing_happened_can_be_reported_on() -> None:
    text = text_of(report_on(Situation()))
    assert "no model is loaded" in text
    json.dumps(report_on(Situation()))


@pytest.mark.parametrize("name", ["report.txt", "report.json"])
def test_that_the_file_is_text_or_json_by_its_name(
    situation: Situation, tmp_path: Path, name: str
) -> None:
    save(situation, tmp_path / name)
    content = (tmp_path / name).read_text(encoding="utf-8")
    assert "SIGSEGV" in content
    assert content.startswith("{" if name.endswith("json") else "TuneDeck diagnostics")


def test_that_a_place_that_takes_no_file_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="The diagnostics could not be saved"):
        save(Situation(), tmp_path / "file" / "report.txt")


def test_that_the_processor_s_name_is_read(tmp_path: Path) -> None:
    told = tmp_path / "cpuinfo"
    told.write_text("processor\t: 0\nmodel name\t: Fast One 9000\n")
    assert processor_name(told) == "Fast One 9000"
    told.write_text("processor\t: 0\nModel\t\t: Raspberry Pi 5\n")
    assert processor_name(told) == "Raspberry Pi 5"
    if sys.platform == "linux":
        told.write_text("nothing")
        assert processor_name(told) == (platform.processor() or platform.machine())


@pytest.mark.parametrize("code", ["print('no json')", "raise SystemExit(3)", ""])
def test_that_an_engine_that_says_nothing_is_none(code: str) -> None:
    assert greeting_of_new_engine((sys.executable, "-c", code)) is None


@pytest.mark.engine
@pytest.mark.parametrize("words", [[], ["--json"]])
def test_that_the_command_line_tells_the_same_without_this_user_s_names(
    words: list[str], tmp_path: Path
) -> None:
    home = tmp_path / "quentin"
    (home / "tunedeck").mkdir(parents=True)
    (home / "tunedeck" / "settings.json").write_text('{"schema": 1, "settings": {"slots": 7}}')
    environment = os.environ | {
        "HOME": str(home), "USER": "quentin", "XDG_CONFIG_HOME": str(home),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "app", "diagnostics", *words],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "devices of ggml" in done.stdout
    assert "quentin" not in done.stdout
    if words:
        assert json.loads(done.stdout)["settings"]["changed"] == {"slots": 7}
    else:
        assert "slots: 7" in done.stdout


def test_that_workers_adapters_and_grammars_are_told_without_what_somebody_wrote(
    situation: Situation,
) -> None:
    config = situation.config.with_values(
        {
            "rpc_servers": ("alice-pc.lan:50052", "127.0.0.1:50053"),
            "lora": (f"{HOME}/letters to Ada/style.gguf:0.5",),
            "grammar": 'root ::= "a line that somebody wrote"',
        }
    )
    changed = replace(
        situation, config=config, log=log_of("connecting to alice-pc.lan:50052 failed")
    )
    told = text_of(report_on(changed))
    for secret in ("alice", "letters", "somebody wrote"):
        assert secret not in told
    for kept in ("127.0.0.1:50053", "style.gguf:0.5", "a text of"):
        assert kept in told


def test_that_the_boards_are_told_with_what_their_driver_refuses(
    situation: Situation, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuses = {"nvmlDeviceGetPowerUsage": pynvml.NVML_ERROR_NO_PERMISSION}
    reader = NvidiaReader.open(None, Replay([rtx_3090(fails=refuses)]))
    assert reader is not None
    monkeypatch.setattr("app.diagnostics.open_readers", lambda: (reader,))
    text = whole(situation)
    for told in (
        "NVIDIA GeForce RTX 3090: Busy 87 %",
        "free 17.0. Peak bandwidth 936 GB/s = 384 bit × 9751 MHz × 2",
        "power limit",
        "power (this user has no permission to read it)",
    ):
        assert told in text, told
