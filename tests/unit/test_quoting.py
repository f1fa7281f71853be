"""Every word arrives as it was, by the rules of each shell as the tests know them themselves.

POSIX is tried on a real ``sh``. Neither cmd.exe nor PowerShell runs here: their documented rules
are written down once more below, independently of the code that quotes.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.quoting import QuotingError, Shell, notes_on, own_shell, quote, quote_lines

PROGRAM = "llama-server"
AWKWARD = [
    "", " ", "a b", "it's", 'say "hi"', "$HOME", "`id`", "$(id)", "100%", "%PATH%", "%%", "end%",
    "%PATH:a=b%", "!PATH!", "^", "a^b", "a&b", "a|b", "<x>", "(x)", "C:\\dir\\", "C:\\my dir\\",
    'a\\"b', '\\\\"', "a\\\\", "-leading", "--", "--%", "-1", "-0.05", "@args", "@{x}", "a,b",
    "a;b", "#x", "~", "*.gguf", "1kb", "0x10", "{x}", "ünï — 模型 🎛", "‘smart’ ‚quotes‛", "a=b",
    "“double” „smart‟", "a\u00a0b", '%a^%b"', '%"%', '^"', "x='y'", '/p:C="a"', "\\", '"', "' '",
]  # fmt: skip
# What a Windows file name or argument may hold: no control characters, no halves of characters.
_texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
_pointed = st.text(st.sampled_from(list("ab \\\"'%^&|!$`@-,;()‘’“\u00a0")), max_size=12)
windows_words = st.lists(st.one_of(_pointed, _texts, st.sampled_from(AWKWARD)), max_size=5)


# --- POSIX ----------------------------------------------------------------------------------


_KEYS = "".join(set(map(chr, (*range(32), 127))) - {"\n", "\t"})


@given(st.lists(st.text(st.characters(exclude_characters=_KEYS, codec="utf-8")), max_size=6))
@example(AWKWARD)
def test_that_shlex_takes_a_posix_line_apart_again(words: list[str]) -> None:
    assert shlex.split(quote([PROGRAM, *words], Shell.POSIX)) == [PROGRAM, *words]


@pytest.mark.parametrize("write", [quote, quote_lines])
@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_that_a_real_shell_takes_a_posix_line_apart_again(shell: str, write: object) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} on this machine")
    words = [*AWKWARD, "two\nlines", "tab\there"]
    line = (quote_lines if write is quote_lines else quote)(["show", *words], Shell.POSIX)
    script = "show() { for word; do printf '%s\\0' \"$word\"; done; }\n" + line
    done = subprocess.run([shell, "-c", script], capture_output=True, check=True, timeout=60)
    assert done.stdout.decode().split("\0")[:-1] == words
    assert not done.stderr


def test_that_no_key_of_a_terminal_stands_in_a_posix_line() -> None:
    # Ctrl+U takes back what was pasted before it, quoted or not, and Return runs what is behind it.
    words = ["m\x15rm -rf x\r.gguf", "\x1b[200~", "a\x7f'\\b", "1\x03" + "7"]
    line = quote(["show", *words], Shell.POSIX)
    assert not re.search(r"[\x00-\x1f\x7f]", line)
    assert notes_on(words, Shell.POSIX)
    assert not notes_on(["two\nlines"], Shell.POSIX)
    if shutil.which("bash") is None:
        pytest.skip("there is no bash on this machine")
    script = "show() { for word; do printf '%s\\0' \"$word\"; done; }\n" + line
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True, timeout=60)
    assert done.stdout.decode().split("\0")[:-1] == words


@pytest.mark.parametrize("program", ["a,b.exe", "C:\\x=y\\p.exe"])
def test_that_cmd_does_not_cut_the_name_of_a_program(program: str) -> None:
    assert quote([program, "x"], Shell.CMD) == f'"{program}" x'


def test_that_a_nul_is_refused_everywhere() -> None:
    for shell in Shell:
        with pytest.raises(QuotingError, match="NUL"):
            quote([PROGRAM, "a\0b"], shell)


# --- What a Windows program makes of its line -------------------------------------------------


def command_line_to_argv(line: str) -> list[str]:
    """The words of a line behind the program, by Microsoft's rules for C programs since 2008."""
    words: list[str] = []
    at, word, is_quoted, has_word = 0, "", False, False
    while at < len(line):
        slashes = re.match(r"\\*", line[at:])
        count = len(slashes.group()) if slashes else 0
        at += count
        character = line[at : at + 1]
        if character == '"':
            word += "\\" * (count // 2)
            has_word = True
            if count % 2:
                word += '"'
            elif is_quoted and line[at + 1 : at + 2] == '"':
                word += '"'
                at += 1
            else:
                is_quoted = not is_quoted
        else:
            word += "\\" * count
            has_word = has_word or bool(count)
            if character and (character not in " \t" or is_quoted):
                word += character
                has_word = True
            elif has_word:
                words.append(word)
                word, has_word = "", False
        at += 1
    return [*words, word] if has_word else words


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('"a b c" d e', ["a b c", "d", "e"]),
        ('"ab\\"c" "\\\\" d', ['ab"c', "\\", "d"]),
        ('a\\\\\\b d"e f"g h', ["a\\\\\\b", "de fg", "h"]),
        ('a\\\\\\"b c d', ['a\\"b', "c", "d"]),
        ('a\\\\\\\\"b c" d e', ["a\\\\b c", "d", "e"]),
        ('a"b"" c d', ['ab" c d']),
        ('""', [""]),
    ],
)
def test_that_the_rules_written_here_are_microsoft_s(line: str, words: list[str]) -> None:
    """The table of "Parsing C command-line arguments" in Microsoft's documentation."""
    assert command_line_to_argv(line) == words


