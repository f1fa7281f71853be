"""The server in a container: docker run and compose, their mounts, images and quoting."""

from __future__ import annotations

import csv
import itertools
import shlex
from pathlib import Path

import msgspec
import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from app.export import docker_compose, docker_run
from app.export.container import contained
from app.export.dialect import Export
from app.export.engine_words import engine_words
from app.quoting import Shell
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.settings.config import EngineConfig
from tests.unit.export.checked_words import assert_shared_takes, said_in
from tests.unit.test_export import EFFECTIVE, FACTS, OTHER_VALUE, configs, effectives

ON_GPU = msgspec.structs.replace(EFFECTIVE, n_gpu_layers=5)
IMAGE = "ghcr.io/ggml-org/llama.cpp"


def taken_apart(export: Export) -> tuple[list[str], str, list[str]]:
    """What stands before the image, the image, and what the server is told."""
    words = shlex.split(export.text)
    assert words[:2] == ["docker", "run"]
    at = next(number for number, word in enumerate(words) if word.startswith(IMAGE))
    return words[2:at], words[at], words[at + 1 :]


def mounts_in(words: list[str]) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    for flag, value in itertools.pairwise(words):
        if flag == "--mount":
            (cells,) = csv.reader([value], strict=True)
            parts = [cell.partition("=") for cell in cells]
            found.append({name: value for name, _, value in parts})
    return found


def service_in(export: Export) -> dict[str, object]:
    (service,) = yaml.safe_load(export.files[0].text)["services"].values()
    assert isinstance(service, dict)
    return service


def command_in(export: Export) -> list[str]:
    """The server's words, with what compose puts in for dollar signs."""
    command = service_in(export)["command"]
    assert isinstance(command, list)
    for word in command:
        assert isinstance(word, str)
        assert "$" not in word.replace("$$", "")
    return [word.replace("$$", "$") for word in command]


@given(configs(), st.none() | effectives())
def test_that_both_tell_the_server_the_same(
    config: EngineConfig, effective: EffectiveConfig | None
) -> None:
    run = docker_run.export(config, effective, FACTS)
    compose = docker_compose.export(config, effective, FACTS)
    assume(run.text)
    inside = contained(config, effective, FACTS)
    before, image, words = taken_apart(run)
    assert words == command_in(compose) == list(inside.words)
    assert image == service_in(compose)["image"] == inside.image
    said_in(words)
    assert "--rpc" not in words
    assert not any(mount.source.startswith("~") for mount in inside.mounts)
    sources = [mount["source"] for mount in mounts_in(before)]
    assert sources == [mount.source for mount in inside.mounts]
    volumes = service_in(compose).get("volumes", [])
    assert isinstance(volumes, list)
    assert [volume["source"].replace("$$", "$") for volume in volumes] == sources


def test_that_the_table_of_the_program_s_source_has_every_word() -> None:
    alone = {key: value for key, value in OTHER_VALUE.items() if key != "json_schema"}
    config = EngineConfig().with_values(dict(alone))
    words = contained(config, EFFECTIVE, FACTS).words
    assert len(words) > 100
    assert_shared_takes(words, "llama_cpp", engine_words("llama_cpp"))


def test_that_a_model_s_folder_is_seen_and_cannot_be_written() -> None:
    export = docker_run.export(EngineConfig(model_path="/srv/me/models/m.gguf"), EFFECTIVE, FACTS)
    before, image, words = taken_apart(export)
    assert before == [
        "--rm", "-p", "127.0.0.1:8080:8080", "--mount",
        "type=bind,source=/srv/me/models,target=/models,readonly",
    ]  # fmt: skip
    assert image == f"{IMAGE}:server"
    assert words[:2] == ["-m", "/models/m.gguf"]
    assert any("/srv/me/models as /models" in note for note in export.notes)
    assert "inside the container" in export.carried["model_path"].how


