"""What bash itself gives a program, against what is read from the same text without running it.

Each text starts a stand-in that only writes down what it got, in an empty folder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.importing.posix_reader import read_script

BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(
    BASH is None or os.name == "nt", reason="there is no bash on this machine to ask"
)
_STAND_IN = """#!/bin/sh
printf '%s\\0' "$@" CALLED >> "$SEEN"
printf '%s\\0' "LLAMA_ARG_CTX_SIZE=$LLAMA_ARG_CTX_SIZE" >> "$SEEN"
"""
_LIMIT_S = 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the stand-in in it."""
    made = tmp_path_factory.mktemp("bash")
    program = made / "llama-server"
    program.write_text(_STAND_IN, encoding="utf-8")
    program.chmod(0o755)
    return made


def seen_by_bash(text: str, folder: Path) -> list[tuple[tuple[str, ...], str]]:
    """The words and the one variable that the stand-in got, call by call."""
    assert BASH is not None
    log = folder / "seen"
    log.unlink(missing_ok=True)
    place = folder / "place"
    place.mkdir(exist_ok=True)
    subprocess.run(
        [BASH, "--norc", "-c", text],
        cwd=place,
        env={"PATH": f"{folder}:/usr/bin:/bin", "SEEN": str(log), "HOME": "/home/me"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_LIMIT_S,
        check=False,
    )
    calls: list[tuple[tuple[str, ...], str]] = []
    words: list[str] = []
    parts = log.read_text(encoding="utf-8").split("\0")[:-1] if log.exists() else []
    for part in parts:
        if words and words[-1] == "CALLED":
            calls.append((tuple(words[:-1]), part.partition("=")[2]))
            words = []
        else:
            words.append(part)
    return calls


def read_here(text: str) -> list[tuple[tuple[str, ...], str]]:
    """The same, from the text alone."""
    return [
        (call.words[1:], call.env.get("LLAMA_ARG_CTX_SIZE", ""))
        for call in read_script(text).calls
        if call.words[0] == "llama-server"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "llama-server -m 'a b.gguf' -c 1",
        'llama-server -m "a\\"b\\$c\\\\d" -c 1',
        "llama-server -m a\\ b.gguf \\\n  -c 1 \\\n  --jinja",
        "llama-server -m $'a\\tb\\'c' --x '' -c 1",
        "llama-server -ot '.ffn_.*_exps.=CPU' -ot \"blk\\.(1|2)=CUDA0\"",
        "llama-server --chat-template-kwargs '{\"a\": \"b c\"}'",
        "M='a b.gguf'; llama-server -m $M",
        "M='a b.gguf'; llama-server -m \"$M\" -c ${C:-4} -n ${N-5} ${X:+--x}",
        "X=1; llama-server ${X:+--x} \"${X:+a b}\" ${X+c}",
        'X=; llama-server "${X:-a}" "${X-b}" "${X:+c}" ${X+d}',
        "A=(-m 'a b.gguf' -c 1)\nA+=(--jinja)\nllama-server \"${A[@]}\" end",
        "A=(-m 'a b.gguf' -c 1)\nllama-server ${A[*]} ${A[0]} \"${A[1]}\" \"${A[*]}\"",
        "A='-m a -c 1'\nA+=' --jinja'\nllama-server $A \"$A\"",
        "D=/m/; F=/x/y/Model-Q4.GGUF\n"
        'llama-server ${D%/}/a "${F##*/}" "${F%.*}" "${F%%-*}" "${F#*/}" "${F,,}" "${F^^}" ${F^}',
        'F=a-b-c; llama-server "${F/-/_}" "${F//-/_}" "${F//-}" "${F/b*/}" "${F/[a-b]/x}"',
        "llama-server -c $((32*1024)) -b $((2048 / 3)) -ub $(( (1 + 2) * 4 )) -n $((-7 / 2))",
        "C=4096; N=3; llama-server -c $((C * N)) -n $(( $C % 1000 )) -x $((${N}+1))",
        "f() { llama-server -m \"$1\" -c ${2:-8} \"${@:3}\"; }\nf 'a b' 1",
        'f() {\n  local m="$1"; shift\n  llama-server -m "$m" "$@"\n}\nf "a b" --port 1 "c d"\nf x',
        "function f { llama-server $# $1 $2; }\nf a 'b c'",
        'g() { f "$@" -c 1; }\nf() { llama-server "$@"; }\ng -m "a b"',
        "set -- -m 'a b' -c 1\nllama-server \"$@\" \"$1\" $#",
        "export LLAMA_ARG_CTX_SIZE=4\nllama-server -m a",
        "LLAMA_ARG_CTX_SIZE=4 llama-server -m a\nllama-server -m b",
        "LLAMA_ARG_CTX_SIZE=4\nllama-server -m a\nexport LLAMA_ARG_CTX_SIZE\nllama-server -m b",
        "export LLAMA_ARG_CTX_SIZE=4\nunset LLAMA_ARG_CTX_SIZE\nllama-server -m a",
        "declare -x LLAMA_ARG_CTX_SIZE=4\nllama-server -m a",
        "llama-server -m a # comment\nllama-server -m b#c '#d' \"#e\"",
        "llama-server -m a >x 2>&1 </dev/null &>y\nllama-server -m b 2>z",
        "true && llama-server -m a; false || llama-server -m b | cat",
        "{ llama-server -m a; }\n(llama-server -m b)\nif true; then llama-server -m c; fi",
        "[[ -n x && -n y ]] && llama-server -m a",
        "[[ 1 < 2 ]]\nllama-server -m a",
        "for m in a; do llama-server -m $m; done",
        "cat <<EOF >x\nllama-server -m no\nEOF\nllama-server -m a",
        "while true; do llama-server -m a; break; done",
        "case x in\n x) llama-server -m a ;;\nesac",
        "A=a B=$A; llama-server $A $B",
        "A=1\nA=$A$A\nA=$A$A\nllama-server $A",
        "unset NONE; llama-server -m \"${NONE:-${OTHER:-a b}}\"",
        "llama-server -m a \\\n  -c 1\\\n  --end",
        "llama-server \\\n\\\n -m a",
        "llama-server a\"b\"'c'd\\e$'f'",
        "llama-server \"a\nb\" 'c\nd'",
        'llama-server "a\\\nb" a\\\nb',
        "llama-server a=b --c=d x:y %z @w ^v ~x,y !",
        "llama-server -- -m",
        "A=('x y' \"z\")\nB=(\"${A[@]}\" w)\nllama-server \"${B[@]}\"",
        "A=()\nllama-server -m a \"${A[@]}\" -c 1",
        "OPTS=\"--temp 0.7\"; OPTS=\"$OPTS --top-k 40\"; llama-server -m a $OPTS",
        "M=${M:-a.gguf}; : ${C:=7}; llama-server -m $M -c ${C}",
        "readonly M=a; typeset N=b; llama-server $M $N",
        "X=\"it's\"; llama-server \"$X\" it\\'s",
        "A=(a 'b c' d e); X=abcdef\n"
        'llama-server "${A[@]:1}" "${A[@]:1:2}" "${X:2}" "${X:1:3}" ${A[1]}',
        "A=1 B=2 C=$A$B\nLLAMA_ARG_X=$C LLAMA_ARG_CTX_SIZE=$LLAMA_ARG_X llama-server $C",
        "f() { llama-server \"${@:2:2}\" \"$*\" $*; }\nf a 'b c' d e",
        "llama-server '‘' ’ \"…\" –",
    ],
)  # fmt: skip
def test_that_bash_gives_the_program_the_same_words(text: str, folder: Path) -> None:
    seen = seen_by_bash(text, folder)
    assert seen, "bash started nothing, so the text tells nothing"
    assert read_here(text) == seen


