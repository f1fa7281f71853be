"""Scripts for sh and bash: functions, conditions, loops, and what nobody can know beforehand."""

from __future__ import annotations

import pytest

from app.importing.invocation import Invocation
from app.importing.posix_reader import read_script
from app.importing.readers import read


def one(text: str) -> Invocation:
    (found,) = read(text)
    return found


def codes(found: Invocation) -> set[str]:
    return {problem.partition(":")[0] for problem in found.problems}


# --- functions --------------------------------------------------------------------------------


def test_that_a_function_is_read_where_it_is_called_with_its_words() -> None:
    found = read('serve() {\n  llama-server -m "$1" --port $2\n}\nserve a.gguf 1\nserve b.gguf 2\n')
    assert [each.words for each in found] == [
        ("-m", "a.gguf", "--port", "1"),
        ("-m", "b.gguf", "--port", "2"),
    ]
    assert not any(each.problems for each in found)


def test_that_a_function_that_nothing_calls_is_read_and_says_what_it_waits_for() -> None:
    found = one('llm() { llama-server -m "$1" -c 1 "$@"; }\n')
    assert found.words == ("-m", "$1", "-c", "1")
    assert codes(found) == {"unresolved_variable"}
    assert any("$1 is what the script is given" in problem for problem in found.problems)


def test_that_functions_that_call_each_other_end() -> None:
    calls = "f; " * 20
    script = read_script(f"f() {{ g; g; }}\ng() {{ f; h; }}\nh() {{ llama-server; }}\n{calls}")
    assert 0 < len(script.calls) <= 60


def test_that_a_script_takes_the_default_of_what_it_is_given() -> None:
    found = one('M="${1:-/m/a.gguf}"\nllama-server -m "$M" -c ${2:-4096}')
    assert (found.words, found.problems) == (("-m", "/m/a.gguf", "-c", "4096"), ())


# --- conditions -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words", "left_out"),
    [
        ('A="-m a"\nif x; then A+=" --jinja"; fi\nllama-server $A -c 1', "-m a -c 1", "--jinja"),
        ("A=(-m a)\n[[ -n $X && 1 < 2 ]] && A+=(-ngl 99)\nllama-server ${A[@]}", "-m a", "-ngl 99"),
        ("A=(-m a)\n[ -f y ] && A+=(-ngl 9)\nA+=(-c 1)\nllama-server ${A[@]}", "-m a -c 1", "-ngl"),
        ("A=()\nif x; then A=(-ngl 9); else A=(-ngl 0); fi\nllama-server -m a ${A[@]}", "-m a",
         "“-ngl 9” or “-ngl 0”"),
        ("A='-m a -c'\nif x; then A+=' 1'; else A+=' 2'; fi\nllama-server $A", "-m a",
         "“-c 1” or “-c 2”"),
        ("X=\nif x; then X='--jinja'; fi\nllama-server -m a $X", "-m a", "--jinja"),
    ],
)  # fmt: skip
def test_that_flags_of_a_condition_are_left_out_and_told(
    text: str, words: str, left_out: str
) -> None:
    found = one(text)
    assert found.words == tuple(words.split())
    told = [problem for problem in found.problems if "a condition decides" in problem]
    assert len(told) == 1
    assert left_out in told[0]


def test_that_each_of_two_conditions_is_told() -> None:
    found = one(
        "A=(-m a)\nif x; then A+=(-c 1); fi\nif y; then A+=(--jinja); fi\nllama-server ${A[@]}"
    )
    assert found.words == ("-m", "a")
    assert ["-c 1" in found.problems[0], "--jinja" in found.problems[1]] == [True, True]


def test_that_what_is_not_used_is_not_told() -> None:
    found = one("A=(-m a)\n[ x ] && A+=(-c 1)\nllama-server -m b")
    assert not found.problems


def test_that_marks_of_cases_on_lines_of_their_own_part_them() -> None:
    found = one("case $1 in\n x)\n  M=a\n  ;;\n y)\n  M=b\n  ;;\nesac\nllama-server -m $M")
    (problem,) = found.problems
    assert all(name in problem for name in ("“a”", "“b”"))


