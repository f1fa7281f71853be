"""docker run, compose and Kubernetes, Dockerfiles: what a container starts."""

from __future__ import annotations

import pytest

from app.importing.invocation import Invocation
from app.importing.readers import read
from app.importing.text_error import TextError

IMAGE = "ghcr.io/ggml-org/llama.cpp:server"


def one(text: str) -> Invocation:
    (found,) = read(text)
    return found


def codes(found: Invocation) -> set[str]:
    return {problem.partition(":")[0] for problem in found.problems}


# --- docker run -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "flags",
    [
        "", "-it --rm", "-d -p 8080:8080", "-itd --name x", "-p8080:8080", "--gpus all",
        "--gpus=all", "-m 8g --memory-swap 9g", "-h box", "--user 1000:1000 --ipc host",
        "--runtime nvidia --shm-size=1g --ulimit memlock=-1", "-e A=b -e C", "--device /dev/dri",
        "--security-opt seccomp=unconfined --group-add video --privileged",
        "--entrypoint /app/llama-server", "--restart unless-stopped --network=host",
    ],
)  # fmt: skip
def test_that_flags_of_docker_are_no_words_of_the_engine(flags: str) -> None:
    found = one(f"docker run {flags} {IMAGE} -m /a.gguf -c 1")
    assert (found.kind, found.program) == ("docker-run", "llama-server")
    assert (found.words, found.image) == (("-m", "/a.gguf", "-c", "1"), IMAGE)


def test_that_variables_folders_and_ports_are_told() -> None:
    found = one(
        "sudo docker run -e A=b --env 'C=d e' --env-file .env -e TOKEN -v /srv/llm:/models:ro "
        f"--mount type=bind,source=/x,target=/y -v C:\\llm:/z -p 127.0.0.1:1:2/tcp {IMAGE} "
        "-m /models/a.gguf"
    )
    assert found.env == {"A": "b", "C": "d e"}
    assert found.mounts == (("/srv/llm", "/models"), ("/x", "/y"), ("C:\\llm", "/z"))
    assert found.ports == (("1", "2"),)
    assert {"unresolved_variable", "container_path"} <= codes(found)
    assert any(".env" in note for note in found.notes)


@pytest.mark.parametrize(
    ("tail", "program", "words"),
    [
        ("ghcr.io/ggml-org/llama.cpp:full-cuda --server -m a", "llama-server", ("-m", "a")),
        ("ghcr.io/ggml-org/llama.cpp:light -m a", "llama-cli", ("-m", "a")),
        ("vllm/vllm-openai:latest --model a", "vllm", ("serve", "--model", "a")),
        ("vllm/vllm-openai a -tp 2", "vllm", ("serve", "a", "-tp", "2")),
        ("lmsysorg/sglang python3 -m sglang.launch_server --tp 1", "sglang.launch_server",
         ("--tp", "1")),
        ("ollama/ollama", "ollama", ()),
        ("--entrypoint bash vllm/vllm-openai -c 'vllm serve a --tp 1'", "vllm",
         ("serve", "a", "--tp", "1")),
        ("mine/own:1 -m a", "", ("-m", "a")),
    ],
)  # fmt: skip
def test_that_the_image_tells_the_program(tail: str, program: str, words: tuple[str, ...]) -> None:
    found = one(f"docker run {tail}" if words else f"docker run -d {tail}")
    assert (found.program, found.words) == (program, words)


def test_that_docker_is_read_in_every_shell() -> None:
    for mark, hint in (("\\", "x.sh"), ("^", "x.bat"), ("`", "x.ps1")):
        (found,) = read(f"docker run -it {mark}\n  {IMAGE} {mark}\n  -m a", hint)
        assert (found.kind, found.words) == ("docker-run", ("-m", "a"))


# --- compose ----------------------------------------------------------------------------------


def compose(body: str) -> str:
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return f"services:\n  llm:\n    image: {IMAGE}\n{lines}\n"


@pytest.mark.parametrize(
    "body",
    [
        'command: ["-m", "a b.gguf", "-c", "1"]',
        "command:\n  - -m\n  - a b.gguf\n  - -c\n  - 1",
        "command: -m 'a b.gguf' -c 1",
        'command: >\n  -m "a b.gguf"\n  -c 1',
        'command: |\n  -m "a b.gguf"\n  -c 1',
        'command: >-\n  -m "${MODEL:-a b.gguf}"\n  -c ${CTX-1}',
        "entrypoint: /app/llama-server\ncommand: -m 'a b.gguf' -c 1",
        "entrypoint: [sh, -c]\ncommand: [\"llama-server -m 'a b.gguf' -c 1\"]",
        "command: llama-server -m 'a b.gguf' -c 1",
        "command: /bin/sh -c \"llama-server -m 'a b.gguf' -c 1\"",
    ],
)
def test_that_a_command_is_read_in_each_form(body: str) -> None:
    found = one(compose(body))
    assert (found.kind, found.program, found.title) == ("compose", "llama-server", "llm")
    assert found.words == ("-m", "a b.gguf", "-c", "1")


def test_that_an_item_with_flag_and_value_is_two_words() -> None:
    found = one(compose('command:\n  - "--ctx-size 4096"\n  - "-ngl -1"'))
    assert found.words == ("--ctx-size", "4096", "-ngl", "-1")
    assert codes(found) == {"shell_quoting"}


@pytest.mark.parametrize(
    "body",
    [
        "environment:\n  A: 1\n  B: on",
        "environment:\n  - A=1\n  - B=on",
        "environment: {A: 1, B: on}",
        "environment:\n  A: ${X:-1}\n  B: '$${on}'",
    ],
)
def test_that_variables_are_read_as_text(body: str) -> None:
    env = one(compose(body)).env
    assert env in ({"A": "1", "B": "on"}, {"A": "1", "B": "${on}"})


