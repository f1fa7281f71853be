"""Units, presets, llama-swap, Modelfiles, variables, JSON: files that tell an engine."""

from __future__ import annotations

import pytest

from app.importing.invocation import Invocation
from app.importing.readers import read
from app.importing.text_error import TextError


def one(text: str, hint: str = "") -> Invocation:
    (found,) = read(text, hint)
    return found


def codes(found: Invocation) -> set[str]:
    return {problem.partition(":")[0] for problem in found.problems}


# --- systemd ----------------------------------------------------------------------------------


def unit(body: str) -> str:
    return f"[Unit]\nDescription=My server\n\n[Service]\n{body}\n[Install]\nWantedBy=x\n"


@pytest.mark.parametrize(
    "body",
    [
        'ExecStart=/usr/bin/llama-server -m "/a b.gguf" -c 1',
        "ExecStart = /usr/bin/llama-server \\\n    -m '/a b.gguf' \\\n# left out \\\n    -c 1",
        "ExecStart=-@/usr/bin/llama-server -m /a\\x20b.gguf -c 1",
        "ExecStart=/bin/false\nExecStart=\nExecStart=/usr/bin/llama-server -m '/a b.gguf' -c 1",
        'Environment="M=/a b.gguf" C=1\nExecStart=/usr/bin/llama-server -m ${M} -c $C',
        'Environment="A=-c 1"\nExecStart=/usr/bin/llama-server -m "/a b.gguf" $A',
        "ExecStart=/bin/bash -c \"exec llama-server -m '/a b.gguf' -c 1\"",
        "ExecStart=/usr/bin/numactl -N 0 /usr/bin/llama-server -m '/a b.gguf' -c 1",
    ],
)
def test_that_a_unit_tells_what_it_starts(body: str) -> None:
    found = one(unit(body))
    assert (found.kind, found.program, found.title) == ("systemd", "llama-server", "My server")
    assert found.words == ("-m", "/a b.gguf", "-c", "1")


def test_that_files_and_specifiers_of_systemd_are_not_read() -> None:
    found = one(unit("EnvironmentFile=-/etc/x\nExecStart=/bin/llama-server $ARGS -m %h/a --p 50%%"))
    assert found.words == ("$ARGS", "-m", "%h/a", "--p", "50%")
    assert codes(found) == {"unresolved_variable", "macro"}
    assert any("/etc/x" in problem for problem in found.problems)
    assert any("/etc/x" in note for note in found.notes)


def test_that_a_drop_in_is_its_variables() -> None:
    found = one('[Service]\nEnvironment="OLLAMA_HOST=0.0.0.0" "OLLAMA_DEBUG=1"\n')
    assert (found.program, found.env) == ("", {"OLLAMA_HOST": "0.0.0.0", "OLLAMA_DEBUG": "1"})


def test_that_a_container_of_podman_is_read() -> None:
    found = one(
        "[Container]\nImage=ghcr.io/ggml-org/llama.cpp:server\nExec=-m /m/a.gguf -c 1\n"
        "Volume=/srv:/m:z\nPublishPort=1:2\nEnvironment=A=b\n"
    )
    assert (found.program, found.words) == ("llama-server", ("-m", "/m/a.gguf", "-c", "1"))
    assert (found.env, found.ports) == ({"A": "b"}, (("1", "2"),))


# --- llama-swap -------------------------------------------------------------------------------


def test_that_macros_are_put_in_everywhere() -> None:
    found = one(
        'macros:\n  bin: "/x/llama-server --port ${PORT}"\n  dir: /m\n  kv: "-ctk q8_0 ${dir}"\n'
        'models:\n  "a:b":\n    macros:\n      dir: /n\n    cmd: |\n      ${bin}\n'
        '      # left out\n      -m "${dir}/${MODEL_ID}.gguf" \\\n      ${kv} # all\n'
        "    env:\n      - X=${dir}\n    ttl: 60\n"
    )
    assert (found.kind, found.program, found.title) == ("llama-swap", "llama-server", "a:b")
    assert found.words == ("--port", "${PORT}", "-m", "/n/a:b.gguf", "-ctk", "q8_0", "/n")
    assert (found.env, codes(found)) == ({"X": "/n"}, {"macro"})


def test_that_each_model_is_a_call() -> None:
    found = read("models:\n  a:\n    cmd: llama-server -m a\n  b:\n    cmd: llama-server -m b\n")
    assert [(each.title, each.words) for each in found] == [("a", ("-m", "a")), ("b", ("-m", "b"))]


def test_that_one_model_of_llama_swap_is_read() -> None:
    found = one('"a-b":\n  cmd: |\n    llama-server\n    -m x\n  ttl: 5\n')
    assert (found.kind, found.title, found.words) == ("llama-swap", "a-b", ("-m", "x"))


def test_that_docker_in_llama_swap_is_read() -> None:
    found = one("models:\n  a:\n    cmd: docker run --rm vllm/vllm-openai --model x\n")
    assert (found.program, found.words) == ("vllm", ("serve", "--model", "x"))


def test_that_llama_swap_on_windows_is_read() -> None:
    found = one("models:\n  a:\n    cmd: C:\\l\\llama-server.exe -m C:\\m\\a.gguf\n")
    assert found.words == ("-m", "C:\\m\\a.gguf")


def test_that_macros_that_multiply_are_refused() -> None:
    lines = [
        "macros:",
        "  a0: xxxxxxxxxx",
        *[f"  a{n + 1}: '${{a{n}}}${{a{n}}}${{a{n}}}'" for n in range(19)],
    ]
    with pytest.raises(TextError, match="no engine takes"):
        read("\n".join([*lines, "models:", "  m:", "    cmd: llama-server -m ${a19}"]))