def test_that_a_question_in_brackets_is_no_command() -> None:
    found = one('if [[ -n "$G" || -f /x ]]; then\n  llama-server -m a\nfi')
    assert (found.words, found.problems) == (("-m", "a"), ())


# --- loops and places -------------------------------------------------------------------------


def test_that_a_loop_starts_a_server_for_each_of_its_words() -> None:
    found = read(
        "P=8\nfor e in a:x b:y; do\n  llama-server -m ${e%%:*} --port $P &\n  P=$((P + 1))\ndone\n"
    )
    assert [each.words for each in found] == [
        ("-m", "a", "--port", "8"),
        ("-m", "b", "--port", "9"),
    ]


def test_that_a_loop_over_what_is_not_known_is_read_once_and_told() -> None:
    found = one("for m in a $OTHER; do llama-server -m $m; done")
    assert found.words == ("-m", "${m}")
    assert any("the loop sets it" in problem for problem in found.problems)


def test_that_a_loop_over_files_is_read_once_and_told() -> None:
    found = one('for f in /m/*.gguf; do\n  llama-server -m "$f"\ndone')
    assert found.words == ("-m", "${f}")
    assert any("“/m/*.gguf”" in problem for problem in found.problems)


def test_that_loops_in_loops_end() -> None:
    text = "llama-server -m a"
    for name in "abcdef":
        text = f"for {name} in 1 2 3 4 5 6 7 8 9; do {text}; done"
    assert len(read_script(text).calls) < 5_000


def test_that_patterns_of_cases_are_no_flags() -> None:
    found = one(
        'while [ $# -gt 0 ]; do\n  case "$1" in\n    --ngl|-n) NGL="$2"; shift 2 ;;\n'
        "    (--port) P=1 ;;\n    *) shift ;;\n  esac\ndone\nllama-server -m a -c 1"
    )
    assert (found.words, found.problems) == (("-m", "a", "-c", "1"), ())


def test_that_a_pattern_of_files_is_told() -> None:
    found = one("llama-server -m /m/*Q4.gguf -c 1 -ot .ffn_.*_exps.=CPU")
    assert found.words[1] == "/m/*Q4.gguf"
    assert [problem.partition(" stands")[0] for problem in found.problems] == [
        "unresolved_variable: /m/*Q4.gguf"
    ]


def test_that_a_file_in_a_text_has_no_prompts_and_no_labels() -> None:
    found = one(
        "cat <<EOF > compose.yml\nservices:\n  llm:\n    image: ghcr.io/ggml-org/llama.cpp:server\n"
        "    command: -m a -c 1\nEOF\ndocker compose up -d"
    )
    assert (found.kind, found.words) == ("compose", ("-m", "a", "-c", "1"))


def test_that_folders_that_are_gone_into_add_up() -> None:
    found = one("cd /opt/llama.cpp\ncd build/bin\n./llama-server -m ../m/a.gguf")
    assert "/opt/llama.cpp/build/bin," in found.problems[0]


# --- what only a shell can know ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words", "codes_told"),
    [
        ("llama-server --grammar-file <(cat x) -c 1", ("--grammar-file", "<(cat x)", "-c", "1"),
         {"unresolved_variable"}),
        ("llama-server -t (nproc) -c 1", ("-t", "$(nproc)", "-c", "1"),
         {"unresolved_variable", "shell_quoting"}),
        ("llama-server -m ${M:?give one} -c 1", ("-m", "${M}", "-c", "1"),
         {"unresolved_variable"}),
        ("llama-server -c $((N * 2)) -n 1", ("-c", "$((N * 2))", "-n", "1"),
         {"unresolved_variable"}),
        ("set M /m/a.gguf\nllama-server -m $M", ("-m", "/m/a.gguf"), set()),
        ("set -euo pipefail\nllama-server -m a", ("-m", "a"), set()),
    ],
)  # fmt: skip
def test_that_what_a_shell_works_out_stays_and_is_told(
    text: str, words: tuple[str, ...], codes_told: set[str]
) -> None:
    found = one(text)
    assert (found.words, codes(found)) == (words, codes_told)


