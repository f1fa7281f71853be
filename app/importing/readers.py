"""Texts of every kind into calls of programs. Nothing is executed, no file opened, nothing asked.

A text may be a command line of sh, cmd.exe or PowerShell, a file of docker compose, Kubernetes,
systemd or llama-swap, a preset, a Modelfile, settings of KoboldCpp, variables, a log or a posting
with any of these in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from app.importing.call import Call, Document, Script, is_read_by_engines, once
from app.importing.cmd_reader import read_script as read_cmd
from app.importing.dockerfile_reader import read_dockerfile
from app.importing.env_reader import read_env
from app.importing.invocation import Invocation
from app.importing.joined_files import with_file
from app.importing.json_reader import read_json
from app.importing.kinds import Kind, is_script, kind_of, shell_of
from app.importing.makefile_text import as_shell
from app.importing.modelfile_reader import read_modelfile
from app.importing.name_sets import names
from app.importing.namespace_reader import has_namespace, read_namespace
from app.importing.nix_reader import is_nix, read_nix
from app.importing.pasted_text import Block, blocks_of, plain
from app.importing.plist_reader import is_plist, read_plist
from app.importing.posix_reader import read_script as read_posix
from app.importing.posted_text import as_written
from app.importing.powershell_reader import read_script as read_powershell
from app.importing.preset_reader import read_preset
from app.importing.programs import base_name, family, is_call
from app.importing.python_calls import read_python
from app.importing.python_lists import bare_list, flags_in, lists_in, spawned_in
from app.importing.shell_text import commands_in
from app.importing.supervisor_reader import is_supervisor, read_supervisor
from app.importing.systemd_reader import read_systemd
from app.importing.text_error import NotOfThisKindError, TextError
from app.importing.unwrapping import all_of, unwrapped
from app.importing.windows_xml import is_windows_xml, read_windows_xml
from app.importing.yaml_reader import read_yaml

# A file in a here-document in a file: texts that go deeper are made to, not written.
_DEEPEST = 3
# More commands than anybody chooses among.
_MOST_FOUND = 200
_NOTHING = (
    "No command and no settings of an engine were found in this text. Paste the line that starts "
    "it, or its file: a preset, compose, systemd, llama-swap, a Modelfile or a .kcpps."
)
_OF_PROGRAM = "log_paste: the words were taken out of a list in a program"
_SHELLS: dict[str, Callable[[str], Script]] = {
    "posix": read_posix,
    "cmd": read_cmd,
    "powershell": read_powershell,
}
_FILES: dict[Kind, Callable[[str], tuple[Invocation, ...]]] = {
    Kind.SYSTEMD: read_systemd,
    Kind.PRESET: read_preset,
    Kind.MODELFILE: read_modelfile,
    Kind.DOCKERFILE: read_dockerfile,
    Kind.YAML: read_yaml,
    Kind.JSON: read_json,
    Kind.ENV: read_env,
    Kind.PYTHON: read_python,
}
_HERE_DOCUMENT = re.compile(r"<<-?[ \t]*['\"\\]?[A-Za-z_]\w*")
# Files that are told by a mark in them, whatever their name.
_MARKED: tuple[tuple[Callable[[str], bool], Callable[[str], tuple[Invocation, ...]]], ...] = (
    (is_plist, read_plist),
    (is_supervisor, read_supervisor),
    (is_nix, read_nix),
    (has_namespace, read_namespace),
    (is_windows_xml, read_windows_xml),
)


def read(text: str, hint: str = "") -> tuple[Invocation, ...]:
    """The calls of programs that ``text`` holds, in its order; never none.

    Args:
        text: As it was pasted, or as its file has it.
        hint: The name of the file; empty for pasted text.

    Raises:
        TextError: If there is nothing in it to import; the message is a sentence for the person.
    """
    blocks = blocks_of(plain(text), hint)
    found: list[Invocation] = []
    reasons: list[TextError] = []
    for block in blocks:
        found += _read_or_tell(block, reasons)
    chosen = _chosen(found) or tuple(
        each for block in blocks for each in _of_lists(flags_in(block.text), ())
    )
    if not chosen:
        raise reasons[0] if reasons else TextError(_NOTHING)
    return chosen


def _read_or_tell(block: Block, reasons: list[TextError]) -> list[Invocation]:
    posted = as_written(block.text)
    try:
        found = _read_block(Block(posted.text, block.hint), 0)
    except TextError as error:
        reasons.append(error)
        return []
    return [_with(each, posted.problems, posted.notes) for each in found]


def _with(invocation: Invocation, problems: Iterable[str], notes: Iterable[str]) -> Invocation:
    """With what is told of the whole text, before what is told of the call."""
    return replace(
        invocation,
        problems=once([*problems, *invocation.problems]),
        notes=once([*notes, *invocation.notes]),
    )


def _read_block(block: Block, depth: int) -> list[Invocation]:
    """One block, by the reader of its kind; as a text for a shell where that finds nothing."""
    has_files = _HERE_DOCUMENT.search(block.text) is not None
    for is_marked, read_marked in () if has_files else _MARKED:
        marked = list(read_marked(block.text)) if is_marked(block.text) else []
        if marked:
            return marked
    reader = _FILES.get(kind_of(block.text, block.hint))
    if reader is None:
        return _read_shell(block, depth)
    try:
        found = list(reader(block.text))
    except NotOfThisKindError:
        calls = _engine_calls(block, depth)
        if not calls:
            raise
        return calls
    if all(each.kind == "yaml" for each in found):
        # Keys alone may be a sentence with a colon; a command that stands there is meant.
        return _engine_calls(block, depth) or found
    return found


def _engine_calls(block: Block, depth: int) -> list[Invocation]:
    return [each for each in _read_shell(block, depth) if _calls_engine(each)]


def _read_shell(block: Block, depth: int) -> list[Invocation]:
    listed, left_out = lists_in(block.text)
    listed = listed or spawned_in(block.text) or bare_list(block.text)
    if listed:
        return _of_lists(listed, left_out)
    text = as_shell(block.text)
    commands = commands_in(text, is_script=is_script(text, block.hint))
    shell = commands.shell or shell_of(commands.text, block.hint)
    script = _SHELLS[shell](commands.text)
    found = [each for call in all_of(script, shell) for each in _or_request(call)]
    found = _with_documents(script, found, depth)
    common = [*commands.problems, *script.problems]
    if found:
        return [_with(each, common, commands.notes) for each in found]
    if script.env:
        return [Invocation("env", "", env=script.env, problems=once(common))]
    return []


def _of_lists(listed: Sequence[tuple[str, ...]], problems: Sequence[str]) -> list[Invocation]:
    calls = [call for words in listed for call in unwrapped(Call(words), "python")]
    return [_with(each, [_OF_PROGRAM, *problems], ()) for each in calls]


def _or_request(invocation: Invocation) -> tuple[Invocation, ...]:
    """A request that is sent to a server as the settings in it."""
    if base_name(invocation.program).lower() not in {"curl", "curl.exe", "http"}:
        return (invocation,)
    bodies = [word for word in invocation.words if word.lstrip().startswith("{")]
    found: list[Invocation] = []
    for body in bodies[:1]:
        try:
            found += read_json(body)
        except TextError:
            continue
    return tuple(found)


def _with_documents(script: Script, found: list[Invocation], depth: int) -> list[Invocation]:
    """What stands in here-documents besides: a Modelfile that is written, a unit, a preset."""
    if depth >= _DEEPEST:
        return found
    for document in script.documents:
        found = with_file(found, document.name, _read_document(document, depth + 1))
    return found


def _read_document(document: Document, depth: int) -> list[Invocation]:
    if not document.text.strip():
        return []
    try:
        found = _read_block(Block(document.text, document.name), depth)
    except TextError:
        # A here-document may be any text; what is no settings is no fault of this one.
        return []
    return [_with(each, _lacking(document, each), ()) for each in found]


def _lacking(document: Document, invocation: Invocation) -> list[str]:
    """What the shell alone can put into the words and variables of a call in a file."""
    texts = [*invocation.words, *invocation.env.values()]
    whole = "\0".join(texts) if document.lacking else ""
    return [problem for about, problem in document.lacking.items() if about in whole]


def _chosen(found: list[Invocation]) -> tuple[Invocation, ...]:
    """What calls an engine or configures one; where nothing does, whatever has flags."""
    engines = [each for each in found if _calls_engine(each) or _configures(each)]
    # llama-swap starts engines and is none.
    engines = [each for each in engines if family(each.program) != "llama-swap"]
    engines = [each for each in engines if not _starts_nothing(each)] or engines
    if not engines:
        engines = [each for each in found if _may_be_engine(each)]
    if not engines:
        engines = [each for each in found if not each.program and each.env]
    return tuple(_each_once(engines[:_MOST_FOUND]))


def _each_once(found: list[Invocation]) -> list[Invocation]:
    """Commands without those that were read before, word for word, as both sides of a condition."""
    kept: dict[tuple[object, ...], Invocation] = {}
    for each in found:
        env, values = tuple(each.env.items()), tuple(each.values.items())
        kept.setdefault((each.program, each.words, env, values, each.title, each.image), each)
    return list(kept.values())


def _calls_engine(invocation: Invocation) -> bool:
    program = invocation.program
    # Its folder is taken off already, and with it what told "./server" from a word.
    has_flags = any(word.startswith("-") for word in invocation.words)
    is_engine = bool(family(program)) or program in {"server", "main"}
    return is_call((program, *invocation.words)) or (is_engine and has_flags)


def _starts_nothing(invocation: Invocation) -> bool:
    """Whether an engine is only asked for something, or told to fetch a model."""
    words = _ASKING.get(family(invocation.program), frozenset())
    return next(iter(invocation.words), "") in words


def _may_be_engine(invocation: Invocation) -> bool:
    """Whether some program is called with a flag first, as no sentence goes on."""
    first = next(iter(invocation.words), "")
    return invocation.program not in _TOOLS and re.match(r"--?[A-Za-z]", first) is not None


def _configures(invocation: Invocation) -> bool:
    if invocation.values or (not invocation.program and invocation.words):
        return True
    # An image that starts no engine may know the address of one.
    env = [name for name in invocation.env if name not in _OF_CLIENTS]
    is_service = invocation.kind in {"compose", "kubernetes", "systemd"} and not invocation.image
    knows = any(map(is_read_by_engines, env)) or bool(family(invocation.title))
    return not invocation.program and bool(invocation.env) and (is_service or knows)


_OF_CLIENTS = names("OLLAMA_BASE_URL OLLAMA_API_BASE_URL OLLAMA_URL OLLAMA_HOST HF_TOKEN")
_ASKING = {
    "ollama": names("list ls ps cp rm stop push pull show --version -v"),
    "lmstudio": names("ls ps get status unload log"),
    "vllm": frozenset({"--version", "--help", "-h"}),
    "llama.cpp": frozenset({"--version", "--help", "-h", "--list-devices"}),
}
_TOOLS = names(
    "cd git cmake make ninja pip pip3 apt apt-get brew dnf yum pacman echo printf curl wget tar "
    "unzip mkdir cp mv rm ls chmod chown ln cat tee grep sed awk tail head kill pkill sleep "
    "systemctl journalctl source . test [ ulimit huggingface-cli hf docker podman docker-compose "
    "kubectl npm node nvidia-smi rocm-smi watch which command type export unset set read trap "
    "exit return wait shift"
)