def test_that_what_compose_takes_from_elsewhere_is_said() -> None:
    found = one(compose("command: -m ${MODEL}\nenv_file: .env\nenvironment: [TOKEN]"))
    assert found.words == ("-m", "${MODEL}")
    assert codes(found) == {"unresolved_variable"}
    assert any(".env" in note for note in found.notes)


def test_that_anchors_are_followed() -> None:
    found = read(
        f"x-base: &base\n  image: {IMAGE}\n  environment: &env\n    A: b\nservices:\n"
        "  one:\n    <<: *base\n    command: -m a\n"
        "  two:\n    <<: *base\n    environment:\n      <<: *env\n      C: d\n    command: -m b\n"
    )
    assert [(each.title, each.words, dict(each.env)) for each in found] == [
        ("one", ("-m", "a"), {"A": "b"}),
        ("two", ("-m", "b"), {"C": "d", "A": "b"}),
    ]


def test_that_a_service_without_its_file_is_read() -> None:
    found = one(f"llm:\n image: {IMAGE}\n environment:\n  LLAMA_ARG_MODEL: /a\n ports:\n - 1:2")
    assert (found.program, found.env) == ("llama-server", {"LLAMA_ARG_MODEL": "/a"})
    assert found.ports == (("1", "2"),)


def test_that_tabs_in_indents_are_forgiven() -> None:
    assert one(f"services:\n\tllm:\n\t\timage: {IMAGE}\n\t\tcommand: -m a").words == ("-m", "a")


# --- Kubernetes -------------------------------------------------------------------------------


def test_that_containers_of_kubernetes_are_read() -> None:
    found = one(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\nspec:\n  template:\n"
        "    spec:\n      containers:\n      - name: llm\n        image: x/y\n"
        "        command: [/app/llama-server]\n        args: [-m, $(MODEL), --port, '8080']\n"
        "        env:\n        - name: MODEL\n          value: /models/a.gguf\n"
        "        - name: TOKEN\n          valueFrom: {secretKeyRef: {name: s, key: k}}\n"
        "        volumeMounts:\n        - {name: v, mountPath: /models}\n"
        "      volumes:\n      - name: v\n        hostPath: {path: /srv}\n"
    )
    assert (found.kind, found.program, found.title) == ("kubernetes", "llama-server", "llm")
    assert found.words == ("-m", "/models/a.gguf", "--port", "8080")
    assert found.mounts == (("/srv", "/models"),)
    assert codes(found) == {"unresolved_variable", "container_path"}


def test_that_a_shell_in_kubernetes_knows_the_variables() -> None:
    found = one(
        "containers:\n- name: llm\n  image: x/y\n  command: [/bin/sh, -c]\n"
        "  args:\n  - |\n    exec llama-server \\\n      -m $MODEL\n"
        "  env: [{name: MODEL, value: /a.gguf}]\n"
    )
    assert found.words == ("-m", "/a.gguf")


def test_that_a_list_of_containers_alone_is_read() -> None:
    found = one(f"- name: llm\n  image: {IMAGE}\n  args: [-m, /a.gguf]\n")
    assert (found.title, found.program, found.words) == ("llm", "llama-server", ("-m", "/a.gguf"))


def test_that_a_list_of_words_alone_is_a_fragment() -> None:
    found = one("- --model\n- /a.gguf\n- --port=1\n")
    assert (found.program, found.words) == ("", ("--model", "/a.gguf", "--port=1"))
    assert codes(found) == {"fragment"}


@pytest.mark.parametrize(
    "text",
    [
        "OLLAMA_DEBUG: 1\nOLLAMA_HOST: 0.0.0.0\n",
        "env:\n- name: OLLAMA_DEBUG\n  value: '1'\n- name: OLLAMA_HOST\n  value: 0.0.0.0\n",
        "- name: OLLAMA_DEBUG\n  value: '1'\n- name: OLLAMA_HOST\n  value: 0.0.0.0\n",
        "- OLLAMA_DEBUG=1\n- OLLAMA_HOST=0.0.0.0\n",
        "environment:\n  OLLAMA_DEBUG: 1\n  OLLAMA_HOST: 0.0.0.0\n",
        "ENV OLLAMA_DEBUG=1 OLLAMA_HOST=0.0.0.0\n",
        "docker run -e OLLAMA_DEBUG=1 -e OLLAMA_HOST=0.0.0.0",
    ],
)
def test_that_variables_alone_are_an_environment(text: str) -> None:
    assert one(text).env == {"OLLAMA_DEBUG": "1", "OLLAMA_HOST": "0.0.0.0"}


def test_that_yaml_that_multiplies_costs_nothing() -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    for before, name in zip("abcdefgh", "bcdefghi", strict=True):
        lines.append(f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]")
    with pytest.raises(TextError):
        read("\n".join([*lines, "services:", "  s: {image: x, command: *i}"]))


# --- Dockerfiles ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        'FROM x\nENTRYPOINT ["llama-server", "-m", "a"]',
        'FROM x\nENTRYPOINT ["llama-server"]\nCMD ["-m", "a"]',
        f'FROM {IMAGE}\nCMD ["-m", "a"]',
        "FROM x\nARG M=a\nENV N=$M\nCMD llama-server \\\n  -m a",
        "ENTRYPOINT ['llama-server', '-m', 'a']",
        "FROM x\nCMD cd /x && llama-server -m a",
    ],
)
def test_that_a_dockerfile_tells_what_it_starts(text: str) -> None:
    found = one(text)
    assert (found.kind, found.program, found.words) == ("dockerfile", "llama-server", ("-m", "a"))