def test_that_what_a_text_asks_for_is_told_in_its_words() -> None:
    (problem,) = one("llama-server -m ${M:?give one}").problems
    assert problem.endswith("${M} has no value in this text; the text asks for it: give one")


@pytest.mark.parametrize(
    ("written", "word"),
    [
        ("‘a b’", "a b"),
        ("’a b’", "a b"),
        ("„a b“", "a b"),
        ("“a b”", "a b"),
        ("--x=‘a b’", "--x=a b"),
    ],
)
def test_that_quotes_of_word_processors_are_quotes(written: str, word: str) -> None:
    found = one(f"llama-server -m a {written} -c 1")
    assert found.words == ("-m", "a", word, "-c", "1")
    assert codes(found) == {"typographic"}


def test_that_an_apostrophe_in_a_word_is_a_character() -> None:
    assert one("llama-server -m it’s -c 1").words == ("-m", "it’s", "-c", "1")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("M=(a b c)\nI=${1:-1}\nllama-server -m ${M[$I]}", ("-m", "b")),
        ("declare -A M=([x]=a.gguf [y]=b.gguf)\nK=y\nllama-server -m ${M[$K]}", ("-m", "b.gguf")),
        ("M=(a b)\nllama-server -m ${M[-1]} -c ${M[1-1]}", ("-m", "b", "-c", "a")),
    ],
)
def test_that_a_word_of_an_array_is_found(text: str, words: tuple[str, ...]) -> None:
    assert (one(text).words, one(text).problems) == (words, ())


def test_that_words_that_a_condition_adds_to_what_is_given_are_told() -> None:
    found = one('set -- -m a\n[ -n "$G" ] && set -- "$@" -ngl 99\nllama-server "$@"')
    assert found.words == ("-m", "a")
    assert any("whether $@ has “-ngl 99”" in problem for problem in found.problems)


# --- files in a script ----------------------------------------------------------------------------

_UNIT = (
    "M=/m\ncat > x.service <<{}\n[Service]\nExecStart=/bin/llama-server {}\n"
    "  -m $M/a.gguf -t $(nproc) --alias \\$M \"q\"\nEOF\n"
)  # fmt: skip


def test_that_a_shell_puts_its_variables_into_a_file() -> None:
    found = one(_UNIT.format("EOF", "\\\\"))
    assert found.words == ("-m", "/m/a.gguf", "-t", "$(nproc)", "--alias", "$M", "q")
    assert any("$(nproc) is what a command prints" in problem for problem in found.problems)


@pytest.mark.parametrize("name", ["'EOF'", '"EOF"', "\\EOF"])
def test_that_a_shell_leaves_a_file_with_a_quoted_end_as_it_is(name: str) -> None:
    found = one(_UNIT.format(name, "\\"))
    assert found.words[:2] == ("-m", "$M/a.gguf")


def test_that_output_in_a_line_of_its_own_is_no_prompt() -> None:
    found = one("nohup llama-server \\\n  -m a \\\n  > x.log 2>&1 &\necho $!")
    assert (found.words, found.problems) == (("-m", "a"), ())
    assert one("llama-server \\\n> -m a \\\n> -c 1").words == ("-m", "a", "-c", "1")


def test_that_asking_for_a_program_starts_none() -> None:
    found = one("if ! command -v llama-server >/dev/null; then\n  exit 1\nfi\nllama-server -m a")
    assert found.words == ("-m", "a")


def test_that_a_script_without_its_first_line_is_one() -> None:
    body = "  say Starting it now\n  llama-server -m $M\n  if x; then\n    y\n  fi\n"
    found = one(f"f() {{\n{body}}}\nM=a\nf\n")
    assert found.words == ("-m", "a")


def test_that_a_default_of_nothing_is_what_the_script_is_given() -> None:
    found = one('M="${1:-}"\nshift || true\nllama-server -m "$M"')
    assert (found.words, codes(found)) == (("-m", "$1"), {"unresolved_variable"})


def test_that_a_shell_of_a_phone_is_read() -> None:
    found = one('D=/t\nadb shell "cd $D && A=. nohup ./llama-server \\\n  -m a \\\n  > /x 2>&1 &"')
    assert found.words == ("-m", "a")
