"""A text with commands in it as the commands alone: prompts, logs and sentences left out.

Knows what terminals, logs and people put around commands; must not know what commands mean.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from app.importing.call import once
from app.importing.docker_run_reader import is_docker
from app.importing.log_reader import LOG, command_in_log, list_in_line
from app.importing.programs import base_name, family, is_call
from app.importing.wrappers import inner

_POSIX_PROMPT = (
    r"(?:[\w.-]{1,40}@[\w.-]{1,60}[:\s][^$#%\n]{0,120}[$#%]|\[[\w.-]{1,40}@[^\]\n]{1,160}\][$#]"
    r"|[\w.~/-]{0,60}[$❯➜»])[ \t]+(?=\S)"
)
_PROMPTS = (
    ("powershell", re.compile(r"PS (?:[A-Za-z]:\\|[/~])[^>\n]{0,200}>[ \t]?")),
    (
        "cmd",
        re.compile(r"[A-Za-z]:\\(?![^>\n]{0,200}[ \t]-)(?:[^>\"|<\n]{0,200}[^>\"|<\n\s])?>[ \t]?"),
    ),
    ("posix", re.compile(_POSIX_PROMPT)),
    ("posix", re.compile(r"%[ \t]+(?=[\w./~])")),
)
# What a form or a note calls flags: "Extra args: -c 4096".
_LABEL = re.compile(r"[ \t]{0,8}[A-Za-z][\w \t]{1,30}:[ \t]+(?=--?[A-Za-z][\w-]*[ \t=])")
_ENVIRONMENT = re.compile(r"[ \t]{0,8}\([\w.-]{1,40}\)[ \t]+")
_SECOND_PROMPT = re.compile(r"[ \t]{0,8}(?:>{1,2}|More\?)[ \t]")
_HERE_DOCUMENT = re.compile(r"<<-?[ \t]*['\"]?([A-Za-z_]\w*)")
_CONTINUED = re.compile(r"[\\^`][ \t]*$")
_FLAG = re.compile(r"\s*(?:--?|[–—])[A-Za-z]")
_ASSIGNMENT = re.compile(
    r"\s*(?:export\s+|set\s+\"?|setx\s+|setenv\s+|declare\s+|readonly\s+|local\s+|\$env:)?"
    r"[A-Za-z_]\w*\s?\+?=|\s*\$[\w:{}]+\s*\+?=|\s*(?:setx|setenv)\s+\w+\s",
    re.IGNORECASE,
)
_ANY_SCRIPT = re.compile(
    r"\s*(?:$|#|::|@?(?:rem|echo|set|setlocal|endlocal|pushd|popd|cd|chdir|start|call|if|for|title|"
    r"pause|exit|goto|cls|chcp|timeout|alias|source|export|unset|ulimit|sleep|then|else|elif|fi|do|"
    r"done|case|esac|while|until|trap|shift|return|exec|eval|function|printf|mkdir|git|cmake|make|"
    r"pip3?|uv|apt(?:-get)?|brew|winget|curl|wget|cat|tee|cp|mv|rm|ls|chmod|ln|kill|pkill|wait|"
    r"huggingface-cli|hf|cmd|powershell|pwsh|wsl|bash|sh|ssh|su|tmux|screen|ollama|docker|podman|systemctl|journalctl|param|launchctl|"
    r"(?:nssm|schtasks|sc|taskkill|tasklist|ping|netsh|choco|wt|nvidia-smi)(?:\.exe)?)(?:\s|$|:\w*$)"
    r"|[)}\]({&.\"'$:@<]|[\w-]+\(\)|[~.]{0,2}[/\\]\S|[A-Za-z]:[/\\]|[A-Z][a-z]+-[A-Z]\w+\s|\[|;;)",
    re.IGNORECASE,
)
# Without one of these a line calls nothing that is looked for: most lines of a text have none.
_MAY_CALL = re.compile(
    r"llama|vllm|sglang|kobold|trtllm|tensorrt|lms|server|main|docker|podman|nerdctl", re.IGNORECASE
)
# Words that no sentence begins with.
_MORE_SCRIPT = re.compile(
    r"\s*(?:sudo|nohup|disown|htop|nvidia-smi|rocm-smi|conda|mamba|srun|sbatch|module[ \t]+load|"
    r"local|declare|typeset|readonly|unset|setopt|nvitop|pkill|killall|numactl|taskset|systemd-run|"
    r"log_\w+|adb|pct|lxc|incus|distrobox|toolbox|kubectl|apptainer|singularity|runuser|firejail|"
    r"start-stop-daemon|su-exec|gosu|tini|mise|direnv|pm2|stdbuf|setsid|unbuffer|winpty|ionice|"
    r"chrt|caffeinate|gdb|strace|nsys|mpirun|uvx|pipx|poetry|chpst|command_args|command)(?:[\s=]|$)"
)
_FUNCTION = re.compile(r"^[ \t]*(?:function[ \t]+)?([\w.-]{1,60})[ \t]*\(\)", re.MULTILINE)
# No sentence is a line of one of these words alone.
_BLOCK_ENDS = re.compile(r"^[ \t]*(?:fi|done|esac)[ \t]*(?:$|[;&|#])", re.MULTILINE)
_CASES = re.compile(r"^[ \t]*case[ \t].{1,80}[ \t]in\b", re.MULTILINE)
_CASE = re.compile(r"[ \t]*\(?[\w*?.|\"'/ \[\]-]{1,80}\)(?:\s|$)")
_SPAN = re.compile(r"`([^`\n]+)`")
_BEFORE_NAMES = "\"'`(=["
_MOST_WORDS = 400
AROUND = "log_paste: the command was taken out of a line that has other text around it"


@dataclass(frozen=True)
class ShellText:
    """Commands alone.

    Attributes:
        text: Them.
        shell: ``posix``, ``cmd`` or ``powershell`` where a prompt tells; else empty.
        problems: ``code: sentence``.
        notes: Sentences.
    """

    text: str
    shell: str = ""
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def commands_in(text: str, *, is_script: bool = False) -> ShellText:
    """The commands that stand in ``text``.

    Args:
        text: A script, or a posting or log with commands in it.
        is_script: Whether it is the former, in which no line is a sentence.
    """
    logged = command_in_log(text)
    if logged:
        return ShellText(logged, "posix", (LOG,))
    bare, shell, prompts = _without_prompts(text.split("\n"))
    problems, notes = _told(prompts)
    is_script = is_script or _HERE_DOCUMENT.search(text) is not None
    if is_script or not _has_sentences(bare):
        return ShellText("\n".join(bare), shell, problems, notes)
    kept, more = _commands_only(bare)
    if not kept:
        return ShellText("\n".join(bare), shell, problems, notes)
    return ShellText("\n".join(kept), shell, once([*problems, *more]), notes)


# --- prompts --------------------------------------------------------------------------------


def _without_prompts(lines: Sequence[str]) -> tuple[list[str], str, list[str]]:
    """The lines without prompts, the shell that they tell, and the prompts."""
    bare: list[str] = []
    shell, prompts, is_open, document = "", list[str](), False, ""
    for written in lines:
        line = written
        if document:
            # A file that stands in the text has no prompts, but for those of a session.
            second = _SECOND_PROMPT.match(line) if prompts else None
            bare.append(line[second.end() :] if second else line)
            document = "" if bare[-1].strip() == document else document
            continue
        begun = _HERE_DOCUMENT.search(line)
        document = begun.group(1) if begun else ""
        prompt, kind = _prompt(line)
        second = _SECOND_PROMPT.match(line) if is_open else None
        if second and not prompts and not _FLAG.match(line[second.end() :]):
            second = None  # where the output goes, in a line of its own
        if prompt:
            prompts.append(prompt.strip())
            shell = shell or kind
            line = line[len(prompt) :]
        elif second:
            line = line[second.end() :]
        is_open = _CONTINUED.search(line) is not None
        bare.append(line)
    return bare, shell, prompts


def _told(prompts: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """A session, with a prompt in each line, is plain; one prompt may be part of the command."""
    if len(prompts) > 1:
        return (), ("The prompts of the terminal were left out.",)
    return tuple(f"prompt_prefix: {prompt} removed" for prompt in prompts), ()


def _prompt(line: str) -> tuple[str, str]:
    """What stands before the command, and whose prompt it is; both empty where nothing does."""
    blanks = len(line) - len(line.lstrip(" \t"))
    environment = _ENVIRONMENT.match(line)
    start = environment.end() if environment else min(blanks, 8)
    for kind, pattern in _PROMPTS:
        match = pattern.match(line, start)
        if match and line[match.end() :].strip():
            return line[: match.end()], kind
    if environment and begins_call(line[start:]):
        return line[:start], ""
    label = _LABEL.match(line)
    if label:
        return label.group(), ""
    quoted = re.match(r"[ \t]{0,8}>[ \t]+", line)
    if quoted and begins_call(line[quoted.end() :]):
        return quoted.group(), ""
    return "", ""


# --- sentences ------------------------------------------------------------------------------


def _has_sentences(lines: Sequence[str]) -> bool:
    """Whether there are lines that no script has."""
    text = "\n".join(lines)
    if text.lstrip().startswith("#!") or _BLOCK_ENDS.search(text):
        return False
    functions = frozenset(_FUNCTION.findall(text))
    has_cases = _CASES.search(text) is not None
    is_open = False
    for line in lines:
        is_of_script = _is_script_line(line) or _is_of_this_script(line, functions, has_cases)
        if not is_open and not is_of_script:
            return True
        is_open = _CONTINUED.search(line) is not None
    return False


def _is_script_line(line: str) -> bool:
    if line.lstrip().startswith("`"):
        return False
    is_plain = _FLAG.match(line) or _ASSIGNMENT.match(line) or _ANY_SCRIPT.match(line)
    if is_plain or _MORE_SCRIPT.match(line) or begins_call(line):
        return True
    words = line.split(None, 3)
    # Some program with a flag; a sentence has no flag for its second word.
    return len(words) == 1 or (len(words) > 1 and _FLAG.match(words[1]) is not None)


def _is_of_this_script(line: str, functions: frozenset[str], has_cases: bool) -> bool:
    """Whether a line calls a function of the text, or is one of its cases."""
    first = next(iter(line.split(None, 1)), "")
    return first in functions or (has_cases and _CASE.match(line) is not None)


def _commands_only(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    kept: list[str] = []
    flags: list[str] = []
    problems: list[str] = []
    is_open = is_kept = False
    for line in lines:
        inside: list[str] = []
        goes_on = (is_open and is_kept) or (is_kept and _FLAG.match(line) is not None)
        if not goes_on and not begins_call(line) and not _ASSIGNMENT.match(line):
            inside = calls_inside(line)
            flags += [span for span in _SPAN.findall(line) if _FLAG.match(span)]
            problems += [AROUND] if inside else []
            is_kept = bool(inside)
        else:
            inside, is_kept = [line], True
        kept += inside
        # The mark behind a call that stands in a line is none of the call's.
        is_open = _CONTINUED.search(inside[-1] if inside else line) is not None
    has_call = any(begins_call(line) or _FLAG.match(line) for line in kept)
    if has_call:
        return kept, problems
    # Flags alone are what is meant only where no command stands anywhere.
    return (flags, [AROUND]) if flags else ([], [])


def begins_call(line: str) -> bool:
    """Whether a line begins with the call of an engine, whatever starts it."""
    if not _MAY_CALL.search(line):
        return False
    quoted = re.match(r"&?[ \t]*([\"'])([^\"'\n]+)\1", line.lstrip())
    if quoted and family(quoted.group(2)):
        return True
    words = line.split(None, _MOST_WORDS)[:_MOST_WORDS]
    while words and (words[0] in {"&", "call", "start"} or re.match(r"[A-Za-z_]\w*=", words[0])):
        words = words[1:]
    if not words:
        return False
    for _ in range(8):
        found = inner(words)
        if found is None:
            break
        words = list(found.words)
    if is_docker(words):
        return len(words) > 2 and not {"run", "exec", "create"}.isdisjoint(words[1:4])
    name = base_name(words[0]).lower()
    if re.match(r"(?:python|py)[\d.]*(?:\.exe)?$", name):
        return any(family(word) for word in words[1:5])
    return is_call(words)


def calls_inside(line: str) -> list[str]:
    """The calls that stand somewhere in a line."""
    if not _MAY_CALL.search(line):
        return []
    spans = [span for span in _SPAN.findall(line) if begins_call(span)]
    if spans:
        return spans
    listed = shlex.join(list_in_line(line))
    if begins_call(listed):
        return [listed]
    at = 0
    words = line.split()
    for word, following in pairwise(words[:_MOST_WORDS]):
        at = line.index(word, at)
        name = word[max(map(word.rfind, _BEFORE_NAMES)) + 1 :]
        # A program that ends a sentence is not called there.
        if name and name[-1] not in ".,;:!?)" and is_call([name, following]):
            return [_up_to_quote(line, _with_variables(line, at + len(word) - len(name)))]
        at += len(word)
    return []


def _with_variables(line: str, start: int) -> int:
    """The place where the variables begin that stand before a program."""
    before = re.search(r"(?:^|(?<=[\s\"'`(]))(?:[A-Z_][A-Z0-9_]*=[^\s\"'`]*[ \t]+)+$", line[:start])
    return before.start() if before else start


def _up_to_quote(line: str, start: int) -> str:
    """The rest of the line, or what stands up to the quote that was opened before."""
    before = line[:start]
    opened = next((q for q in "\"'`" if before.replace(f"\\{q}", "").count(q) % 2), "")
    # An apostrophe in a sentence opens nothing.
    if not opened or not re.search(rf"(?:^|[\s=(\[:,]){opened}[^{opened}]*$", before):
        return line[start:]
    end = re.compile(rf"(?<!\\){opened}").search(line, start)
    return line[start : end.start() if end else len(line)].replace(f"\\{opened}", opened)