def test_that_other_folders_are_seen_too_and_one_folder_once() -> None:
    config = EngineConfig().with_values(
        {
            "model_path": "/m/big.gguf", "draft_model_path": "/drafts/small.gguf",
            "spec_types": ["draft-simple", "ngram-cache"], "mmproj_path": "/m/sub/eye.gguf",
            "lora": ["/l/a.gguf", "/l2/b.gguf:0.5"], "lookup_cache_dynamic_path": "/m/seen.bin",
        }
    )  # fmt: skip
    export = docker_run.export(config, EFFECTIVE, FACTS)
    before, _, words = taken_apart(export)
    mounts = mounts_in(before)
    assert [(mount["source"], mount["target"], "readonly" in mount) for mount in mounts] == [
        ("/m", "/models", True), ("/drafts", "/draft", True), ("/m", "/lookup-written", False),
        ("/l", "/lora", True), ("/l2", "/lora2", True),
    ]  # fmt: skip
    said = dict(itertools.pairwise(words))
    assert said["-md"] == "/draft/small.gguf"
    assert said["-mm"] == "/models/sub/eye.gguf"
    assert said["--lora"] == "/lora/a.gguf"
    assert said["--lora-scaled"] == "/lora2/b.gguf:0.5"
    assert said["-lcd"] == "/lookup-written/seen.bin"
    volumes = service_in(docker_compose.export(config, EFFECTIVE, FACTS))["volumes"]
    assert isinstance(volumes, list)
    assert [volume.get("read_only", False) for volume in volumes] == [
        True, True, False, True, True,
    ]  # fmt: skip


def test_that_a_file_of_the_hub_s_cache_is_seen_with_what_it_links_to() -> None:
    path = "/srv/me/.cache/huggingface/hub/models--a--b/snapshots/0f1e/q4/m.gguf"
    before, _, words = taken_apart(docker_run.export(EngineConfig(model_path=path), None, FACTS))
    (mount,) = mounts_in(before)
    assert mount["source"] == "/srv/me/.cache/huggingface/hub/models--a--b"
    assert words[1] == "/models/snapshots/0f1e/q4/m.gguf"


def test_that_of_a_link_the_folder_of_the_file_itself_is_seen(tmp_path: Path) -> None:
    models, disk = tmp_path / "a" / "models", tmp_path / "b"
    models.mkdir(parents=True)
    disk.mkdir()
    (disk / "real.gguf").write_bytes(b"")
    (models / "second.gguf").symlink_to("../../b/real.gguf")
    (models / "first.gguf").symlink_to(models / "second.gguf")
    config = EngineConfig(model_path=str(models / "first.gguf"))
    for export in (docker_run.export, docker_compose.export):
        assert any(f"{disk} as /models" in note for note in export(config, None, FACTS).notes)
    before, _, words = taken_apart(docker_run.export(config, None, FACTS))
    (mount,) = mounts_in(before)
    assert mount["source"] == str(disk)
    assert words[1] == "/models/real.gguf"
    compose = docker_compose.export(config, None, FACTS)
    volumes = service_in(compose)["volumes"]
    assert isinstance(volumes, list)
    assert volumes[0]["source"] == str(disk)
    assert command_in(compose)[1] == "/models/real.gguf"


def test_that_a_link_into_the_hub_s_cache_keeps_the_name_that_the_file_has_there(
    tmp_path: Path,
) -> None:
    repository = tmp_path / "hub" / "models--a--b"
    snapshot = repository / "snapshots" / "0f1e"
    snapshot.mkdir(parents=True)
    (repository / "blobs").mkdir()
    (repository / "blobs" / "5e7").write_bytes(b"")
    (snapshot / "m-00001-of-00002.gguf").symlink_to("../../blobs/5e7")
    link = tmp_path / "mine.gguf"
    link.symlink_to(snapshot / "m-00001-of-00002.gguf")
    config = EngineConfig(model_path=str(link))
    before, _, words = taken_apart(docker_run.export(config, None, FACTS))
    (mount,) = mounts_in(before)
    assert mount["source"] == str(repository)
    assert words[1] == "/models/snapshots/0f1e/m-00001-of-00002.gguf"