# --- presets ----------------------------------------------------------------------------------


def test_that_a_preset_has_a_call_for_each_model() -> None:
    found = read(
        "version = 1\n; all\n[*]\nparallel = 1 ; one\nc = 0 # any\n\n[a]\nmodel = /a b.gguf\n"
        "c = 4096\n[b]\nhf-repo=x/y:Q4\not = x\not = y\n"
    )
    assert [(each.kind, each.program, each.title) for each in found] == [
        ("preset", "", "a"), ("preset", "", "b"),
    ]  # fmt: skip
    assert found[0].values == {"parallel": ("1",), "model": ("/a b.gguf",), "c": ("4096",)}
    assert found[1].values == {
        "parallel": ("1",), "c": ("0",), "hf-repo": ("x/y:Q4",), "ot": ("x", "y"),
    }  # fmt: skip


def test_that_a_value_of_the_model_comes_after_those_for_all() -> None:
    found = one("[*]\nctx-size = 1\nparallel = 2\n[a]\nctx-size = 3\n")
    assert list(found.values.items()) == [("parallel", ("2",)), ("ctx-size", ("3",))]


def test_that_a_preset_for_all_alone_is_read() -> None:
    assert one("[*]\nc = 4096\n").values == {"c": ("4096",)}


# --- Modelfiles -------------------------------------------------------------------------------


def test_that_a_modelfile_has_its_instructions_and_parameters() -> None:
    found = one(
        '# mine\nFROM ./a b.gguf\nparameter num_ctx 4096\nPARAMETER stop "<|end|>"  \n'
        'PARAMETER stop User:\nTEMPLATE """{{ .System }}\nFROM inside\n{{ .Prompt }}"""\n'
        'SYSTEM "Be brief."\nADAPTER ./l.gguf\nMESSAGE user Hi\n'
    )
    assert found.values == {
        "FROM": ("./a b.gguf",),
        "num_ctx": ("4096",),
        "stop": ("<|end|>", "User:"),
        "TEMPLATE": ("{{ .System }}\nFROM inside\n{{ .Prompt }}",),
        "SYSTEM": ("Be brief.",),
        "ADAPTER": ("./l.gguf",),
        "MESSAGE": ("user Hi",),
    }
    assert not found.problems


def test_that_damage_of_a_modelfile_is_said() -> None:
    found = one('FROM a\nPARAMETER num_ctx\nnonsense here\nTEMPLATE """open\n')
    assert (found.values, codes(found)) == (
        {"FROM": ("a",), "TEMPLATE": ("open\n",)},
        {"broken_file"},
    )
    assert len(found.problems) == 3


def test_that_what_was_typed_into_a_session_is_read() -> None:
    assert one(">>> /set parameter num_ctx 8192\nSet parameter").values == {"num_ctx": ("8192",)}


# --- variables --------------------------------------------------------------------------------


def test_that_variables_are_read() -> None:
    found = one("# x\nA=b # c\nexport B='d # e'\nC=\"f\"\nD=\nE=x#y\n", ".env")
    assert found.env == {"A": "b", "B": "d # e", "C": "f", "D": "", "E": "x#y"}


# --- JSON -------------------------------------------------------------------------------------


def test_that_settings_of_koboldcpp_are_told_from_other_json() -> None:
    found = one(
        '{"model_param": "/a b.gguf", "contextsize": 8192, "gpulayers": -1, "usecublas": '
        '["normal", "0"], "usevulkan": null, "flashattention": true, "ropeconfig": [0.0, 10000.0]}'
    )
    assert (found.kind, dict(found.values)) == (
        "kcpps",
        {
            "model_param": ("/a b.gguf",),
            "contextsize": ("8192",),
            "gpulayers": ("-1",),
            "usecublas": ("normal", "0"),
            "flashattention": ("true",),
            "ropeconfig": ("0.0", "10000.0"),
        },
    )


def test_that_fields_have_the_keys_of_the_fields() -> None:
    found = one(
        '{"name": "p", "load": {"fields": [{"key": "llm.load.contextLength", "value": 4096}, '
        '{"key": "llm.load.x", "value": {"checked": true, "value": "q8_0"}}]}}'
    )
    assert found.values == {
        "name": ("p",),
        "llm.load.contextLength": ("4096",),
        "llm.load.x.checked": ("true",),
        "llm.load.x.value": ("q8_0",),
    }


@pytest.mark.parametrize(
    "text",
    [
        '["/usr/bin/llama-server", "-m", "a b"]',
        '{"command": "llama-server", "args": ["-m", "a b"], "env": {"A": "b"}}',
        '{"configurations": [{"program": "/x/llama-server", "args": ["-m", "a b"]}]}',
        '[{"Config": {"Image": "ghcr.io/ggml-org/llama.cpp:server", "Cmd": ["-m", "a b"], '
        '"Entrypoint": ["/app/llama-server"], "Env": ["A=b"]}}]',
    ],
)
def test_that_words_in_json_are_a_call(text: str) -> None:
    found = one(text)
    assert (found.program, found.words) == ("llama-server", ("-m", "a b"))


def test_that_keys_alone_in_yaml_are_settings() -> None:
    found = one("kv_cache_config:\n  free: 0.9\nbatch: [1, 2]\nnone: ~\non: yes\n")
    assert (found.kind, found.values) == (
        "yaml",
        {"kv_cache_config.free": ("0.9",), "batch": ("1", "2"), "on": ("yes",)},
    )
