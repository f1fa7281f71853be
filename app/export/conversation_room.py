"""How many tokens one conversation may have, for engines that count otherwise than llama.cpp.

llama.cpp counts the pool (``-c``) and pads it; most other engines count what one conversation may
have. Must not know any engine's words.
"""

from __future__ import annotations

from app.export.llama_flag import Situation
from app.export.sheet import Sheet


def conversation_tok(situation: Situation) -> int:
    """Tokens of one conversation: as asked for, and no more than the model was trained for."""
    config = situation.config
    wanted = config.ctx_per_slot_tok
    if config.kv_unified:
        wanted = min(wanted, config.pool_tok)
    trained = situation.facts.ctx_train_tok if situation.facts is not None else 0
    return min(wanted, trained) if trained > 0 else wanted


def capped_note(situation: Situation, word: str) -> tuple[str, ...]:
    """A sentence where ``word`` says less than was asked for: the model was trained for less."""
    trained = situation.facts.ctx_train_tok if situation.facts is not None else 0
    asked = situation.config.ctx_per_slot_tok
    if not 0 < trained < asked or conversation_tok(situation) < trained:
        return ()
    return (
        f"The model was trained for {trained:,} tokens, so {word} says that many; {asked:,} were "
        "asked for.",
    )


def say_pool(sheet: Sheet, engine: str) -> None:
    """Answer for a shared pool where ``engine`` always has one, without a word of its own."""
    config = sheet.config
    if config.kv_unified:
        sheet.say("kv_unified", "always one pool for all conversations")
        return
    whose = "the one slot" if config.slots == 1 else f"each of the {config.slots:,} slots"
    sheet.leave(
        "kv_unified",
        f"{engine} always has one pool for all conversations; the context of {whose} is a limit "
        "there and not reserved.",
    )
