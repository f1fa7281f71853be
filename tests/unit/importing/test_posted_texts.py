"""What pages and editors put into a text, and files that are no shell's: agents, lists, Nix."""

from __future__ import annotations

import pytest

from app.importing.invocation import Invocation
from app.importing.posted_text import as_written
from app.importing.readers import read
from app.importing.text_error import TextError


def one(text: str, hint: str = "") -> Invocation:
    (found,) = read(text, hint)
    return found


def codes(found: Invocation) -> set[str]:
    return {problem.partition(":")[0] for problem in found.problems}


# --- pages and editors ------------------------------------------------------------------------


def test_that_signs_of_a_web_page_are_what_they_stand_for() -> None:
    found = one("llama-server --j &#39;{&quot;a&quot;: 1}&#39; -c 1 &gt; log 2&gt;&amp;1 &amp;")
    assert found.words == ("--j", '{"a": 1}', "-c", "1")
    assert codes(found) == {"typographic"}


def test_that_an_ampersand_stays_one() -> None:
    assert one("llama-server -m 'a&b;c' -c 1").words == ("-m", "a&b;c", "-c", "1")


def test_that_hyphens_that_do_not_break_are_plain_ones() -> None:
    found = one("llama\u2011server \u2011m a.gguf \u2010\u2010port 1")
    assert (found.program, found.words) == ("llama-server", ("-m", "a.gguf", "--port", "1"))
    assert codes(found) == {"typographic"}


@pytest.mark.parametrize("mark", [" ", ": ", ". ", "\t", " | ", "  "])
def test_that_numbers_of_lines_are_left_out(mark: str) -> None:
    lines = ["llama-server \\", "  -m a.gguf \\", "", "  -c 1"]
    text = "\n".join(f"{number}{mark}{line}" for number, line in enumerate(lines, 9))
    found = as_written(text)
    assert [line.strip() for line in found.text.split("\n")] == [line.strip() for line in lines]
    assert found.notes


@pytest.mark.parametrize("text", ["1 a\n3 b", "8080 a", "a\nb", "2 a\n1 b"])
def test_that_other_numbers_stay(text: str) -> None:
    assert as_written(text).text == text


# --- agents and programs that start programs ------------------------------------------------------


def test_that_an_agent_of_launchd_is_read() -> None:
    found = one(
        '<?xml version="1.0"?>\n<plist version="1.0"><dict>\n<key>Label</key><string>llm</string>\n'
        "<key>EnvironmentVariables</key><dict><key>GGML_A</key><string>1</string></dict>\n"
        "<key>WorkingDirectory</key><string>/opt</string>\n"
        "<key>ProgramArguments</key>\n<array>\n<string>/opt/bin/llama-server</string>\n"
        "<!-- <string>--old</string> -->\n"
        "<string>-m</string><string>a &amp; b.gguf</string>\n</array></dict></plist>"
    )
    assert (found.kind, found.program, found.title) == ("launchd", "llama-server", "llm")
    assert (found.words, found.env) == (("-m", "a & b.gguf"), {"GGML_A": "1"})


def test_that_a_relative_path_of_an_agent_is_told() -> None:
    found = one(
        "<key>WorkingDirectory</key><string>/opt</string><key>ProgramArguments</key>"
        "<array><string>llama-server</string><string>-m</string><string>a.gguf</string></array>"
    )
    assert codes(found) == {"relative_path"}


def test_that_programs_of_supervisord_are_read() -> None:
    found = read(
        "[supervisord]\nnodaemon=true\n[program:one]\ncommand=/opt/llama-server -m 'a b'\n"
        '  -c 1 ; said\ndirectory=/opt\nenvironment=GGML_A="1,2",B=%(ENV_X)s\n'
        '[program:two]\ncommand=bash -c "llama-server -m b"\n'
    )
    assert [(each.title, each.words) for each in found] == [
        ("one", ("-m", "a b", "-c", "1")),
        ("two", ("-m", "b")),
    ]
    assert found[0].env == {"GGML_A": "1,2", "B": "%(ENV_X)s"}
    assert codes(found[0]) == {"macro"}


def test_that_a_service_of_nix_is_read() -> None:
    found = one(
        "{ pkgs, ... }: {\n  services.llama-cpp = {\n    enable = true;\n"
        "    model = models.${x}.file;  # mine\n    port = 8080;\n"
        '    extraFlags = [ "-c" "8192" # no\n "-t" (toString cores) ];\n  };\n}\n'
    )
    assert (found.kind, found.program) == ("nix", "llama-server")
    assert found.words == (
        "-m", "${models.${x}.file}", "--port", "8080", "-c", "8192", "-t", "${cores}",
    )  # fmt: skip
    assert codes(found) == {"unresolved_variable"}


