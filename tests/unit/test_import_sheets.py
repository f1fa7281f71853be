"""What an importer found becomes a sheet: masked, escaped, changed settings first."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from app.import_files import LIMIT_BYTES, CommandFileError, read_command_file
from app.import_guess import MOST_CHARACTERS, looks_like_command
from app.import_models import can_confirm, model_key
from app.import_problems import MOST_PROBLEMS, problems_shown
from app.import_reading import Reader, read
from app.import_sheets import MOST_COMMANDS, Surroundings, Understood, understood
from app.import_shown import LONGEST, masked, sentence_shown, shown
from app.importing.found import Found, Healed
from app.importing.found_settings import Usable
from app.importing.importer import import_text
from app.importing.other_names import SYSTEM_PROMPT_PLACE
from app.importing.text_error import TextError
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value
from engine_bridge.settings.table import BY_KEY
from widgets.import_drop import is_command_file
from widgets.import_sheet import ImportCommand, ImportRow

RLO = "\u202e"


def as_found(found: Found) -> Usable:
    """The settings of a hand-made find, as they stand in it."""
    values: dict[str, Value] = {
        key: value for key, value in found.settings.items() if value is not None and key in BY_KEY
    }
    if found.extra_flags:
        values["extra_flags"] = found.extra_flags
    return Usable(values, {})


def command_of(found: Found, **around: object) -> ImportCommand:
    given: dict[str, object] = {"wanted": EngineConfig(), **around}
    return understood("text", (found,), Surroundings(**given), as_found).sheet.commands[0]  # type: ignore[arg-type]


def rows_of(found: Found, **around: object) -> dict[str, ImportRow]:
    return {row.key: row for row in command_of(found, **around).rows}


# --- Settings ------------------------------------------------------------------------------------


def test_that_changed_settings_stand_first_and_the_rest_is_as_it_is() -> None:
    found = Found("llama-server", {"flash_attn": "auto", "slots": 8, "ctx_per_slot_tok": 8192})
    command = command_of(found)
    assert [row.key for row in command.rows] == ["ctx_per_slot_tok", "slots", "flash_attn"]
    assert [row.is_changed for row in command.rows] == [True, True, False]
    first = command.rows[0]
    assert (first.label, first.now, first.then) == ("Context per slot", "4,096 tok", "8,192 tok")
    assert "3 settings, 2 of which differ" in command.summary


def test_that_what_follows_from_a_rule_is_marked() -> None:
    found = Found("llama-server", {"slots": 2, "kv_unified": True}, derived=("kv_unified",))
    rows = rows_of(found)
    assert rows["kv_unified"].is_derived
    assert "rule" in rows["kv_unified"].mark
    assert rows["slots"].mark == ""


def test_that_the_model_is_no_row_and_no_value() -> None:
    found = Found("llama-server", {"model_path": "/models/a.gguf", "slots": 2})
    known = understood("text", (found,), Surroundings(EngineConfig()), as_found)
    assert [row.key for row in known.sheet.commands[0].rows] == ["slots"]
    assert known.values == ({"slots": 2},)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("draft_model_path", "/models/draft.gguf"),
        ("lora", ("/models/style.gguf",)),
        ("rpc_servers", ("192.0.2.1:50052",)),
        ("lookup_cache_static_path", "/tmp/lookup.bin"),
    ],
)
def test_that_what_would_be_opened_by_being_wanted_is_not_ticked(key: str, value: Value) -> None:
    row = rows_of(Found("llama-server", {key: value}))[key]
    assert not row.is_ticked
    assert row.mark.startswith("Names")


def test_that_no_file_to_open_needs_no_reserve() -> None:
    wanted = EngineConfig.from_values({"draft_model_path": "/models/draft.gguf"})
    row = rows_of(Found("llama-server", {"draft_model_path": ""}), wanted=wanted)[
        "draft_model_path"
    ]
    assert row.is_ticked
    assert row.is_changed


def test_that_settings_the_text_does_not_say_go_to_defaults_when_asked_for() -> None:
    wanted = EngineConfig.from_values({"cache_type_k": "q8_0", "slots": 2, "model_path": "/m.gguf"})
    found = Found("llama-server", {"slots": 2})
    assert "cache_type_k" not in rows_of(found, wanted=wanted)
    known = understood("text", (found,), Surroundings(wanted, fills_up=True), as_found)
    row = next(row for row in known.sheet.commands[0].rows if row.key == "cache_type_k")
    assert (row.now, row.then) == ("q8_0", "f16")
    assert "default" in row.mark
    assert known.values[0] == {"slots": 2, "cache_type_k": "f16"}


def test_that_a_setting_that_cannot_be_taken_is_told_with_its_reason() -> None:
    def map_settings(_: Found) -> Usable:
        return Usable({}, {"slots": "0 is outside 1 to 256."})

    found = Found("llama-server", {"slots": 0})
    known = understood("text", (found,), Surroundings(EngineConfig()), map_settings)
    sentence = known.sheet.commands[0].problems[0].sentence
    assert sentence == "Parallel slots is not taken: 0 is outside 1 to 256."


# --- What a person has to say --------------------------------------------------------------------


def test_that_a_placeholder_is_asked_for_and_taken_once_said() -> None:
    found = Found("llama-server", {"slots": None, "model_path": None})
    command = command_of(found)
    assert [(ask.key, ask.fault) for ask in command.asks] == [("slots", "")]
    assert "whole number" in command.asks[0].takes
    assert not command.rows
    assert rows_of(found, said={(0, "slots"): "6"})["slots"].then == "6"


def test_that_a_wrong_answer_is_told_and_sets_nothing() -> None:
    command = command_of(Found("llama-server", {"slots": None}), said={(0, "slots"): "many"})
    assert "not a whole number" in command.asks[0].fault
    assert not command.rows


def test_that_what_was_said_for_one_command_says_nothing_for_another() -> None:
    two = (Found("llama-server", {"slots": None}), Found("llama-server", {"slots": None}))
    around = Surroundings(EngineConfig(), said={(1, "slots"): "6"})
    first, second = understood("text", two, around, as_found).sheet.commands
    assert not first.rows
    assert second.rows[0].then == "6"


# --- The model -----------------------------------------------------------------------------------


def test_that_a_path_is_shown_and_only_a_person_resolves_it() -> None:
    found = Found("llama-server", {"model_path": "/models/a.gguf"})
    model = command_of(found).model
    assert (model.named, model.path, model.can_confirm) == ("/models/a.gguf", "", True)
    assert "Not opened" in model.about
    chosen = command_of(found, paths={"/models/a.gguf": "/other/b.gguf"}).model
    assert (chosen.path, chosen.can_confirm) == ("/other/b.gguf", False)


@pytest.mark.parametrize("path", ["a.gguf", "./a.gguf", "~/a.gguf", "//host/share/a.gguf", ""])
def test_that_a_path_that_may_be_anywhere_cannot_be_confirmed(path: str) -> None:
    assert not can_confirm(Found("llama-server", {"model_path": path}))


def test_that_the_loaded_model_is_recognised() -> None:
    found = Found("llama-server", {"model_path": "/models/a.gguf"})
    assert command_of(found, running="/models/a.gguf").model.is_running
    assert not command_of(found, running="/models/b.gguf").model.is_running


def test_that_a_repository_and_other_weights_need_a_file() -> None:
    hub = Found("llama-server", {"hf_repo": "org/name-GGUF:Q4_K_M"})
    assert (model_key(hub), command_of(hub).model.can_confirm) == ("org/name-GGUF:Q4_K_M", False)
    other = Found("vllm", {}, other={"source_model": "org/name"})
    assert "another engine" in command_of(other).model.about
    assert "names no model" in command_of(Found("llama-server", {})).model.about
    assert "leaves the model open" in command_of(Found("x", {"model_path": None})).model.about


def test_that_a_chosen_file_takes_the_place_of_flags_that_name_a_model() -> None:
    found = Found(
        "llama-server",
        {"hf_repo": "org/name"},
        extra_flags=("--hf-repo org/name", "--jinja"),
    )
    assert rows_of(found)["extra_flags"].then == "--hf-repo org/name  --jinja"
    chosen = {"org/name": "/models/b.gguf"}
    assert rows_of(found, paths=chosen)["extra_flags"].then == "--jinja"
    only = Found("llama-server", {"hf_repo": "org/name"}, extra_flags=("--hf-repo org/name",))
    assert "extra_flags" not in rows_of(only, paths=chosen)


# --- Everything beside settings ------------------------------------------------------------------


def test_that_healed_unknown_and_other_words_are_shown() -> None:
    command = command_of(
        Found(
            "llama-server",
            {"slots": 2},
            healed=(Healed("--draft-max 8", "--spec-draft-n-max 8"), Healed("--log-new", "")),
            passthrough=("--fancy", "two words"),
            other={"host": "0.0.0.0", "jinja": True, "port": None, "tools": ["a", "b"]},
            env={"CUDA_VISIBLE_DEVICES": "0"},
            notes=("One note.",),
            title="coder",
        )
    )
    assert command.healed == (("--draft-max 8", "--spec-draft-n-max 8"), ("--log-new", ""))
    assert command.kept == '--fancy "two words"'
    assert dict(command.others) == {
        "host": "0.0.0.0",
        "jinja": "on",
        "port": "left open",
        "tools": "a, b",
        "CUDA_VISIBLE_DEVICES": "0",
    }
    assert command.notes == ("One note.",)
    assert command.title == "coder · llama-server"


def test_that_a_system_prompt_is_told_its_place_and_nothing_else_is() -> None:
    told = command_of(Found("ollama", {"slots": 2}, other={"system_prompt": "Be brief."}))
    assert dict(told.others) == {"system prompt": "Be brief."}
    assert told.notes == (SYSTEM_PROMPT_PLACE,)
    assert command_of(Found("ollama", {"slots": 2}, other={"stop": ["x"]})).notes == ()


def test_that_problems_come_as_sentences_errors_first() -> None:
    problems = problems_shown(
        (
            "removed_flag: --draft-max is --spec-draft-n-max today",
            "security: it listens on every address without a key.",
            "bad_value: -c wants a number",
            "no code at all here",
        )
    )
    assert [problem.severity for problem in problems] == ["error", "warning", "warning", "note"]
    assert problems[0].sentence == "-c wants a number."
    assert problems[2].sentence == "No code at all here."
    assert problems[3].sentence == "--draft-max is --spec-draft-n-max today."


def test_that_a_flag_shown_with_its_heir_is_not_told_of_again() -> None:
    problems = ("removed_flag: --mlock -> --load-mode mmap+mlock", "removed_flag: --x -> --y")
    shown_ = problems_shown(problems, (Healed("--mlock", "--load-mode mmap+mlock"),))
    assert [problem.sentence for problem in shown_] == ["--x → --y."]


def test_that_a_setting_is_called_as_the_window_calls_it() -> None:
    (problem,) = problems_shown(("odd_value: batch_tok: 1 is outside 2 to 65,536.",))
    assert problem.sentence == "Batch: 1 is outside 2 to 65,536."


def test_that_a_thousand_problems_are_counted() -> None:
    shown_ = problems_shown(f"unknown_flag: --x{number} is unknown" for number in range(1000))
    assert len(shown_) == MOST_PROBLEMS
    assert shown_[-1].sentence == "961 more of this kind."


def test_that_a_text_with_more_commands_than_are_listed_says_so() -> None:
    many = tuple(Found("llama-server", {"slots": 2}) for _ in range(MOST_COMMANDS + 5))
    known = understood("text", many, Surroundings(EngineConfig()), as_found)
    assert len(known.sheet.commands) == MOST_COMMANDS
    assert known.sheet.sentence.startswith("5 more commands")
    again = read(Reader(_never, as_found), "text", Surroundings(EngineConfig()), known)
    assert again.sheet == known.sheet


# --- Secrets and signs that nobody sees ----------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "--api-key topsecretvalue",
        "--api-key=topsecretvalue",
        '--api-key "topsecretvalue"',
        "HF_TOKEN=topsecretvalue",
        "LLAMA_API_KEY: topsecretvalue",
        "-e HF_TOKEN=topsecretvalue",
        "run foo --api-key topsecretvalue --port 80",
        "set LLAMA_API_KEY=topsecretvalue",
        "Authorization: Bearer topsecretvalue",
        "https://me:topsecretvalue@host/x",
        "hf_topsecretvaluetopsecretvalue",
    ],
)
def test_that_a_secret_is_not_shown(text: str) -> None:
    assert "topsecretvalue" not in shown(text)


@pytest.mark.parametrize(
    "text",
    [
        "--api-key-file /etc/keys",
        "tokenizer.ggml.add_bos_token=bool:false",
        "max_tokens=512",
        "--spec-draft-n-max 16 tokens",
        "-ctk q8_0 -ctv q8_0",
        "The flag --api-key is not carried.",
    ],
)
def test_that_what_is_no_secret_is_shown(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "llama-server -m x.gguf --host 0.0.0.0",
        "llama-server -m x.gguf --api-key-file keys --webui --jinja --metrics --slots",
        "llama-server -m x.gguf -fa --mlock --draft-max 8 -hft hf_abcdefgh --host ::",
        "OLLAMA_HOST=0.0.0.0 OLLAMA_NUM_PARALLEL=2 ollama serve",
        "vllm serve some/model --api-key abcdefgh --host 0.0.0.0",
    ],
)
def test_that_nothing_of_our_own_sentences_is_taken_for_a_secret(text: str) -> None:
    for found in import_text(text):
        for sentence in (*found.notes, *found.problems):
            assert sentence_shown(sentence) == sentence


def test_that_no_part_of_a_sheet_tells_a_secret() -> None:
    secret = "topsecretvalue"
    found = Found(
        "llama-server",
        {"slots": 2, "model_path": f"https://me:{secret}@host/a.gguf"},
        healed=(Healed(f"--api-key={secret}", f"--api-key {secret}"),),
        passthrough=("--api-key", secret),
        problems=(f"security: the key is told, --api-key {secret}",),
        notes=(f"HF_TOKEN={secret} was read",),
        env={"HF_TOKEN": secret},
        other={"api_key": secret},
        title=f"llama-server --api-key {secret}",
        extra_flags=(f"--api-key {secret}",),
    )
    known = understood("text", (found,), Surroundings(EngineConfig()), as_found)
    assert secret not in repr(known.sheet)


def test_that_a_flag_with_a_key_is_not_ticked() -> None:
    found = Found("llama-server", {}, extra_flags=("--api-key topsecretvalue",))
    assert not rows_of(found)["extra_flags"].is_ticked
    assert rows_of(Found("llama-server", {}, extra_flags=("--jinja",)))["extra_flags"].is_ticked


def test_that_signs_that_hide_or_turn_words_are_spelt_out() -> None:
    assert shown(f"a{RLO}fugg.b") == r"a\u202efugg.b"
    assert shown("a\x1b[31m\0b\u200bc\nd") == r"a\x1b[31m\x00b\u200bc\nd"
    assert shown("Ünï 模 ≥ 2") == "Ünï 模 ≥ 2"
    found = Found("llama-server", {"model_path": f"/m/{RLO}x"}, title=f"{RLO}t", notes=("a\nb",))
    command = command_of(found)
    assert RLO not in command.model.named + command.title
    assert command.notes == ("a b",)


def test_that_endless_words_are_shortened_in_no_time() -> None:
    begin_s = time.perf_counter()
    words = shown("x=" * 2_000_000)
    assert len(words) == LONGEST
    assert time.perf_counter() - begin_s < 0.2


# --- Reading -------------------------------------------------------------------------------------


def _never(_: str, __: str) -> tuple[Found, ...]:
    raise AssertionError("the same text is read once")


def test_that_a_text_is_read_once_and_held_against_the_desk_anew() -> None:
    found = (Found("llama-server", {"slots": 2}),)
    reader = Reader(lambda _, __: found, as_found)
    first = read(reader, "text", Surroundings(EngineConfig()))
    assert first.sheet.commands[0].rows[0].is_changed
    wanted = EngineConfig.from_values({"slots": 2})
    again = read(Reader(_never, as_found), "text", Surroundings(wanted), first)
    assert not again.sheet.commands[0].rows[0].is_changed


def test_that_a_text_in_which_nothing_is_found_says_why() -> None:
    def find(_: str, __: str) -> tuple[Found, ...]:
        raise TextError("This is a picture.")

    known = read(Reader(find, as_found), "text", Surroundings(EngineConfig()))
    assert known == Understood("text", (), (), known.sheet)
    assert known.sheet.sentence == "This is a picture."


# --- The clipboard and files ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "llama-server -m a.gguf",
        "$ ./llama-server --model a.gguf",
        "docker run ghcr.io/ggml-org/llama.cpp:server -m /models/a.gguf",
        "OLLAMA_CONTEXT_LENGTH=8192 ollama serve",
        "vllm serve org/name --max-model-len 8192",
        "[*]\nctx-size = 8192\n",
        "FROM ./a.gguf\nPARAMETER num_ctx 8192\n",
        '{"model_param": "a.gguf", "contextsize": 8192}',
        "-ngl 99 -ctk q8_0",
        "--tp 8\n--mem-fraction-static 0.78",
        'ENTRYPOINT ["python3", "-m", "vllm.entrypoints.openai.api_server", "--port", "80"]',
    ],
)
def test_that_a_command_in_the_clipboard_is_recognised(text: str) -> None:
    assert looks_like_command(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "correct horse battery staple",
        "hf_abcdefghijklmnopqrstuvwxyz",
        "I use llama-server every day and like it.",
        "DATABASE_URL=postgres://me:secret@host/db\nAPI_KEY=abc",
        "ls -la --color",
        "FROM python:3.11\nRUN pip install x\n",
        "[package]\nname = 'x'\n",
        "llama-server -m a.gguf " + "x" * MOST_CHARACTERS,
    ],
)
def test_that_anything_else_is_left_in_the_clipboard(text: str) -> None:
    assert not looks_like_command(text)


@pytest.mark.parametrize("text", [" \n" * 30_000, "-" * 60_000, "[" * 60_000, "FROM a\n" * 9_000])
def test_that_a_strange_clipboard_is_judged_in_no_time(text: str) -> None:
    begin_s = time.perf_counter()
    assert not looks_like_command(text)
    assert time.perf_counter() - begin_s < 0.2


def test_that_a_file_is_read_or_refused_in_a_sentence(tmp_path: Path) -> None:
    good = tmp_path / "run.ps1"
    good.write_bytes("llama-server -m Ünï.gguf".encode("utf-16"))
    assert read_command_file(good) == "llama-server -m Ünï.gguf"
    large, binary, empty = tmp_path / "a.txt", tmp_path / "b.txt", tmp_path / "c.txt"
    large.write_bytes(b"x" * (LIMIT_BYTES + 1))
    binary.write_bytes(bytes(range(256)) * 8)
    empty.write_text(" \n")
    for path, words in (
        (large, "larger than 1 MiB"),
        (binary, "not a text file"),
        (empty, "is empty"),
        (tmp_path, "is a folder"),
        (tmp_path / "gone.sh", "could not be read"),
    ):
        with pytest.raises(CommandFileError, match=words):
            read_command_file(path)


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        ("/a/b.ini", True), ("/a/compose.YAML", True), ("/a/llama.service", True),
        ("/a/.env", True), ("/a/.env.local", True), ("/a/Modelfile", True),
        ("/a/Modelfile.coder", True),
        ("/a/x.kcpps", True), ("/a/x.sh", True), ("C:\\a\\x.bat", True), ("/a/x.txt", True),
        ("/a/x.gguf", False), ("/a/models", False), ("/a/Modelfiles", False), ("/a/x.png", False),
    ],
)  # fmt: skip
def test_that_files_of_commands_are_known_by_their_names(path: str, is_one: bool) -> None:
    assert is_command_file(path) is is_one
