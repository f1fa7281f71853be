from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from app.conversation import Conversation
from app.experiments.cli_workload import PRESET_NAMES, add_workload_options, workload_in
from app.experiments.lengths import Fixed, Observed, Uniform
from app.experiments.presets import PRESETS
from app.experiments.replay import replay_of
from app.experiments.scripting import scripts_of
from app.experiments.workload import Material, Workload
from app.experiments.workload_error import WorkloadError
from app.experiments.workload_file import kept_json, read_workload, to_json
from app.experiments.workload_words import changed, summary, workload_of
from app.storage.conversation_export import exported


def talk() -> Conversation:
    conversation = Conversation("a", 1, name="Talk")
    conversation.ask("A secret?")
    conversation.append("Between us.")
    conversation.finish("end")
    return conversation


def test_that_a_preset_is_a_workload() -> None:
    for name, preset in PRESETS.items():
        assert workload_of([name]) == preset.workload
        assert preset.workload.name == name


def test_that_values_are_changed_by_words() -> None:
    workload = workload_of(
        ["chat", "users=4", "prompt_tok=uniform:10:20", "answer_tok=values:5,6", "later_tok=none",
         "prefix_share=0.25", "think_s=0", "rate_req_s=1.5", "ttft_slo_s=none", "tpot_slo_s=0.2",
         "seed=9", "turns=2", "name=mine", "requests=12", "material=code"]
    )  # fmt: skip
    assert workload == Workload(
        "mine",
        Material.CODE,
        prompt_tok=Uniform(10, 20),
        answer_tok=Observed((5, 6)),
        turns=2,
        requests=12,
        prefix_share=0.25,
        users=4,
        think_s=0.0,
        rate_req_s=1.5,
        tpot_slo_s=0.2,
        seed=9,
    )


def test_that_users_keep_as_many_conversations_each_unless_requests_are_given() -> None:
    chat = PRESETS["chat"].workload
    assert workload_of(["chat", "users=4"]).requests == 4 * chat.requests
    assert workload_of(["chat", "users=4", "turns=1"]).requests == chat.requests
    assert workload_of(["chat", "users=4", "requests=16"]).requests == 16
    assert workload_of(["batch", "users=1"]).requests == 4


def test_that_the_last_word_for_a_key_counts() -> None:
    assert workload_of(["chat", "seed=1", "seed=5"]).seed == 5


def test_that_a_text_of_ones_own_is_the_material(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("All sorts of words. " * 200)
    workload = workload_of(["chat", f"text_path={path}", "prefix_share=0"])
    assert workload.material is Material.FILE
    assert "All sorts" in scripts_of(workload, 0.25)[0].turns[0].text


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["chart"], "There is no workload 'chart'. Did you mean 'chat'? The presets are chat, rag"),
        ([""], "There is no workload ''. The presets are"),
        (["chat", "users"], "--set-workload takes key=value; 'users' has no '='."),
        (["chat", "user=4"], "A workload has no 'user'. Did you mean 'users'?"),
        (["chat", "=4"], "A workload has no ''. There are name, material"),
        (["chat", "recording=x"], "A workload has no 'recording'."),
        (["chat", "users=four"], "users takes a whole number; got 'four'."),
        (["chat", "users=0"], "users must be from 1 to 10,000; got 0."),
        (["chat", "users=" + "9" * 30], "users must be from 1 to 10,000; got 9"),
        (["chat", "users=" + "9" * 400], "users takes a whole number of at most 30 digits; got"),
        (["chat", "requests=0"], "requests must be from 1 to 100,000; got 0."),
        (["chat", "prompt_tok=-5"], "prompt_tok must be at least 1 token; got -5."),
        (["chat", "think_s=soon"], "think_s takes a number; got 'soon'."),
        (["chat", "rate_req_s=nan"], "rate_req_s must be above 0"),
        (["chat", "material=poems"], "material takes one of prose, code, records, retrieval, file"),
        (["chat", "material=conversation"], "material takes one of"),
        (["chat", "material=file"], "text_path names the text of a workload"),
        (["gone.json"], "There is no file gone.json."),
        (["no/such"], "There is no file such."),
        (["chat", "text_path=/no/such.txt"], "There is no file such.txt. Check the path "),
        (["chat", "text_path=."], f"{Path.cwd().name} is a folder. Name a text file in it."),
    ],
)
def test_that_a_wrong_word_is_a_sentence(words: list[str], sentence: str) -> None:
    with pytest.raises(WorkloadError) as caught:
        workload_of(words)
    assert str(caught.value).startswith(sentence)
    assert str(caught.value)[-1] in ".?"


# --- Files ------------------------------------------------------------------------------