def test_that_a_unit_in_nix_is_read() -> None:
    found = one(
        "systemd.services.llm.serviceConfig = {\n  ExecStart = ''\n"
        "    ${pkgs.llama-cpp}/bin/llama-server \\\n      -m /m/a.gguf -c 1\n  '';\n};\n"
    )
    assert (found.program, found.words) == ("llama-server", ("-m", "/m/a.gguf", "-c", "1"))


def test_that_a_makefile_is_read() -> None:
    found = one(
        ".PHONY: serve\nMODEL ?= /m/a.gguf\nFLAGS := -c 1\nFLAGS += -ngl 9\n\nserve: build\n"
        "\t@llama-server -m $(MODEL) \\\n\t  $(FLAGS) --alias $$USER\n"
    )
    assert found.words == ("-m", "/m/a.gguf", "-c", "1", "-ngl", "9", "--alias", "$USER")
    assert codes(found) == {"unresolved_variable"}


def test_that_a_list_in_a_program_is_read() -> None:
    found = one(
        'import subprocess\nif gpu:\n    cmd += ["-ngl", "99"]\ncmd = [\n  "llama-server",\n'
        '  "-m", f"{folder}/a.gguf",  # mine\n  "-c", str(8192), "-t", str(os.cpu_count()),\n]\n'
        "subprocess.Popen(cmd)\n"
    )
    assert found.words == (
        "-m", "${folder}/a.gguf", "-c", "8192", "-t", "${os.cpu_count()}",
    )  # fmt: skip
    assert codes(found) == {"log_paste", "unresolved_variable"}
    assert any("“-ngl 99”" in problem for problem in found.problems)


@pytest.mark.parametrize(
    "before",
    [
        "toolbox run -c box", "distrobox enter llama --", "incus exec box --", "runuser -u me --",
        "apptainer exec --nv llama.sif", "cgexec -g memory:llm", "screen -dmS llama",
        "pct exec 1 --", "sudo -Eu me", "mise exec --", "pm2 start", "tini --", "prime-run",
        "likwid-pin -c 0-7",
    ],
)  # fmt: skip
def test_that_more_that_starts_programs_is_taken_off(before: str) -> None:
    found = one(f"{before} /opt/llama-server -m a.gguf -c 1")
    assert (found.program, found.words) == ("llama-server", ("-m", "a.gguf", "-c", "1"))


@pytest.mark.parametrize(
    "text",
    [
        "tmux send-keys -t x 'llama-server -m a.gguf' C-m",
        "screen -S x -X stuff 'llama-server -m a.gguf\\n'",
        "screen -dmS llama bash -c 'llama-server -m a.gguf; exec bash'",
        '"llama-server -m a.gguf"',
    ],
)
def test_that_what_is_typed_into_a_terminal_is_read(text: str) -> None:
    assert one(text).words == ("-m", "a.gguf")


@pytest.mark.parametrize(
    "text",
    [
        "spawn('./llama-server', ['-m', 'a.gguf', '-c', String(n)])",
        '"-m", "a.gguf", "-c", "${String(n)}"',
        'task "x" {\n  args = ["-m", "a.gguf", "-c", "${String(n)}"]\n}',
        '"Cmd": ["-m", "a.gguf", "-c", "${String(n)}"], "Image": "x"',
    ],
)
def test_that_words_in_lists_of_other_files_are_read(text: str) -> None:
    found = one(text)
    assert found.words == ("-m", "a.gguf", "-c", "${String(n)}")
    assert codes(found) & {"log_paste", "fragment"}


@pytest.mark.parametrize(
    "text",
    [
        'command="/usr/bin/llama-server"\ncommand_args="-m a.gguf -c 1"\n',
        '#!/sbin/openrc-run\nname="x"\ncommand="llama-server"\ncommand_args="-m a.gguf -c 1"\n'
        'depend() {\n  need net\n}\n',
        "start-stop-daemon --start --exec /usr/bin/llama-server -- -m a.gguf -c 1",
        "- name: x\n  ansible.builtin.shell: \"nohup llama-server -m a.gguf -c 1 &\"",
        "It runs GGML_A=1 llama-server -m a.gguf -c 1",
    ],
)  # fmt: skip
def test_that_services_and_sentences_give_the_words(text: str) -> None:
    found = one(text)
    assert (found.program, found.words[:4]) == ("llama-server", ("-m", "a.gguf", "-c", "1"))
    assert found.env == ({"GGML_A": "1"} if "GGML_A" in text else {})


@pytest.mark.parametrize("text", ["<plist></plist>", "services.llama-cpp"])
def test_that_files_without_a_command_are_refused(text: str) -> None:
    with pytest.raises(TextError):
        read(text)