def test_that_a_link_that_leads_nowhere_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "gone.gguf").symlink_to("/not/here/m.gguf")
    (tmp_path / "ring.gguf").symlink_to(tmp_path / "ring.gguf")
    for name in ("gone.gguf", "ring.gguf"):
        config = EngineConfig(model_path=str(tmp_path / name))
        before, _, words = taken_apart(docker_run.export(config, None, FACTS))
        assert mounts_in(before)[0]["source"] == str(tmp_path)
        assert words[1] == f"/models/{name}"


def test_that_a_folder_that_is_a_link_is_seen_by_a_mount_of_its_own(tmp_path: Path) -> None:
    models, eyes = tmp_path / "models", tmp_path / "eyes"
    models.mkdir()
    eyes.mkdir()
    (models / "sub").symlink_to(eyes, target_is_directory=True)
    config = EngineConfig(
        model_path=str(models / "m.gguf"), mmproj_path=str(models / "sub" / "eye.gguf")
    )
    before, _, words = taken_apart(docker_run.export(config, None, FACTS))
    assert [mount["source"] for mount in mounts_in(before)] == [str(models), str(models / "sub")]
    assert dict(itertools.pairwise(words))["-mm"] == "/mmproj/eye.gguf"


def test_that_a_path_that_a_link_leads_to_is_refused_as_any_other(tmp_path: Path) -> None:
    folder = tmp_path / "two\nlines"
    folder.mkdir()
    (folder / "m.gguf").write_bytes(b"")
    (tmp_path / "m.gguf").symlink_to(folder / "m.gguf")
    config = EngineConfig(model_path=str(tmp_path / "m.gguf"))
    for export in (docker_run.export, docker_compose.export):
        made = export(config, None, FACTS)
        assert made.text == ""
        assert "line break" in made.notes[0]


@pytest.mark.parametrize(
    ("path", "source", "inside"),
    [
        ('/a,b "c"/it\'s.gguf', '/a,b "c"', "/models/it's.gguf"),
        ("/with: colon/m.gguf", "/with: colon", "/models/m.gguf"),
        ("/$HOME/`id` ${x}.gguf", "/$HOME", "/models/`id` ${x}.gguf"),
        ("/ünï 模型/m.gguf", "/ünï 模型", "/models/m.gguf"),
        ("/back\\slash/m.gguf", "/back\\slash", "/models/m.gguf"),
        ("C:\\my models\\m.gguf", "C:\\my models", "/models/m.gguf"),
        ("D:/models/m.gguf", "D:\\models", "/models/m.gguf"),
        ("models/m.gguf", "./models", "/models/m.gguf"),
        ("m.gguf", ".", "/models/m.gguf"),
        ("/m.gguf", "/m.gguf", "/models/m.gguf"),
    ],
)
def test_that_awkward_paths_are_mounted_as_they_are(path: str, source: str, inside: str) -> None:
    config = EngineConfig(model_path=path)
    before, _, words = taken_apart(docker_run.export(config, None, FACTS))
    (mount,) = mounts_in(before)
    assert mount["source"] == source
    assert words[1] == inside
    compose = docker_compose.export(config, None, FACTS)
    volumes = service_in(compose)["volumes"]
    assert isinstance(volumes, list)
    assert volumes[0]["source"].replace("$$", "$") == source
    assert command_in(compose)[1] == inside


@pytest.mark.parametrize("dialect", [docker_run.export, docker_compose.export])
@pytest.mark.parametrize(
    ("path", "why"),
    [("/two\nlines/m.gguf", "line break"), ("~/m.gguf", "~"), ("/m/../n/m.gguf", "..")],
)
def test_that_a_path_that_leads_elsewhere_is_refused(dialect: object, path: str, why: str) -> None:
    export = dialect(EngineConfig(model_path=path), None, FACTS)  # type: ignore[operator]
    assert (export.text, export.files) == ("", ())
    assert why in export.notes[0]


