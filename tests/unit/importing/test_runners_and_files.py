"""What starts llama.cpp's server by words and files of its own, and what such files leave out."""

from __future__ import annotations

import pytest

from app.importing.invocation import Invocation
from app.importing.readers import read

IMAGE = "ghcr.io/ggml-org/llama.cpp:server"


def one(text: str, hint: str = "") -> Invocation:
    (found,) = read(text, hint)
    return found


def codes(found: Invocation) -> set[str]:
    return {problem.partition(":")[0] for problem in found.problems}


# --- docker ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("docker compose run --rm -e A=b llm llama-server -m a", ("-m", "a")),
        ("docker run x/llama.cpp:latest -m a", ("-m", "a")),
        ("docker run --entrypoint /app/tools.sh x/y --server -m a", ("-m", "a")),
        ('FROM x/y\nENTRYPOINT ["/app/tools.sh"]\nCMD ["--server", "-m", "a"]', ("-m", "a")),
        ("docker model configure --context-size=8192 ai/x -- --temp 0.7",
         ("--ctx-size", "8192", "--docker-repo", "ai/x", "--temp", "0.7")),
        ("docker model run ai/x 'hello'", ("--docker-repo", "ai/x")),
        ("ramalama serve -c 8192 --ngl 9 --runtime-args '-fa on' hf://a/b",
         ("--hf-repo", "a/b", "--ctx-size", "8192", "--n-gpu-layers", "9", "-fa", "on")),
        ("ramalama --nocontainer serve --port 1 file:///m/a.gguf",
         ("--model", "/m/a.gguf", "--port", "1")),
        ("ramalama run huggingface://a/b/c.gguf why",
         ("--hf-repo", "a/b", "--hf-file", "c.gguf")),
    ],
)  # fmt: skip
def test_that_the_server_that_is_meant_is_read(text: str, words: tuple[str, ...]) -> None:
    found = one(text)
    assert (found.program, found.words) == ("llama-server", words)


def test_that_what_runs_the_server_keeps_is_told() -> None:
    assert any("--name x, why" in note for note in one("ramalama run --name x /m/a why").notes)
    assert any("--backend vllm" in n for n in one("docker model run --backend vllm ai/x").notes)


def test_that_a_name_of_a_registry_is_no_model() -> None:
    found = one("ramalama serve tinyllama")
    assert (found.words, codes(found)) == ((), {"no_model"})


def test_that_a_folder_of_a_container_is_told_where_a_path_is_relative() -> None:
    found = one(f"docker run -w /m {IMAGE} -m a.gguf")
    assert codes(found) == {"relative_path"}
    assert not one(f"docker run -w /m {IMAGE} -m /a.gguf").problems


def test_that_the_last_stage_is_the_image() -> None:
    found = one(
        'FROM a AS build\nENV X=1\nCMD ["old"]\nFROM b\nARG M=a.gguf\nENV P=/m/$M\n'
        "ENTRYPOINT llama-server -m $P\nCMD [\"-c\", \"1\"]"
    )  # fmt: skip
    assert (found.words, found.env) == (("-m", "/m/a.gguf"), {"P": "/m/a.gguf"})
    assert codes(found) == {"broken_file"}


# --- compose --------------------------------------------------------------------------------------


def test_that_a_service_takes_over_what_it_extends() -> None:
    found = read(
        f"services:\n  base:\n    image: {IMAGE}\n    environment: [A=1, B=2]\n"
        "    volumes: ['/a:/a']\n    command: -m base\n"
        "  child:\n    extends: {service: base}\n    environment: {B: 3}\n"
        "    volumes: ['/b:/b']\n    command: -m child\n"
        "  grandchild:\n    extends: child\n"
    )
    child, grandchild = found[1:]
    assert (child.program, child.words) == ("llama-server", ("-m", "child"))
    assert child.env == {"A": "1", "B": "3"}
    assert child.mounts == (("/a", "/a"), ("/b", "/b"))
    assert (grandchild.words, grandchild.env) == (child.words, child.env)