# --- cmd.exe ------------------------------------------------------------------------------------

# Every name that a word here could look up; what it finds must not turn up in any argument.
FOUND = "\u2620"


def cmd_prompt(line: str) -> str:
    """What the prompt of cmd.exe hands to the program: variables first, then quotes and carets."""
    line = re.sub(r"\^\n(.)", r"\1", line)  # "More?"
    assert "\n" not in line
    expanded, at = "", 0
    while at < len(line):
        variable = re.match(r"%([^%:^][^%:]*)(:[^%]*)?%", line[at:])
        if variable:
            expanded += FOUND
            at += variable.end()
        else:
            expanded += line[at]
            at += 1
    return _without_carets(expanded)


def cmd_batch(line: str) -> str:
    """What a line of a .bat file hands to the program; %% is a percent sign there."""
    assert "%" not in line.replace("%%", "")
    return _without_carets(line.replace("%%", "%"))


def _without_carets(expanded: str) -> str:
    text, is_quoted, at = "", False, 0
    while at < len(expanded):
        character = expanded[at]
        if character == "^" and not is_quoted:
            at += 1
            character = expanded[at]
        elif character == '"':
            is_quoted = not is_quoted
        elif character in "&|<>()" and not is_quoted:
            raise AssertionError(f"cmd.exe acts on {character} in {expanded}")
        text += character
        at += 1
    assert not is_quoted, f"an open quote in {expanded}"
    return text


def words_by_cmd(line: str) -> list[str]:
    program, _, rest = cmd_prompt(line).partition(" ")
    assert program == PROGRAM
    return command_line_to_argv(rest)


@given(windows_words)
@example(AWKWARD)
def test_that_cmd_takes_a_line_apart_again(words: list[str]) -> None:
    assert words_by_cmd(quote([PROGRAM, *words], Shell.CMD)) == words


@given(windows_words)
@example(AWKWARD)
def test_that_cmd_takes_broken_lines_apart_again(words: list[str]) -> None:
    assert words_by_cmd(quote_lines([PROGRAM, *words], Shell.CMD)) == words


@given(windows_words)
@example(AWKWARD)
@example(['%&x "y"', '%^"', "a%|b"])
def test_that_a_line_for_the_prompt_needs_only_its_percent_signs_doubled_in_a_file(
    words: list[str],
) -> None:
    line = quote([PROGRAM, *words], Shell.CMD)
    program, _, rest = cmd_batch(line.replace("%", "%%")).partition(" ")
    assert program == PROGRAM
    assert command_line_to_argv(rest) == words
    is_told = any("write each % as %%" in note for note in notes_on([PROGRAM, *words], Shell.CMD))
    assert is_told == any("%" in word for word in words)


def test_that_the_prompt_written_here_would_notice() -> None:
    assert FOUND in cmd_prompt('x "%PATH%"')
    assert FOUND in cmd_prompt("x ^%PATH:a=b^%")
    assert cmd_prompt('x ^"a^&b^"') == 'x "a&b"'
    with pytest.raises(AssertionError, match="acts on &"):
        cmd_prompt("x a&b")
    with pytest.raises(AssertionError, match="acts on &"):
        cmd_prompt('x "a""b"&c')


def test_that_a_cmd_line_stays_readable() -> None:
    words = [PROGRAM, "-m", "C:\\My models\\a&b.gguf", "-c", "4096", "--spec-type", "a,b"]
    assert quote(words, Shell.CMD) == (
        'llama-server -m "C:\\My models\\a&b.gguf" -c 4096 --spec-type a,b'
    )


@pytest.mark.parametrize("program", ["say%PATH%", 'a"b'])
def test_that_a_program_that_cmd_cannot_name_is_refused(program: str) -> None:
    with pytest.raises(QuotingError, match=r"cmd\.exe"):
        quote([program], Shell.CMD)


# --- PowerShell -----------------------------------------------------------------------------------

_SINGLE = "'\u2018\u2019\u201a\u201b"
# What means something in an argument without quotes, the typographic quotes included.
_ACTIVE = set('$`(){};,|&<>@#"\u201c\u201d\u201e' + _SINGLE)
_NUMBER = re.compile(r"[+-]?(0x[0-9a-f]+|\d*\.?\d+(e[+-]?\d+)?)[ul]*([kmgtp]b)?", re.IGNORECASE)