def test_that_a_file_brings_back_the_same_workload(tmp_path: Path) -> None:
    path = tmp_path / "load.json"
    for workload in (*(each.workload for each in PRESETS.values()), replay_of(talk(), users=2)):
        path.write_bytes(to_json(workload))
        assert read_workload(path) == workload
        assert workload_of([str(path), "seed=3"]).seed == 3


def test_that_a_file_may_leave_out_what_has_a_default(tmp_path: Path) -> None:
    path = tmp_path / "small.json"
    path.write_text(
        '{"name": "small", "material": "code", "answer_tok": {"spread": "fixed", "tok": 9}}'
    )
    assert read_workload(path) == Workload("small", Material.CODE, answer_tok=Fixed(9))


def test_that_a_text_beside_the_file_is_found_from_anywhere(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("Sundry words of mine. " * 100)
    path = tmp_path / "load.json"
    path.write_text('{"name": "n", "material": "file", "text_path": "mine.txt"}')
    assert read_workload(path).text_path == str(tmp_path / "mine.txt")


def test_that_an_exported_conversation_is_replayed(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    path.write_bytes(exported(talk(), "json"))
    assert read_workload(path) == replay_of(talk())
    assert workload_of([str(path), "users=3"]).requests == 3
    path.write_bytes(exported(Conversation("b", 2), "json"))
    with pytest.raises(WorkloadError, match="Nothing was asked"):
        read_workload(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", r"^load\.json is empty\.$"),
        (b"\0\0\0\0", r"^load\.json is not a text file\.$"),
        (b"{", r"^load\.json is not a workload: Input data was truncated\.$"),
        (b"[]", r"^load\.json is not a workload: Expected `object`, got `array`\.$"),
        (b"{}", r"^load\.json is not a workload: Object missing required field `name`\.$"),
        (b'{"name": "n", "material": "poems"}', "Invalid enum value 'poems'"),
        (b'{"name": "n", "material": "prose", "user": 4}', "unknown field `user`"),
        (b'{"name": "n", "material": "prose", "users": "4"}', "Expected `int`, got `str`"),
        (
            b'{"name": "n", "material": "prose", "requests": 0}',
            r"^The workload in load\.json cannot be used\. requests must be from 1",
        ),
        (b"[" * 100_000, r"^load\.json is not a workload: "),
        (b'{"format": "tunedeck-conversation"}', r"^load\.json: The file is no conversation"),
    ],
)
def test_that_a_file_that_is_no_workload_is_a_sentence(
    tmp_path: Path, content: bytes, words: str
) -> None:
    path = tmp_path / "load.json"
    path.write_bytes(content)
    with pytest.raises(WorkloadError, match=words):
        read_workload(path)


def test_that_a_history_keeps_a_workload_without_the_words_of_a_conversation() -> None:
    kept = kept_json(replay_of(talk()))
    assert "secret" not in kept
    assert "Between us" not in kept
    assert "Talk" not in kept
    with pytest.raises(WorkloadError, match="not kept with this workload"):
        msgspec.json.decode(kept, type=Workload).check()
    chat = PRESETS["chat"].workload
    assert msgspec.json.decode(kept_json(chat), type=Workload) == chat


# --- In words ---------------------------------------------------------------------------


def test_that_a_workload_is_summed_up_in_a_line() -> None:
    assert summary(PRESETS["rag"].workload) == (
        "rag: 1 user, prompts of 1,200 to 2,000 tokens, answers of 96 tokens, 6 requests of 1 "
        "turn, 139 tokens in common (8%), TTFT at most 4 s, TPOT at most 0.1 s"
    )
    assert summary(workload_of(["chat", "users=2"])).startswith("chat: 2 users with pauses of 1 s,")
    assert summary(workload_of(["rag", "rate_req_s=0.5"])).startswith(
        "rag: 0.5 requests a second (Poisson), "
    )
    words = summary(replay_of(talk())).partition(": ")[2]
    assert words == "1 user, “Talk” replayed, 1 request of 1 turn"


def test_that_changing_nothing_changes_nothing() -> None:
    for preset in PRESETS.values():
        assert changed(preset.workload, []) == preset.workload


# --- Options ----------------------------------------------------------------------------


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_workload_options(parser)
    return parser.parse_args(words)


def test_that_options_make_a_workload() -> None:
    assert workload_in(parsed()) == PRESETS["chat"].workload
    assert workload_in(
        parsed("--workload", "rag", "--set-workload", "seed=4", "--set-workload", "users=2")
    ) == workload_of(["rag", "seed=4", "users=2"])


def test_that_help_names_the_presets() -> None:
    assert tuple(PRESETS) == PRESET_NAMES


def test_that_options_need_only_the_standard_library() -> None:
    code = "import sys, app.experiments.cli_workload; print('msgspec' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
