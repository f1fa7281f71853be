"""Programs of Windows that start another one later: services, tasks, tabs, profiles."""

from __future__ import annotations

import json

import pytest

from app.importing.invocation import Invocation
from app.importing.loose_json import without_comments
from app.importing.readers import read


def one(text: str, hint: str = "") -> Invocation:
    (found,) = read(text, hint)
    return found


@pytest.mark.parametrize(
    "text",
    [
        'nssm install llm "C:\\l\\llama-server.exe" "-m D:\\a.gguf -np 2"\nnssm start llm',
        'nssm install llm C:\\l\\llama-server.exe -m D:\\a.gguf "-np" "2"',
        'nssm install llm "C:\\l\\llama-server.exe"\n'
        'nssm set llm AppParameters "-m D:\\a.gguf -np 2"\nnssm set llm AppDirectory C:\\l',
        'nssm.exe set llm Application C:\\l\\llama-server.exe\n'
        "nssm.exe set llm AppParameters -m D:\\a.gguf -np 2",
        'schtasks /create /tn llm /tr "\\"C:\\l\\llama-server.exe\\" -m D:\\a.gguf -np 2" '
        "/sc onlogon",
        'sc create llm binPath= "C:\\l\\llama-server.exe -m D:\\a.gguf -np 2" start= auto',
        'sc.exe create llm binPath="C:\\l\\llama-server.exe -m D:\\a.gguf -np 2"',
        'wt -w 0 nt --title llm -d C:\\l cmd /k "llama-server.exe -m D:\\a.gguf -np 2"',
        "wt.exe --title llm C:\\l\\llama-server.exe -m D:\\a.gguf -np 2",
        "<?xml version='1.0'?><Task><RegistrationInfo><URI>\\llm</URI></RegistrationInfo><Actions>"
        "<Exec><Command>C:\\l\\llama-server.exe</Command><Arguments>-m D:\\a.gguf -np 2"
        "</Arguments></Exec></Actions></Task>",
        "<service><id>llm</id><executable>%BASE%\\llama-server.exe</executable>"
        "<arguments>-m &quot;D:\\a.gguf&quot; -np 2</arguments></service>",
        '{"profiles": [{"name": "llm", "commandline": '
        '"C:\\\\l\\\\llama-server.exe -m D:\\\\a.gguf -np 2"}]}',
        '{\n  // of an editor\n  "tasks": [{"label": "llm", '
        '"command": "C:\\\\l\\\\llama-server.exe -m D:\\\\a.gguf -np 2", },],\n}',
    ],
)  # fmt: skip
def test_that_what_they_start_is_read(text: str) -> None:
    found = one(text)
    assert found.program == "llama-server.exe"
    assert found.words == ("-m", "D:\\a.gguf", "-np", "2")
    assert found.title == "llm"


def test_that_the_environment_of_a_service_is_read() -> None:
    found = one(
        "nssm install llm C:\\l\\ollama.exe serve\n"
        "nssm set llm AppEnvironmentExtra OLLAMA_NUM_PARALLEL=2 OLLAMA_HOST=0.0.0.0"
    )
    assert (found.program, found.words) == ("ollama.exe", ("serve",))
    assert found.env == {"OLLAMA_NUM_PARALLEL": "2", "OLLAMA_HOST": "0.0.0.0"}


def test_that_services_that_start_no_program_are_left_alone() -> None:
    found = one("nssm start llm\nllama-server -np 2", "x.bat")
    assert found.words == ("-np", "2")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": "http://b//c", // d\n "e": 1, /* f */}', {"a": "http://b//c", "e": 1}),
        ("[1, 2, // 3\n]", [1, 2]),
        ('{"a": ",}", "b": "\\\\",}', {"a": ",}", "b": "\\"}),
        ('{\n# note\n"a": "#b",\n}', {"a": "#b"}),
    ],
)
def test_that_comments_and_last_commas_of_json_are_left_out(text: str, value: object) -> None:
    assert json.loads(without_comments(text)) == value


def test_that_the_environment_of_an_xml_service_is_read() -> None:
    found = one(
        "<service><executable>ollama.exe</executable><arguments>serve</arguments>"
        '<env name="OLLAMA_NUM_PARALLEL" value="2"/></service>'
    )
    assert (found.program, found.env) == ("ollama.exe", {"OLLAMA_NUM_PARALLEL": "2"})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('llama-server.exe -m "D:\\a b.gguf -np 2', ("-m", "D:\\a b.gguf", "-np", "2")),
        ('llama-server.exe -np 2 -m "D:\\a b.gguf', ("-np", "2", "-m", "D:\\a b.gguf")),
        ("llama-server.exe -a “x y” -np 2", ("-a", "x y", "-np", "2")),
    ],
)  # fmt: skip
def test_that_quotes_are_read_as_meant(text: str, words: tuple[str, ...]) -> None:
    found = one(text, "x.bat")
    assert found.words == words
    assert found.problems
