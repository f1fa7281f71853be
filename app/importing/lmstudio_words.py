"""LM Studio's words as settings: ``lms load``, ``lms server start``, and its load configurations.

Its models have names of its own, its offload is a share of the layers, which becomes a number once
the model is known, and its context is the pool that all conversations share.
"""

from __future__ import annotations

import msgspec

from app.export.engine_words import engine_words
from app.importing.contradictions import tell_contradictions
from app.importing.flag_handlers import (
    Handler,
    shown,
    shown_whole,
    understand_flags,
    whole,
)
from app.importing.flag_reader import Said, read_flags
from app.importing.found import Found
from app.importing.gathering import Gathering
from app.importing.invocation import Invocation
from app.importing.lmstudio_file import take_file
from app.importing.lmstudio_names import draft_name, layer_share, take_name
from app.importing.program_words import command_and_rest

TARGET = "lmstudio"
_COMMANDS = ("load", "server start", "server stop", "server status", "server", "get", "unload",
             "ps", "ls", "chat")  # fmt: skip


def understand(invocation: Invocation) -> Found:
    """What the words and files of LM Studio mean to the desk."""
    gathering = Gathering(TARGET, invocation)
    engine = engine_words("lmstudio")
    command, words = command_and_rest(invocation.words, _COMMANDS)
    own = engine
    if command in engine.commands:
        own = msgspec.structs.replace(engine, flags=engine.commands[command])
    alone = understand_flags(gathering, read_flags(words, own), own, _HANDLERS)
    for name in alone[:1]:
        take_name(gathering, name)
    gathering.keep_words(alone[1:])
    take_file(gathering, invocation.values)
    _settle_room(gathering)
    if command == "load" and not alone:
        gathering.problem("no_model", "no model is named; lms asks for one")
    tell_contradictions(gathering)
    return gathering.found()


def _settle_room(gathering: Gathering) -> None:
    """All conversations share the context, unless a file says that each has its part."""
    total, slots = (gathering.settings.get(key) for key in ("ctx_total_tok", "slots"))
    if not isinstance(total, int):
        return
    is_shared = gathering.settings.get("kv_unified", True)
    if "kv_unified" not in gathering.settings and isinstance(slots, int) and slots > 1:
        gathering.setting("kv_unified", True, derived=True)
    parts = slots if isinstance(slots, int) and slots > 0 and not is_shared else 1
    gathering.setting("ctx_per_slot_tok", total // parts, derived=True)


def _gpu(gathering: Gathering, said: Said) -> None:
    layer_share(gathering, said.value, said.written)


def _guesses_ahead(gathering: Gathering, said: Said) -> None:
    if said.off:
        gathering.setting("spec_types", ())
    else:
        gathering.setting("spec_types", ("draft-mtp",))


def _drafts(gathering: Gathering, said: Said) -> None:
    gathering.setting("spec_types", ("draft-simple",))


def _draft_model(gathering: Gathering, said: Said) -> None:
    draft_name(gathering, said.value)


def _least_probability(gathering: Gathering, said: Said) -> None:
    gathering.decimal("draft_p_min", said.value, said.written)


def _asks_nothing(gathering: Gathering, said: Said) -> None:
    gathering.note(f"{said.written} only answers a question of lms.")


def _estimate(gathering: Gathering, said: Said) -> None:
    gathering.note(f"{said.written} only tells what would be needed; nothing is loaded by it.")


_HANDLERS: dict[str, Handler] = {
    "--gpu": _gpu,
    "-c": whole("ctx_total_tok"),
    "--parallel": whole("slots"),
    "--ttl": shown_whole("ttl_s"),
    "--identifier": shown("alias"),
    "--speculative-draft-mtp": _guesses_ahead,
    "--speculative-draft-simple": _drafts,
    "--speculative-draft-model": _draft_model,
    "--speculative-draft-max-tokens": whole("draft_n_max"),
    "--speculative-draft-min-tokens": whole("draft_n_min"),
    "--speculative-draft-min-continue-probability": _least_probability,
    "--estimate-only": _estimate,
    "-y": _asks_nothing,
    "--host": shown("host"),
    "--bind": shown("host"),
    "--port": shown_whole("port"),
    "-p": shown_whole("port"),
}