def words_by_powershell(line: str) -> list[str]:
    """The arguments of a command, by about_Parsing and about_Quoting_Rules."""
    line = line.replace("`\n", " ")
    words: list[str] = []
    at = 0
    while at < len(line):
        if line[at].isspace():
            at += 1
            continue
        word, at, is_quoted = _powershell_word(line, at)
        if not is_quoted:
            assert word != "--%", "everything behind it is taken as it stands"
            assert not _NUMBER.fullmatch(word) or str(int(word)) == word, f"a number: {word}"
            assert not re.match(r"-[^-]*[.:]", word), f"split at the dot or colon: {word}"
            assert not word.startswith("~"), "a home folder"
        words.append(word)
    return words


def _powershell_word(line: str, at: int) -> tuple[str, int, bool]:
    word = ""
    if line[at] not in _SINGLE:
        while at < len(line) and not line[at].isspace():
            assert line[at] not in _ACTIVE, f"PowerShell acts on {line[at]} in {line}"
            word += line[at]
            at += 1
        return word, at, False
    at += 1
    while True:
        assert at < len(line), f"an open quote in {line}"
        if line[at] in _SINGLE:
            at += 1
            if at == len(line) or line[at] not in _SINGLE:
                break
        word += line[at]
        at += 1
    assert at == len(line) or line[at].isspace(), f"a word goes on behind its quotes in {line}"
    return word, at, True


@given(windows_words)
@example(AWKWARD)
def test_that_powershell_takes_a_line_apart_again(words: list[str]) -> None:
    for write in (quote, quote_lines):
        assert words_by_powershell(write([PROGRAM, *words], Shell.POWERSHELL)) == [PROGRAM, *words]


def old_powershell_line(words: list[str]) -> str:
    """How Windows PowerShell 5.1 joins arguments: quotes round spaces, and nothing else."""
    return " ".join(f'"{word}"' if re.search(r"\s", word) else word for word in words if word)


@given(windows_words)
@example(["a b\\"])
@example([""])
@example(['{"a": 1}'])
@example(["C:\\Program Files\\m.gguf"])
def test_that_the_line_for_powershell_5_1_is_right_or_a_note_says_that_it_is_not(
    words: list[str],
) -> None:
    arrived = command_line_to_argv(old_powershell_line(words))
    is_told = bool(notes_on([PROGRAM, *words], Shell.POWERSHELL))
    assert arrived == words or is_told


def test_that_a_path_of_windows_needs_no_note() -> None:
    words = [PROGRAM, "-m", "C:\\Users\\me\\It's 100% mine, (x) & $y.gguf", "-c", "4096"]
    assert notes_on(words, Shell.POWERSHELL) == ()
    assert quote(words, Shell.POWERSHELL) == (
        "llama-server -m 'C:\\Users\\me\\It''s 100% mine, (x) & $y.gguf' -c 4096"
    )


def test_that_a_program_with_a_space_is_called() -> None:
    words = ["C:\\Program Files\\llama\\llama-server.exe", "-m", "a b"]
    line = quote(words, Shell.POWERSHELL)
    assert line.startswith("& 'C:\\Program Files")
    assert words_by_powershell(line[2:]) == words
    assert quote(words, Shell.CMD).startswith('"C:\\Program Files\\')


# --- All of Windows -------------------------------------------------------------------------


@pytest.mark.parametrize("shell", [Shell.CMD, Shell.POWERSHELL])
@pytest.mark.parametrize("word", ["two\nlines", "a\rb", "\x1b[0m", "\x03", "\udc80.gguf", "tab\t"])
def test_that_what_cannot_be_pasted_is_refused_with_a_sentence(shell: Shell, word: str) -> None:
    with pytest.raises(QuotingError) as caught:
        quote([PROGRAM, "-m", word], shell)
    assert "cannot be given" in str(caught.value)
    assert str(caught.value).endswith(".")
    str(caught.value).encode()  # can be shown


def test_that_a_percent_sign_or_exclamation_mark_is_told_for_cmd_alone() -> None:
    words = [PROGRAM, "-m", "100%!.gguf"]
    assert len(notes_on(words, Shell.CMD)) == 2
    assert notes_on(words, Shell.POSIX) == notes_on(words, Shell.POWERSHELL) == ()


def test_that_each_system_has_its_shell() -> None:
    assert own_shell("win32") is Shell.POWERSHELL
    assert own_shell("linux") is own_shell("darwin") is Shell.POSIX


@pytest.mark.parametrize(
    ("shell", "text"),
    [
        (Shell.POSIX, "llama serve \\\n  -m m.gguf \\\n  -c 4096 \\\n  -no-kvu \\\n  -s -1"),
        (Shell.CMD, 'llama serve ^\n  -m m.gguf ^\n  -c 4096 ^\n  -no-kvu ^\n  -s "-1"'),
        (Shell.POWERSHELL, "llama serve `\n  -m m.gguf `\n  -c 4096 `\n  -no-kvu `\n  -s '-1'"),
    ],
)
def test_that_a_line_is_broken_before_each_flag(shell: Shell, text: str) -> None:
    words = ["llama", "serve", "-m", "m.gguf", "-c", "4096", "-no-kvu", "-s", "-1"]
    assert quote_lines(words, shell) == text.replace('"-1"', "-1")
