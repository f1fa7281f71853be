"""The program as a shell sees it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from app.main import missing_display_sentence

pytestmark = [pytest.mark.gui, pytest.mark.engine]
COMMAND = [sys.executable, "-m", "app"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("name", ["SIGINT", "SIGHUP"])
def test_that_ctrl_c_or_a_closed_terminal_closes_the_window_and_ends_the_engine(
    tiny_path: Path, name: str
) -> None:
    if not hasattr(signal, name):
        pytest.skip("this system has no such signal")
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
    program = subprocess.Popen(
        [*COMMAND, "--model", str(tiny_path)], env=environment, stderr=subprocess.PIPE, text=True
    )
    process = psutil.Process(program.pid)
    children: list[psutil.Process] = []
    while not children and program.poll() is None:
        children = process.children(recursive=True)
    program.send_signal(getattr(signal, name))
    _, stderr = program.communicate(timeout=60)
    assert program.returncode == 0
    assert "Traceback" not in stderr
    assert "Destroyed while process" not in stderr
    _, alive = psutil.wait_procs(children, timeout=10)
    assert not alive


def test_that_a_reader_who_has_seen_enough_is_no_fault() -> None:
    with subprocess.Popen(
        [*COMMAND, "settings"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        program.stdout.close()
        assert "Traceback" not in program.stderr.read()


def test_that_plan_answers_as_json_with_the_names_outsiders_use(tiny_path: Path) -> None:
    done = run("plan", str(tiny_path), "--set", "slots=2", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["effective"]["slots"] == 2
    assert answer["requested"]["slots"] == 2
    assert answer["fits"] is True
    sizes = answer["bytes"]
    parts = ("weights", "weights_mapped", "kv", "recurrent", "compute", "output", "draft")
    assert sizes["total"] == sum(sizes[part] for part in parts)
    assert {"name", "weights", "kv", "compute", "free", "total"} <= answer["devices"][0].keys()


def test_that_a_plan_of_a_refused_combination_says_so(tiny_path: Path) -> None:
    settings = ("--set", "cache_type_v=q8_0", "--set", "flash_attn=off")
    done = run("plan", str(tiny_path), *settings, "--json")
    assert done.returncode == 1
    problem = json.loads(done.stdout)["problems"][0]
    assert problem["keys"] == ["cache_type_v", "flash_attn"]
    assert problem["fix"] == {"flash_attn": "auto"}


def test_that_export_writes_a_line_and_names_what_it_leaves_behind(tiny_path: Path) -> None:
    done = run("export", str(tiny_path), "--set", "slots=2", "--to", "llama-server", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["target"] == "llama-server"
    assert "-np 2" in answer["text"]
    assert "prefill_chunk_tok" in answer["not_carried"]


def test_that_a_line_with_an_error_is_written_and_the_status_tells(tiny_path: Path) -> None:
    done = run("export", str(tiny_path), "--set", "lora=/nowhere/x.gguf:0.5")
    assert done.returncode == 1
    assert "--lora-scaled /nowhere/x.gguf:0.5" in done.stdout
    assert "error: The LoRA adapter x.gguf cannot be read: there is no such file" in done.stderr
    done = run("export", str(tiny_path), "--set", "lora=/nowhere/x.gguf:0.5", "--json")
    assert done.returncode == 1
    answer = json.loads(done.stdout)
    assert "--lora-scaled" in answer["text"]
    assert [problem["keys"] for problem in answer["problems"]] == [["lora"]]
    assert not done.stderr


def test_that_only_changes_that_agree_and_fit_are_offered(tiny_path: Path) -> None:
    done = run("plan", str(tiny_path), "--set", "ctx_per_slot_tok=10000000")
    assert done.returncode == 1
    (offer,) = [line for line in done.stdout.splitlines() if line.startswith("would do:")]
    words = offer.removeprefix("would do: ").split()
    assert run("plan", str(tiny_path), *words).returncode == 0


def test_that_a_draft_model_nobody_asks_is_told_by_both_commands(tiny_path: Path) -> None:
    settings = ("--set", f"draft_model_path={tiny_path}")
    said = "draft_model_path: It has no effect while no model drafts"
    assert said in run("plan", str(tiny_path), *settings).stdout
    assert said in run("export", str(tiny_path), *settings).stderr
    answer = json.loads(run("plan", str(tiny_path), *settings, "--json").stdout)
    assert "draft_model_path" in answer["without_effect"]


def test_that_the_settings_are_listed_for_programs_too() -> None:
    listed = json.loads(run("settings", "--json").stdout)
    assert {"key": "slots", "section": "Main", "default": 4}.items() <= listed[
        [one["key"] for one in listed].index("slots")
    ].items()


def test_that_export_quotes_for_the_shell_that_is_named(tmp_path: Path, tiny_path: Path) -> None:
    model = tmp_path / "it's mine.gguf"
    model.symlink_to(tiny_path)
    lines = {}
    for shell in ("posix", "cmd", "powershell"):
        done = run("export", str(model), "--shell", shell, "--lines")
        assert done.returncode == 0, done.stderr
        lines[shell] = done.stdout.splitlines()
    assert lines["posix"][:2] == ["llama-server \\", f"  -m '{tmp_path}/it'\"'\"'s mine.gguf' \\"]
    assert lines["cmd"][:2] == ["llama-server ^", f'  -m "{model}" ^']
    assert lines["powershell"][:2] == ["llama-server `", f"  -m '{tmp_path}/it''s mine.gguf' `"]


@pytest.mark.parametrize("command", ["plan", "export"])
def test_that_a_file_that_is_no_model_is_one_sentence(tmp_path: Path, command: str) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"<html>not found</html>")
    done = run(command, str(broken))
    assert done.returncode == 1
    assert "broken.gguf" in done.stderr
    assert "Traceback" not in done.stderr


def test_that_an_unknown_setting_names_the_nearest_one(tiny_path: Path) -> None:
    done = run("plan", str(tiny_path), "--set", "slot=2")
    assert done.returncode == 1
    assert "'slots'" in done.stderr


def test_that_a_machine_without_display_is_told_of_xvfb() -> None:
    assert "xvfb-run" in missing_display_sentence("linux", {})
    assert missing_display_sentence("linux", {"DISPLAY": ":0"}) == ""
    assert missing_display_sentence("linux", {"QT_QPA_PLATFORM": "offscreen"}) == ""
    assert missing_display_sentence("darwin", {}) == ""
