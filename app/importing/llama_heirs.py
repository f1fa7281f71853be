"""Flags that llama.cpp does not take any more, put into those of today.

Several heirs are told apart by what else the line says. Must not know settings.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from app.importing.gathering import Gathering
from app.importing.llama_said import Said, Vocabulary
from app.importing.typed_numbers import truth

_LOADING = ("--mlock", "--mmap", "--no-mmap", "--direct-io", "--no-direct-io")
# The heir takes something else than its forebear: a file where that took a folder.
_NO_REAL_HEIR = ("--logdir",)


def with_heirs(said: Iterable[Said], vocabulary: Vocabulary, gathering: Gathering) -> list[Said]:
    """``said`` with heirs in place of what was removed, which ``gathering`` is told of.

    What has no heir is handed on as it was.
    """
    flags = list(said)
    kinds = _kinds_of_drafts(flags)
    made: list[Said] = []
    loading: list[Said] = []
    for one in flags:
        if one.word is None or not one.word.removed:
            made.append(one)
        elif one.is_called(*_LOADING):
            loading.append(one)
        else:
            made += _healed(one, _heir_of(one, kinds), vocabulary, gathering)
    if loading:
        made += _load_mode(loading, made, vocabulary, gathering)
    return made


def _kinds_of_drafts(flags: list[Said]) -> tuple[str, ...]:
    named = [one.value for one in flags if one.is_called("--spec-type")]
    kinds = tuple(kind.strip() for value in named for kind in value.split(","))
    if any(one.is_called("--spec-default") for one in flags):
        kinds += ("ngram-mod",)
    has_model = any(one.is_called("--model-draft", "--hf-repo-draft") for one in flags)
    return (*kinds, "draft-simple") if has_model else kinds


# --- One flag, one heir ---------------------------------------------------------------------------


def _heir_of(one: Said, kinds: tuple[str, ...]) -> str:
    """What says the same today; empty where nothing does."""
    heirs = one.word.heirs if one.word is not None else ()
    if not heirs or one.is_called(*_NO_REAL_HEIR):
        return ""
    if len(heirs) == 1:
        return heirs[0]
    of_models = [kind for kind in kinds if kind.startswith("draft-")]
    beginnings = ["--spec-draft-"] if of_models else []
    beginnings += [f"--spec-{kind}-" for kind in kinds if kind not in of_models]
    fitting = (heir for begin in beginnings for heir in heirs if heir.startswith(begin))
    return next(fitting, heirs[0])


def _healed(one: Said, heir: str, vocabulary: Vocabulary, gathering: Gathering) -> list[Said]:
    code = "removed_key" if one.origin == "file" else "removed_flag"
    if not heir:
        seen = f" (see {one.word.heirs[0]})" if one.word is not None and one.word.heirs else ""
        gathering.problem(
            code, f"{one.written} is not taken any more{seen or ', and nothing says it today'}"
        )
        gathering.keep_words((one.written, *one.values))
        return []
    flags = _said_by(heir, one, vocabulary)
    gathering.problem(code, f"{one.written} -> {heir}")
    gathering.heal(
        " ".join((one.written, *one.values)), " ".join(" ".join(flag.words) for flag in flags)
    )
    return flags


def _said_by(heir: str, one: Said, vocabulary: Vocabulary) -> list[Said]:
    """The flags of ``heir``, which has values of its own or takes those of ``one``."""
    flags: list[list[str]] = []
    for word in heir.split():
        if word.startswith("-"):
            flags.append([word])
        else:
            flags[-1].append(word)
    made = []
    for flag, *values in flags:
        said = vocabulary.said(flag, tuple(values) or one.values, one.written)
        made.append(replace(said, origin=one.origin))
    return made


# --- How files are read: five switches became one choice -----------------------------------------


def _load_mode(
    loading: list[Said], others: list[Said], vocabulary: Vocabulary, gathering: Gathering
) -> list[Said]:
    wanted = {name for one in loading if (name := _meaning(one))}
    mode = _mode_of(wanted)
    written = list(dict.fromkeys(one.written for one in loading))
    code = "removed_key" if loading[0].origin == "file" else "removed_flag"
    gathering.problem(code, f"{' and '.join(written)} -> --load-mode {mode}")
    is_key = loading[0].origin == "file"
    gathering.heal(" ".join(written), f"load-mode = {mode}" if is_key else f"--load-mode {mode}")
    if any(one.is_called("--load-mode") for one in others):
        gathering.note("The line says --load-mode as well, which was taken.")
        return []
    said = vocabulary.said("--load-mode", (mode,), " ".join(written))
    return [replace(said, origin=loading[0].origin)]


def _meaning(one: Said) -> str:
    """What a switch asks for, whether it stands alone or is set to on or off."""
    name = next(name for name in _LOADING if one.is_called(name))
    is_on = truth(one.value) is not False if one.values else not one.is_off
    if is_on:
        return name
    return {"--mmap": "--no-mmap", "--no-mmap": "--mmap", "--direct-io": "--no-direct-io"}.get(
        name, ""
    )


def _mode_of(wanted: set[str]) -> str:
    if "--direct-io" in wanted:
        return "dio"
    if "--mlock" in wanted:
        return "mlock" if "--no-mmap" in wanted else "mmap+mlock"
    if "--no-mmap" in wanted:
        return "none"
    return "mmap" if "--mmap" in wanted else "auto"