@pytest.mark.parametrize(
    ("values", "effective", "image", "given"),
    [
        ({}, EFFECTIVE, "server", []),
        ({"n_gpu_layers": 0}, None, "server", []),
        ({}, None, "server-cuda", ["--gpus", "all"]),
        ({}, ON_GPU, "server-cuda", ["--gpus", "all"]),
        ({"devices": ["CUDA1"]}, ON_GPU, "server-cuda", ["--gpus", "all"]),
        ({"devices": ["Vulkan0"]}, ON_GPU, "server-vulkan", ["--device", "/dev/dri"]),
        (
            {"devices": ["ROCm0"]}, ON_GPU, "server-rocm",
            ["--device", "/dev/kfd", "--device", "/dev/dri"],
        ),
        ({"devices": ["none"]}, None, "server", []),
    ],
)  # fmt: skip
def test_that_the_image_is_for_the_board_that_the_layers_lie_on(
    values: dict[str, object], effective: EffectiveConfig | None, image: str, given: list[str]
) -> None:
    config = EngineConfig().with_values(values)
    before, found, _ = taken_apart(docker_run.export(config, effective, FACTS))
    assert found == f"{IMAGE}:{image}"
    assert before[3:] == given
    service = service_in(docker_compose.export(config, effective, FACTS))
    assert ("deploy" in service) == (image == "server-cuda")
    devices = [word for word in given if word.startswith("/dev")]
    assert service.get("devices", []) == [f"{file}:{file}" for file in devices]


def test_that_a_gpu_is_reserved_as_compose_wants_it() -> None:
    service = service_in(docker_compose.export(EngineConfig(), ON_GPU, FACTS))
    assert service["deploy"] == {
        "resources": {
            "reservations": {
                "devices": [{"driver": "nvidia", "count": "all", "capabilities": ["gpu"]}]
            }
        }
    }


def test_that_workers_are_left_out_with_their_devices() -> None:
    config = EngineConfig(rpc_servers=("127.0.0.1:50052",), devices=("RPC0",), tensor_split=("1",))
    export = docker_run.export(config, None, FACTS)
    _, _, words = taken_apart(export)
    assert not {"--rpc", "-dev", "-ts"} & set(words)
    assert {"rpc_servers", "devices", "tensor_split"} <= set(export.not_carried)


def test_that_locked_memory_is_allowed() -> None:
    config = EngineConfig(load_mode="mmap+mlock")
    before, _, _ = taken_apart(docker_run.export(config, EFFECTIVE, FACTS))
    assert before[3:5] == ["--ulimit", "memlock=-1"]
    assert service_in(docker_compose.export(config, EFFECTIVE, FACTS))["ulimits"] == {"memlock": -1}


def test_that_the_port_of_a_flag_is_published_and_a_host_left_out() -> None:
    config = EngineConfig(extra_flags=("--port 9000", "--host 127.0.0.1"))
    export = docker_run.export(config, EFFECTIVE, FACTS)
    before, _, words = taken_apart(export)
    assert "127.0.0.1:9000:9000" in before
    assert "--host" not in words
    assert words[-2:] == ["--port", "9000"]
    assert "--host 127.0.0.1" in export.not_carried["extra_flags"]


def test_that_a_flag_with_a_path_is_told() -> None:
    config = EngineConfig(extra_flags=("--chat-template-file /t.jinja",))
    export = docker_compose.export(config, EFFECTIVE, FACTS)
    assert any(note.startswith("--chat-template-file names a path") for note in export.notes)


@pytest.mark.parametrize("shell", [Shell.CMD, Shell.POWERSHELL])
def test_that_a_shell_without_lines_gets_a_grammar_s_file(shell: Shell) -> None:
    config = EngineConfig(model_path="C:\\models\\m.gguf", grammar='root ::= "a"\n# b\n')
    export = docker_run.export(config, EFFECTIVE, FACTS, shell)
    assert export.text.replace("'", "").endswith("--grammar-file /models/grammar.gbnf")
    (file,) = export.files
    assert file.about == "Put it in C:\\models, which the container sees as /models."
    assert export.carried["grammar"].manner == "translated"
    lonely = docker_run.export(EngineConfig(grammar="root ::= x"), EFFECTIVE, FACTS, shell)
    assert "type=bind,source=./grammar.gbnf,target=/grammar.gbnf,readonly" in lonely.text
