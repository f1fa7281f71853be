"""Texts for sh, bash and zsh, read without running them."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.importing.invocation import Invocation
from app.importing.posix_reader import read_script
from app.importing.readers import read
from app.importing.text_error import TextError
from app.quoting import Shell, quote, quote_lines


def one(text: str) -> Invocation:
    (found,) = read(text)
    return found


def codes(found: Invocation) -> set[str]:
    return {problem.partition(":")[0] for problem in found.problems}


@pytest.mark.parametrize(
    ("written", "word"),
    [
        ("'a b'", "a b"),
        ('"a b"', "a b"),
        ("a\\ b", "a b"),
        ("'it'\\''s'", "it's"),
        ('"say \\"hi\\""', 'say "hi"'),
        ('"C:\\models\\a.gguf"', "C:\\models\\a.gguf"),
        ("$'a\\tb\\x41\\101'", "a\tbAA"),
        ("'blk\\.(2[5-9]|3[0-9])\\..*=CPU'", "blk\\.(2[5-9]|3[0-9])\\..*=CPU"),
        ("a\"b\"'c'd", "abcd"),
        ("''", ""),
        ("a#b", "a#b"),
        ('"#x"', "#x"),
    ],
)
def test_that_quotes_are_taken_off(written: str, word: str) -> None:
    assert one(f"llama-server -m {written} -c 1").words == ("-m", word, "-c", "1")


def test_that_marks_join_lines_and_comments_are_left_out() -> None:
    found = one(
        "#!/bin/bash\n# serves\nllama-server \\\n  -m a.gguf \\\n  -c 4096 # enough\nexit 0\n"
    )
    assert found.words == ("-m", "a.gguf", "-c", "4096")
    assert not found.problems


@pytest.mark.parametrize(
    "text",
    [
        "llama-server \\ \n  -m a.gguf",
        "llama-server \\  # the server\n  -m a.gguf",
        "llama-server -m a.gguf \\\n  # -c 1 \\\n  -ngl 9",
        "llama-server -m a.gguf\n  -ngl 9",
        "llama-server \\ -m a.gguf \\ -ngl 9",
    ],
)
def test_that_a_broken_mark_is_mended_and_said(text: str) -> None:
    found = one(text)
    assert found.words[:2] == ("-m", "a.gguf")
    assert len(found.words) == (2 if "-ngl" not in text else 4)
    assert codes(found) == {"broken_continuation"}


@pytest.mark.parametrize(
    "text",
    [
        "M=a.gguf\nllama-server -m $M",
        'M="a.gguf"; llama-server -m "${M}"',
        "export M=a.gguf && llama-server -m ${M:-b.gguf}",
        "llama-server -m ${N:-a.gguf}",
        'llama-server -m "${N:-"a.gguf"}"',
        "D=a; F=$D.gguf; llama-server -m $F",
        'A=(-m a.gguf)\nllama-server "${A[@]}"',
        "A=(\n  -m   # the model\n  a.gguf\n)\nllama-server ${A[*]}",
        'A=(-m)\nA+=(a.gguf)\nllama-server "${A[@]}"',
        'ARGS="-m a.gguf"\nllama-server $ARGS',
        "ARGS='-m'; ARGS+=' a.gguf'; llama-server $ARGS",
        "setenv M a.gguf\nllama-server -m $M",
        "set -gx M a.gguf\nllama-server -m $M",
        "if true; then llama-server -m a.gguf; fi",
        "(cd /x && llama-server -m a.gguf)",
        "alias serve='llama-server -m a.gguf'",
        'bash -c "llama-server -m a.gguf"',
        "tmux new-session -d -s x 'llama-server -m a.gguf'",
        "ssh box llama-server -m a.gguf",
    ],
)
def test_that_what_the_text_sets_is_put_in(text: str) -> None:
    assert one(text).words == ("-m", "a.gguf")


def test_that_what_nobody_knows_stays_as_written_and_is_said() -> None:
    found = one('llama-server -m "$MODELS/a.gguf" -t $(nproc) -c ${N}')
    assert found.words == ("-m", "$MODELS/a.gguf", "-t", "$(nproc)", "-c", "${N}")
    said = [problem for problem in found.problems if problem.startswith("unresolved_variable")]
    assert [name in text for name, text in zip(["MODELS", "nproc", "N"], said, strict=True)]


def test_that_what_a_value_lacks_is_said_where_it_is_used() -> None:
    found = one("export PATH=/cuda/bin:$PATH\nD=$HOME/models\nE=$OTHER\nllama-server -m $D/a.gguf")
    assert found.words == ("-m", "$HOME/models/a.gguf")
    (problem,) = found.problems
    assert "$HOME" in problem


def test_that_arguments_of_a_script_are_no_words() -> None:
    found = one('exec llama-server -m a.gguf "$@"')
    assert found.words == ("-m", "a.gguf")
    assert codes(found) == {"unresolved_variable"}


def test_that_only_what_programs_find_is_environment() -> None:
    found = one(
        "export CUDA_VISIBLE_DEVICES=1\nexport M=a.gguf\nLOCAL=x\n"
        "GGML_CUDA_FORCE_MMQ=1 llama-server -m $M"
    )
    assert found.env == {"CUDA_VISIBLE_DEVICES": "1", "GGML_CUDA_FORCE_MMQ": "1"}


def test_that_variables_alone_are_an_environment() -> None:
    found = one("export OLLAMA_HOST=0.0.0.0\nOLLAMA_NUM_PARALLEL='2' # two\n")
    assert (found.kind, found.program) == ("env", "")
    assert found.env == {"OLLAMA_HOST": "0.0.0.0", "OLLAMA_NUM_PARALLEL": "2"}


@pytest.mark.parametrize(
    "before",
    [
        "nohup", "time", "exec", "sudo -u me", "sudo -E", "env A=b", "numactl --interleave=all",
        "numactl -N 0 -m 0", "taskset -c 0-7", "nice -n 5", "stdbuf -oL", "setsid", "uv run",
        "systemd-run --user --scope", "docker exec -it box", "gdb --args", "timeout 60",
        "nohup taskset -c 0,1 nice -n -5", "conda run -n llm", "mpirun -np 1", "chrt -f 50",
    ],
)  # fmt: skip
def test_that_what_starts_the_program_is_taken_off(before: str) -> None:
    found = one(f"{before} /opt/llama/llama-server -m a.gguf -c 1")
    assert (found.program, found.words) == ("llama-server", ("-m", "a.gguf", "-c", "1"))


def test_that_pinning_to_cores_is_told() -> None:
    (note,) = one("taskset -c 0-7 llama-server -m a.gguf").notes
    assert "taskset -c 0-7" in note


@pytest.mark.parametrize(
    ("text", "program", "words"),
    [
        ("python3 -m vllm.entrypoints.openai.api_server --port 1",
         "vllm.entrypoints.openai.api_server", ("--port", "1")),
        ("python -u koboldcpp.py --threads 1", "koboldcpp.py", ("--threads", "1")),
        ("/bin/sh /usr/bin/llamafile -m a", "llamafile", ("-m", "a")),
        ("./server -m a.gguf", "server", ("-m", "a.gguf")),
        ("~/llama.cpp/build/bin/llama-cli -m a", "llama-cli", ("-m", "a")),
    ],
)  # fmt: skip
def test_that_folders_and_interpreters_are_left_out(
    text: str, program: str, words: tuple[str, ...]
) -> None:
    assert (one(text).program, one(text).words) == (program, words)


def test_that_the_engine_is_found_among_other_commands() -> None:
    found = one(
        "git clone https://example.org/x && cd x\ncmake -B build -DGGML_CUDA=ON\n"
        "./build/bin/llama-server -m models/a.gguf --port 1 2>&1 | tee log.txt &\nsleep 5\n"
    )
    assert found.words == ("-m", "models/a.gguf", "--port", "1")
    assert codes(found) == {"relative_path"}


def test_that_several_commands_are_several() -> None:
    found = read("llama-server -m a.gguf --port 1 &\nllama-server -m b.gguf --port 2 &\nwait\n")
    assert [each.words[1] for each in found] == ["a.gguf", "b.gguf"]


@pytest.mark.parametrize(
    "text",
    [
        "-m a.gguf -c 4096",
        "-m a.gguf\n-c 4096",
        "-m\na.gguf\n-c\n4096",
    ],
)
def test_that_flags_alone_are_a_fragment(text: str) -> None:
    found = one(text)
    assert (found.program, found.words) == ("", ("-m", "a.gguf", "-c", "4096"))
    assert codes(found) == {"fragment"}


@pytest.mark.parametrize(
    ("text", "words", "code"),
    [
        ("llama-server –m a.gguf —port 1", ("-m", "a.gguf", "--port", "1"), "typographic"),
        ("llama-server -m “a b.gguf”", ("-m", "a b.gguf"), "typographic"),
        ("llama-server -ot blk.(1|2).ffn=CPU -c 1", ("-ot", "blk.(1|2).ffn=CPU", "-c", "1"),
         "shell_quoting"),
        ("llama-server \\\n -m C:\\m\\a.gguf \\\n -c 1", ("-m", "C:\\m\\a.gguf", "-c", "1"),
         "shell_quoting"),
        ("llama-server -m 'a.gguf -c 1", ("-m", "'a.gguf", "-c", "1"), "shell_quoting"),
        ('vllm serve x --j {"a": "b c", "d": [1]} -c 1',
         ("serve", "x", "--j", '{"a": "b c", "d": [1]}', "-c", "1"), "log_paste"),
        ('llama-server --model "~/a.gguf"', ("--model", "~/a.gguf"), "home_path"),
        ("llama-server --model=~/a.gguf", ("--model=~/a.gguf",), "home_path"),
    ],
)  # fmt: skip
def test_that_what_was_meant_is_read_and_said(text: str, words: tuple[str, ...], code: str) -> None:
    found = one(text)
    assert found.words == words
    assert codes(found) == {code}


def test_that_placeholders_in_angle_brackets_are_words() -> None:
    assert one("llama-server --host <IP> --api-key <key>").words == (
        "--host", "<IP>", "--api-key", "<key>",
    )  # fmt: skip


def test_that_a_home_folder_the_shell_expands_is_no_problem() -> None:
    found = one("llama-server -m ~/a.gguf")
    assert (found.words, found.problems) == (("-m", "~/a.gguf"), ())


def test_that_here_documents_are_files_of_their_own() -> None:
    found = read(
        "sudo tee /etc/systemd/system/llama.service > /dev/null <<'EOF'\n[Service]\n"
        "ExecStart=/usr/bin/llama-server -m /a.gguf\nEOF\nsudo systemctl daemon-reload\n"
    )
    assert [(each.kind, each.words) for each in found] == [("systemd", ("-m", "/a.gguf"))]


@given(st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8")), max_size=5))
@example(["", "a b", "it's", '"', "$HOME", "`x`", "{x}", '{"a": 1}', "(", "#", "~", "*", "a\nb"])
@example(["C:\\dir\\", "“q”", "–m", "<x>", "a\\", "$'x'", "-ot", "blk\\.(1|2)=CPU", "!", "\u00a0"])
def test_that_what_is_quoted_for_a_shell_is_read_back(words: list[str]) -> None:
    for write in (quote, quote_lines):
        (call,) = read_script(write(["llama-server", *words], Shell.POSIX)).calls
        assert list(call.words[1:]) == words


def test_that_variables_that_multiply_are_refused_in_a_sentence() -> None:
    lines = ["A=xxxxxxxxxx", *["A=$A$A$A$A$A$A$A$A"] * 40, "llama-server -m $A"]
    with pytest.raises(TextError, match="no command has"):
        read("\n".join(lines))
    lines = ["A=('' '')", *['A=("${A[@]}" "${A[@]}")'] * 60, 'llama-server "${A[@]}"']
    with pytest.raises(TextError, match="no command has"):
        read("\n".join(lines))


# --- What a text takes back, and what a condition decides ----------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "export LLAMA_ARG_N_PARALLEL=2\nunset LLAMA_ARG_N_PARALLEL\nllama-server -m a.gguf",
        "export LLAMA_ARG_N_PARALLEL=2\nenv -u LLAMA_ARG_N_PARALLEL llama-server -m a.gguf",
        "export LLAMA_ARG_N_PARALLEL=2\nenv -uLLAMA_ARG_N_PARALLEL llama-server -m a.gguf",
        "export LLAMA_ARG_N_PARALLEL=2\nenv --unset=LLAMA_ARG_N_PARALLEL llama-server -m a.gguf",
        "export LLAMA_ARG_N_PARALLEL=2\nenv -i llama-server -m a.gguf",
        "export LLAMA_ARG_N_PARALLEL=2\nenv - llama-server -m a.gguf",
    ],
)
def test_that_variables_that_are_taken_back_are_gone(text: str) -> None:
    assert one(text).env == {}


def test_that_env_keeps_what_it_sets_itself_and_what_it_leaves() -> None:
    found = one("export LLAMA_ARG_A=1 GGML_B=2\nenv -u GGML_B LLAMA_ARG_C=3 llama-server")
    assert found.env == {"LLAMA_ARG_A": "1", "LLAMA_ARG_C": "3"}
    assert one("export GGML_B=2\nenv -i GGML_C=3 llama-server").env == {"GGML_C": "3"}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("if [ -e x ]; then M=a.gguf; else M=b.gguf; fi", ("a.gguf", "b.gguf")),
        (
            "if [ -e x ]\nthen\n  M=a.gguf\nelif [ -e y ]\nthen\n  M=b.gguf\nfi",
            ("not set", "a.gguf", "b.gguf"),
        ),
        ("M=a.gguf\n[ -e b.gguf ] && M=b.gguf", ("a.gguf", "b.gguf")),
        ("M=a.gguf\n[[ -e b.gguf ]] && M=b.gguf", ("a.gguf", "b.gguf")),
        ("M=a.gguf\ntest -e b.gguf && export M=b.gguf", ("a.gguf", "b.gguf")),
        ("[ -e b.gguf ] && M=a.gguf || M=b.gguf", ("a.gguf", "b.gguf")),
        ("if a; then if b; then M=a.gguf; else M=b.gguf; fi; fi", ("a.gguf", "b.gguf")),
    ],
)
def test_that_what_a_condition_decides_is_open(text: str, values: tuple[str, ...]) -> None:
    found = read(f"{text}\nllama-server -m $M")[-1]
    assert found.words == ("-m", "${M}")
    (problem,) = [p for p in found.problems if p.startswith("unresolved_variable: ${M}")]
    assert all(value in problem for value in values)


def test_that_a_branch_knows_what_it_set_itself() -> None:
    text = "if x; then M=a; llama-server -m $M; else M=b; llama-server -m $M; fi"
    assert [f.words for f in read(text) if f.program == "llama-server"] == [
        ("-m", "a"), ("-m", "b"),
    ]  # fmt: skip


def test_that_what_all_branches_agree_about_is_no_question() -> None:
    found = read("if x; then M=a; else M=a; fi\nllama-server -m $M")[-1]
    assert found.words == ("-m", "a")
    found = read("if x; then M=a; else M=b; fi\nM=c\nllama-server -m $M")[-1]
    assert found.words == ("-m", "c")


def test_that_an_exported_variable_of_a_condition_is_open_too() -> None:
    text = (
        "if x; then export LLAMA_ARG_CTX_SIZE=1024; else export LLAMA_ARG_CTX_SIZE=2048; fi\n"
        "llama-server -m a.gguf"
    )
    found = read(text)[-1]
    assert found.env == {"LLAMA_ARG_CTX_SIZE": "${LLAMA_ARG_CTX_SIZE}"}
    assert "unresolved_variable" in codes(found)


def test_that_commands_in_a_row_are_no_condition() -> None:
    assert one("cd /m && M=a.gguf && llama-server -m $M").words == ("-m", "a.gguf")


def test_that_a_choice_among_cases_is_open() -> None:
    text = "case $1 in\n x) M=a.gguf ;;\n *) M=b.gguf ;;\nesac\nllama-server -m $M"
    call = read_script(text).calls[-1]
    assert call.words == ("llama-server", "-m", "${M}")
    (problem,) = call.problems
    assert "a.gguf" in problem
    assert "b.gguf" in problem