_VALUES = ("a", "a b", "/m/x.gguf", "-c 4", "", "it's", 'say "hi"', "a*", "x=y", "{a}", "\\", "#")
_QUOTED = st.sampled_from([v for v in _VALUES if "'" not in v]).map(lambda value: f"'{value}'")
_PLAIN = st.sampled_from(["a", "/m/x.gguf", "a\\ b", 'a"b c"d', "$A", "$B", '"$A"', '"${B}"',
                          "${A:-z}", '"${C:-$A}"', '"${L[@]}"', "${L[*]}", "${A%/*}", '"${A##*/}"',
                          "$((2*3))", "a#b", "a=b", "\\#", '"\\$A"', '""', "-c"])  # fmt: skip
_WORDS = st.lists(st.one_of(_QUOTED, _PLAIN), max_size=5).map(" ".join)
_LINES = st.one_of(
    st.tuples(st.sampled_from("ABC"), st.one_of(_QUOTED, st.sampled_from(["x", "$A", '"$B y"'])))
    .map(lambda said: f"{said[0]}={said[1]}"),
    _WORDS.map(lambda words: f"L=({words})"),
    _WORDS.map(lambda words: f"L+=({words})"),
    _WORDS.map(lambda words: f"llama-server {words}"),
    _WORDS.map(lambda words: f"llama-server \\\n  {words}  # said"),
    _WORDS.map(lambda words: f"f {words}"),
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(_LINES, min_size=1, max_size=6))
def test_that_bash_agrees_about_texts_that_nobody_wrote(
    tmp_path_factory: pytest.TempPathFactory, folder: Path, lines: list[str]
) -> None:
    text = "\n".join(
        ["set -f", "A=", "B=", "C=", "L=()", 'f() { llama-server "$@" $#; }', *lines, "f end"]
    )
    assert read_here(text) == seen_by_bash(text, folder)