@pytest.mark.parametrize("said", ["{file: x.yml, service: base}", "base", "llm"])
def test_that_what_is_not_in_the_text_is_told_and_ends(said: str) -> None:
    found = one(f"services:\n  llm:\n    extends: {said}\n    image: {IMAGE}\n    command: -m a\n")
    assert found.words == ("-m", "a")
    assert any("was not read" in note for note in found.notes)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (">\n      -m a\n      # -ngl 99\n      -c 1", ("-m", "a", "-c", "1")),
        ("|\n      -m a  # the model, -ngl 99\n      -c 1", ("-m", "a", "-c", "1")),
        ('"-m a # said -c 1"', ("-m", "a", "-c", "1")),
        ("-m 'a#b' -c 1", ("-m", "a#b", "-c", "1")),
    ],
)
def test_that_a_comment_inside_a_command_drops_nothing_behind_it(
    command: str, words: tuple[str, ...]
) -> None:
    found = one(f"services:\n  llm:\n    image: {IMAGE}\n    command: {command}\n")
    assert found.words == words
    assert codes(found) == ({"broken_file"} if "# " in command else set())


def test_that_a_key_that_stands_twice_is_told() -> None:
    found = one(f"services:\n  llm:\n    image: {IMAGE}\n    command: -m a\n    command: -m b\n")
    assert (found.words, codes(found)) == (("-m", "b"), {"broken_file"})


def test_that_marks_of_a_shell_in_compose_are_told() -> None:
    found = one(
        f"services:\n  llm:\n    image: {IMAGE}\n    command: >\n      -m a \\\n      -c 1\n"
    )
    assert (found.words, codes(found)) == (("-m", "a", "-c", "1"), {"broken_continuation"})


def test_that_what_compose_asks_for_is_no_part_of_the_word() -> None:
    found = one(f"services:\n  llm:\n    image: {IMAGE}\n    command: -m ${{M:?give one}}\n")
    assert (found.words, codes(found)) == (("-m", "${M}"), {"unresolved_variable"})


def test_that_a_model_of_compose_is_read() -> None:
    found = one(
        "services: {app: {image: x, models: [llm]}}\nmodels:\n  llm:\n    model: ai/x\n"
        "    context_size: 8192\n    runtime_flags: [--temp, '0.7']\n"
    )
    assert found.title == "llm"
    assert found.words == ("--ctx-size", "8192", "--docker-repo", "ai/x", "--temp", "0.7")


# --- Kubernetes -----------------------------------------------------------------------------------

_MAP = (
    "kind: ConfigMap\nmetadata: {name: env}\n"
    "data: {LLAMA_ARG_CTX_SIZE: '1', other: x}\n---\n"
)  # fmt: skip


def test_that_variables_of_a_map_in_the_text_are_read() -> None:
    found = one(
        f"{_MAP}containers:\n- name: llm\n  image: {IMAGE}\n  args: [-m, $(M)]\n"
        "  envFrom: [{configMapRef: {name: env}}, {secretRef: {name: s}}]\n"
        "  env: [{name: M, valueFrom: {configMapKeyRef: {name: env, key: other}}}]\n"
    )
    assert found.words == ("-m", "x")
    assert found.env == {"LLAMA_ARG_CTX_SIZE": "1", "other": "x", "M": "x"}
    assert any("variables in s " in note for note in found.notes)


def test_that_a_value_of_a_secret_is_told_and_not_invented() -> None:
    found = one(
        f"containers:\n- name: llm\n  image: {IMAGE}\n  args: [-m, a]\n"
        "  env: [{name: T, valueFrom: {secretKeyRef: {name: s, key: k}}}]\n"
    )
    assert (found.env, codes(found)) == ({}, {"unresolved_variable"})


def test_that_a_template_of_helm_is_read_without_its_own_lines() -> None:
    found = one(
        f"containers:\n- name: llm\n  image: {IMAGE}\n  args:\n  - --model\n"
        "  - {{ .Values.model | quote }}\n  {{- if .Values.gpu }}\n  - -ngl\n  - '9'\n"
        "  {{- end }}\n"
    )
    assert found.words == ("--model", "{{ .Values.model | quote }}", "-ngl", "9")
    assert codes(found) == {"unresolved_variable"}
    assert found.notes


def test_that_flags_among_values_of_a_chart_are_read_and_the_rest_is_told() -> None:
    found = one("image: {tag: x}\nserver:\n  extraArgs: [-c, '1', --jinja]\n")
    assert (found.words, found.title) == (("-c", "1", "--jinja"), "server.extraArgs")
    assert any("image.tag" in note for note in found.notes)


