"""What the form of an experiment offers, in words: workloads, usual values, choices. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from app.experiment_form import (
    FIND,
    NUMBERS,
    RATES,
    USUAL_CHUNK_TOK,
    USUAL_CHUNKS,
    USUAL_MINUTES,
    USUAL_NUMBERS,
    USUAL_PAIRS,
    USUAL_RATES,
    USUAL_TYPES,
)
from app.experiment_reading import NO_MODEL, RUNNING, WANTED, Situation
from app.experiment_tune_form import FLOORS, MIB, PURPOSES, USUAL_FLOOR
from app.experiments.bench import USUAL_RUNS
from app.experiments.lengths import Lengths
from app.experiments.measures import MEASURES
from app.experiments.presets import PRESETS
from app.experiments.sweep import USUAL_ROUNDS
from app.experiments.tune_goal import USUAL_MARGIN_BYTES, USUAL_MEASUREMENTS, USUAL_SECONDS
from app.experiments.users_plan import USUAL_MOST, USUAL_REQUESTS, USUAL_SHARE
from app.experiments.workload import Workload
from app.experiments.workload_words import summary
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.table import BY_KEY
from widgets.experiments.form_fields import DRAFTS, FormOffers, Offer
from widgets.experiments.form_values import CONVERSATION, FILE

_MOST_CHANGES = 6
_WORDS = {"coding-agent": "Coding agent", "batch": "Batch"}
_FILE_ABOUT = (
    "A text of your own is asked about like a chat; a workload or a conversation exported as JSON "
    "is taken as it is."
)
_NO_DRAFTS = (
    "None on this machine is known to fit this model; drafts by copying are tried all the same."
)
_SETTINGS_ALIKE = "The Tune column stands at what the engine runs."
_BY_SWEEP = Offer("", "The usual figure", "Total throughput; of one user the speed per user.")
_USUAL: Mapping[str, str] = {
    "runs": str(USUAL_RUNS),
    "rounds": str(USUAL_ROUNDS),
    "pairs": str(USUAL_PAIRS),
    "a": "as it runs now",
    "b": "as set in the Tune column",
    "types": USUAL_TYPES,
    "chunks": str(USUAL_CHUNKS),
    "chunk_tok": str(USUAL_CHUNK_TOK),
    "numbers": ",".join(map(str, USUAL_NUMBERS)),
    "rates": ",".join(f"{rate:g}" for rate in USUAL_RATES),
    "most": str(USUAL_MOST),
    "share": f"{100 * USUAL_SHARE:g}",
    "long_prompt_tok": "0",
    "text": "prose of TuneDeck's own",
    "key_env": "OPENAI_API_KEY, if it is there",
    "served": "the only one that it has",
    "margin_mib": str(USUAL_MARGIN_BYTES // MIB),
    "kv_floor": USUAL_FLOOR,
    "measurements": str(USUAL_MEASUREMENTS),
    "minutes_tune": f"{USUAL_SECONDS / 60:g}",
}


def offers_for(situation: Situation, drafts: tuple[Offer, ...] = ()) -> FormOffers:
    """What the form offers in that situation; ``drafts`` are the draft models on this machine."""
    sources = [
        Offer(name, _WORDS.get(name, preset.title), preset.about)
        for name, preset in PRESETS.items()
    ]
    replay = situation.replay
    about = "" if replay is None else f"{summary(replay, counts=False)}."
    sources.append(Offer(CONVERSATION, "This chat", about, situation.why_no_replay))
    sources.append(Offer(FILE, "Your file", _FILE_ABOUT))
    usual = {name: _usual_of(preset.workload) for name, preset in PRESETS.items()}
    usual[FILE] = _usual_of(PRESETS["chat"].workload)
    if replay is not None:
        usual[CONVERSATION] = _usual_of(replay)
    usual[""] = {
        **_USUAL,
        "minutes": f"{USUAL_MINUTES:g}",
        "minutes_users": "none",
        "judged": str(USUAL_REQUESTS),
    }
    changes = changes_words(situation.running, situation.wanted)
    return FormOffers(
        sources=tuple(sources),
        usual=usual,
        choices=_choices(bool(changes)),
        notes={
            "settings": changes or _SETTINGS_ALIKE,
            "b": changes or _SETTINGS_ALIKE,
            DRAFTS: "" if drafts else _NO_DRAFTS,
        },
        drafts=drafts,
        why_no_start=NO_MODEL if situation.running is None else "",
        free_kinds=("probe",),
    )


def changes_words(running: EngineConfig | None, wanted: EngineConfig) -> str:
    """That what is wanted differs from what runs, and how; empty where it does not."""
    words = "" if running is None else difference_words(running, wanted)
    return f"Set in the Tune column: {words}." if words else ""


def difference_words(before: EngineConfig, after: EngineConfig) -> str:
    """What changes from one configuration to another: ``Slots 4 → 8``; empty for nothing."""
    keys = [key for key in after.changed_from(before) if key in BY_KEY]
    words = [
        f"{BY_KEY[key].label} {_value(before, key)} → {_value(after, key)}"
        for key in keys[:_MOST_CHANGES]
    ]
    if len(keys) > _MOST_CHANGES:
        words.append(f"{len(keys) - _MOST_CHANGES} more")
    return ", ".join(words)


def _value(config: EngineConfig, key: str) -> str:
    return BY_KEY[key].domain.format(getattr(config, key)) or "none"


def _usual_of(workload: Workload) -> Mapping[str, str]:
    def limit(value_s: float | None, scale: float) -> str:
        return "none" if value_s is None else f"{value_s * scale:g}"

    return {
        "users": str(workload.users),
        "requests": str(workload.requests),
        "prompt_tok": _length(workload.prompt_tok),
        "answer_tok": _length(workload.answer_tok),
        "ttft_slo_s": limit(workload.ttft_slo_s, 1),
        "tpot_slo_ms": limit(workload.tpot_slo_s, 1000),
    }


def _length(lengths: Lengths) -> str:
    """What an empty field stands for; the unit stands behind the field."""
    return lengths.words.replace(" tokens", "")


def _choices(has_changes: bool) -> Mapping[str, tuple[Offer, ...]]:
    measures = tuple(Offer(each.key, _capital(each.label)) for each in MEASURES)
    decides = tuple(sorted(measures, key=lambda offer: offer.key != "tpot_s"))
    why_not = "" if has_changes else _SETTINGS_ALIKE
    return {
        "settings": (
            Offer(RUNNING, "As the engine runs now"),
            Offer(WANTED, "As set in the Tune column", why_not=why_not),
        ),
        "by": (_BY_SWEEP, *measures),
        "by_ab": decides,
        "purpose": PURPOSES,
        "kv_floor": FLOORS,
        "how": (
            Offer(NUMBERS, "These numbers"),
            Offer(FIND, "Find the most", "The largest number that stays within the limits."),
            Offer(RATES, "Arrival rates", "Requests arrive whoever waits, at so many a second."),
        ),
    }


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
