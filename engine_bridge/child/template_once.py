"""The chat template of one file, tried on a sample, in a process that may be killed.

``python -m engine_bridge.child.template_once`` reads a ``TemplateQuestion`` as JSON from its input
and writes one ``TemplateSheet``. Headers may be megabytes and lie on a drive that does not answer,
so this is a process that nobody waits for; templates are strangers' programs, so they run in one
more, which is its own (``template_worker``). llama.cpp is not opened: the file is only read.
"""

from __future__ import annotations

import sys

import msgspec

from engine_bridge.child.header_source import HeaderSource
from engine_bridge.child.template import TemplateRenderer
from engine_bridge.child.template_traits import traits
from engine_bridge.child.template_trial import tried
from engine_bridge.gguf_header import Header, read_header
from engine_bridge.gguf_window import GgufError, shown_name
from engine_bridge.protocol import ChatMessage, CheckTemplate, TemplateChecked
from engine_bridge.template_sheet import TemplateQuestion, TemplateSheet

if sys.platform != "win32":  # which has no such limits; whoever asks watches the time
    import resource

_MEMORY_BYTES = 2 << 30
_KEY = "tokenizer.chat_template"
# The one that llama-server takes where no other is there, and wherever tools are offered.
_FOR_TOOLS = "tool_use"
_LONGEST_NAME = 60
_MOST_NAMES = 20


def main() -> int:
    """Answer the question on standard input."""
    _limit_memory()
    question = msgspec.json.decode(sys.stdin.buffer.read(), type=TemplateQuestion)
    sys.stdout.buffer.write(msgspec.json.encode(answer_to(question)))
    sys.stdout.buffer.flush()
    return 0


def answer_to(question: TemplateQuestion, deadline_s: float = 2.0) -> TemplateSheet:
    """Try the template of a file; ``deadline_s`` seconds are given to each rendering."""
    try:
        header = read_header(question.path)
        names = _names_in(header)
        name = "" if header.text(_KEY) else next((n for n in names if n == _FOR_TOOLS), "")
        template = header.text(f"{_KEY}.{name}" if name else _KEY)
        others = tuple(_line(each) for each in names if each != name)[:_MOST_NAMES]
        if not template:
            return TemplateSheet(others=others)
        source = HeaderSource(header)
    except GgufError as error:
        return TemplateSheet(problem=str(error))
    except OSError as error:
        reason = error.strerror or str(error)
        return TemplateSheet(
            problem=f"{shown_name(question.path)} cannot be read: {reason}. Check the drive it is "
            "on."
        )
    for_tools = header.text(f"{_KEY}.{_FOR_TOOLS}")
    checked = _checked(template, for_tools, question.messages, source, deadline_s)
    return TemplateSheet(len(template), name, others, checked)


def _checked(
    template: str,
    for_tools: str,
    messages: tuple[ChatMessage, ...],
    source: HeaderSource,
    deadline_s: float,
) -> TemplateChecked:
    renderer = TemplateRenderer(deadline_s)
    try:
        checked = tried(CheckTemplate(0, template, messages), source, renderer, lambda: False)
        assert checked is not None  # nothing overtakes it
        if checked.error:
            return checked
        found = (*traits(template, source, renderer, for_tools), *checked.findings)
    finally:
        renderer.close()
    return msgspec.structs.replace(checked, findings=found)


def _names_in(header: Header) -> list[str]:
    """Names of further templates, in the order of the file."""
    begin = f"{_KEY}."
    return [key.removeprefix(begin) for key in header.values if key.startswith(begin)]


def _line(name: str) -> str:
    return "".join(letter for letter in name if letter.isprintable())[:_LONGEST_NAME]


def _limit_memory() -> None:
    if sys.platform == "win32":
        return
    try:
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    except (ValueError, OSError) as error:  # macOS refuses; headers are read within fixed bounds
        sys.stderr.write(f"Templates are tried without a memory limit: {error}\n")


if __name__ == "__main__":
    sys.exit(main())