def test_that_several_flags_in_one_item_are_parted_and_told() -> None:
    found = one(f"containers:\n- name: l\n  image: {IMAGE}\n  args:\n  - >-\n    -m a\n    -c 1\n")
    assert (found.words, codes(found)) == (("-m", "a", "-c", "1"), {"shell_quoting"})


# --- systemd and llama-swap -----------------------------------------------------------------------


def test_that_what_podman_is_told_in_a_unit_is_read() -> None:
    found = one(
        f"[Container]\nImage={IMAGE}\nPodmanArgs=--env A=1 -v /x:/m\nEnvironment=B=2\n"
        "Volume=%h/m:/n\nExec=-m /m/a --port ${B}\nNice=-5\n"
    )
    assert (found.words, found.env) == (("-m", "/m/a", "--port", "2"), {"A": "1", "B": "2"})
    assert found.mounts == (("/x", "/m"), ("%h/m", "/n"))
    assert any("home folder" in problem for problem in found.problems)
    assert any("Nice=-5" in note for note in found.notes)


def test_that_a_comment_behind_a_command_of_a_unit_is_told() -> None:
    found = one("[Service]\nExecStart=/bin/llama-server -m a # mine -c 1 #x\n")
    assert (found.words, codes(found)) == (("-m", "a", "-c", "1"), {"broken_file"})


def test_that_comments_of_llama_swap_drop_nothing() -> None:
    block = "\n      llama-server -m a\n      # -ngl 99\n      -c 1 # said\n"
    for mark, told in (("|", set()), (">", {"broken_file"})):
        found = one(f"models:\n  q:\n    cmd: {mark}{block}    ttl: 1\ngroups: {{g: {{}}}}\n")
        assert (found.words, codes(found)) == (("-m", "a", "-c", "1"), told)
        assert any("ttl" in note for note in found.notes)
        assert any("groups" in note for note in found.notes)


def test_that_a_macro_is_told_once() -> None:
    found = one('models:\n  q:\n    cmd: bash -c "llama-server --port ${PORT}"\n')
    assert codes(found) == {"macro"}


# --- variables ------------------------------------------------------------------------------------


def test_that_variables_are_put_into_those_below_them() -> None:
    found = one("D=/m\nLLAMA_ARG_MODEL=${D}/a\nX='${D}'\nY=\"$D\"\n", ".env")
    assert found.env == {"D": "/m", "LLAMA_ARG_MODEL": "/m/a", "X": "${D}", "Y": "/m"}
    assert found.notes


def test_that_variables_of_an_editor_s_start_are_kept() -> None:
    found = one(
        '{"program": "/x/llama-server", "args": ["-m", "a"],\n'
        ' "environment": [{"name": "GGML_A", "value": "1"}]}'
    )
    assert found.env == {"GGML_A": "1"}


def test_that_several_variables_on_a_line_are_several() -> None:
    assert one("LLAMA_ARG_A=1 LLAMA_ARG_B='2' LLAMA_ARG_C=3").env == {
        "LLAMA_ARG_A": "1", "LLAMA_ARG_B": "2", "LLAMA_ARG_C": "3",
    }  # fmt: skip
    assert one("A=b c\nLLAMA_ARG_X=1").env["A"] == "b c"


def test_that_what_is_one_word_to_systemd_is_read_as_it_was_meant() -> None:
    found = one('[Service]\nEnvironment="A=-c 1"\nExecStart=/bin/llama-server -m a ${A}\n')
    assert (found.words, codes(found)) == (("-m", "a", "-c", "1"), {"shell_quoting"})


def test_that_quotes_in_a_list_of_compose_are_told() -> None:
    found = one(f"services:\n  l:\n    image: {IMAGE}\n    environment:\n    - 'A=\"1\"'\n")
    assert (found.env, codes(found)) == ({"A": "1"}, {"shell_quoting"})


def test_that_variables_of_systemd_run_are_the_program_s() -> None:
    assert one("systemd-run -E A=1 --setenv=B=2 llama-server -m a").env == {"A": "1", "B": "2"}


def test_that_calls_in_a_numbered_list_are_found() -> None:
    found = read("1. `llama-server -m a -c 1`\n2. `llama-server -m b -c 2`\n")
    assert [each.words for each in found] == [("-m", "a", "-c", "1"), ("-m", "b", "-c", "2")]
