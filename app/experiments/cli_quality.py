"""``tunedeck quality``: what quantising the KV cache costs, and what it buys.

Only the standard library at import, so that a wrong word is refused before anything is set up.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from app.experiments.cli_engine import add_profile_option, conduct_with_history, said, values_in
from app.experiments.cli_plan import add_plan_option, tell_plan

if TYPE_CHECKING:
    from app.experiments.experiment import Experiment, Subject
    from app.experiments.quality import QualityAsked
    from app.experiments.reporter import Reporter
    from engine_bridge.model_facts import ModelFacts
    from engine_bridge.settings.config import EngineConfig
    from engine_bridge.settings.domain import Value

NAME = "quality"
_CANDIDATES = ("q8_0/q8_0", "q4_0/q4_0")
_CACHE_KEYS = ("cache_type_k", "cache_type_v")
# What makes a candidate where ``--set`` names it; everything else is the same for all.
_CTX_KEY, _CTX_LEAST_TOK = "ctx_per_slot_tok", 256
_CANDIDATE_KEYS = (*_CACHE_KEYS, "flash_attn")
_PROSE = "prose.txt"
_FACTS = 20


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        NAME, help="measure what a quantised KV cache costs in quality: KLD, perplexity, recall"
    )
    parser.add_argument("model", help="GGUF file")
    add_profile_option(parser)
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a setting; repeatable. Cache types and flash_attn, here and in the profile, make a "
        "candidate, all others hold for f16 as well",
    )
    parser.add_argument(
        "--candidate",
        action="append",
        default=[],
        metavar="K/V",
        help="types of the K and V cache to compare with f16, such as q8_0/q4_0, or q8_0 for both; "
        f"repeatable ({' and '.join(_CANDIDATES)} by default)",
    )
    parser.add_argument(
        "--text", type=Path, metavar="FILE",
        help="what is read (prose that comes with TuneDeck by default)",
    )  # fmt: skip
    _add_lengths(parser)
    add_plan_option(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _add_lengths(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--chunks", type=int, default=20, metavar="N",
        help="most chunks that are read (%(default)s by default)",
    )  # fmt: skip
    parser.add_argument(
        "--ctx", type=int, default=512, metavar="TOK",
        help="tokens of a chunk, of which the second half is scored (%(default)s by default)",
    )  # fmt: skip
    parser.add_argument(
        "--recall", action="store_true", help="also tell facts in a long text and ask for them"
    )
    parser.add_argument(
        "--facts", type=int, default=_FACTS, metavar="N",
        help="facts of the recall test (%(default)s by default)",
    )  # fmt: skip
    parser.add_argument(
        "--recall-ctx", type=int, default=2048, metavar="TOK",
        help="tokens of the text that they are told in (%(default)s by default)",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Do it; gives the exit status."""
    from app.experiments.planned import planned_quality  # noqa: PLC0415
    from app.experiments.quality import quality  # noqa: PLC0415
    from app.experiments.quality_check import refuse_model, refuse_wrong_words  # noqa: PLC0415
    from app.experiments.quality_process import QualityProcess  # noqa: PLC0415
    from app.experiments.quality_words import quality_lines  # noqa: PLC0415
    from app.experiments.subject import facts_of  # noqa: PLC0415
    from app.experiments.terminal import SENTENCES  # noqa: PLC0415

    try:
        asked = asked_of(arguments)
        refuse_wrong_words(asked)
        model = facts_of(asked.config.model_path)
        refuse_model(asked, model)
    except SENTENCES as error:
        return said(error, as_json=arguments.json)
    if tell_plan(planned_quality(asked), arguments):
        return 0
    process = QualityProcess()

    def work(reporter: Reporter) -> Experiment:
        subject = _subject_of(model, reporter)
        return quality(asked, process, reporter, subject, model=model)

    return conduct_with_history(work, quality_lines, stop=process.stop, as_json=arguments.json)


def asked_of(arguments: argparse.Namespace) -> QualityAsked:
    """What a command line asks for.

    Raises:
        DomainError: If a setting or a candidate is wrong.
        WorkloadError: If the text cannot be read.
    """
    from app.experiments.quality import QualityAsked  # noqa: PLC0415
    from app.experiments.texts import bundled, user_text  # noqa: PLC0415
    from engine_bridge.settings.config import EngineConfig  # noqa: PLC0415
    from engine_bridge.settings.domain import DomainError  # noqa: PLC0415

    if arguments.recall and arguments.facts < 1:
        raise DomainError(f"--recall asks for facts; got --facts {arguments.facts:,}.")
    values = values_in(arguments)
    config = EngineConfig.from_values(values)
    own = {key: values[key] for key in _CANDIDATE_KEYS if key in values}
    for ctx_tok in (arguments.ctx, arguments.recall_ctx):
        # More than the engine takes is refused before one is started; too little, it says itself.
        config.with_values({_CTX_KEY: max(ctx_tok, _CTX_LEAST_TOK)})
    return QualityAsked(
        config=config,
        candidates=_candidates(config, arguments.candidate, own),
        text=bundled(_PROSE) if arguments.text is None else user_text(arguments.text),
        text_name=_PROSE if arguments.text is None else arguments.text.name,
        ctx_tok=arguments.ctx,
        chunks=arguments.chunks,
        facts=arguments.facts if arguments.recall else 0,
        recall_ctx_tok=arguments.recall_ctx,
    )


def _candidates(
    config: EngineConfig, named: list[str], own: Mapping[str, object]
) -> tuple[Mapping[str, Value], ...]:
    """The candidates, each checked: that of ``--set`` first, then those named by their types."""
    asked: list[Mapping[str, object]] = []
    has_types = any(key in own for key in _CACHE_KEYS)
    if has_types or (own and not named):
        asked.append(own)
    elif not named:
        named = list(_CANDIDATES)
    for pair in named:
        k, _, v = pair.partition("/")
        common = {key: value for key, value in own.items() if key not in _CACHE_KEYS}
        asked.append({"cache_type_k": k, "cache_type_v": v or k, **common})
    checked = []
    for values in asked:
        made = config.with_values(dict(values))
        checked.append({key: getattr(made, key) for key in values})
    return tuple(checked)


def _subject_of(model: ModelFacts, reporter: Reporter) -> Subject:
    """What is measured and where; an engine is started to say what it is built of.

    Raises:
        EngineGoneError: If none could be started.
    """
    from app.experiments.model_hash import ModelHashes  # noqa: PLC0415
    from app.experiments.port import EngineGoneError  # noqa: PLC0415
    from app.experiments.subject import subject_of  # noqa: PLC0415
    from app.greeting import greeting_of_new_engine  # noqa: PLC0415

    reporter.progressed(0.0, "Looking at the engine and the model", None)
    hello = greeting_of_new_engine()
    if hello is None:
        raise EngineGoneError(
            "No engine could be started. `tunedeck diagnostics` says what is there."
        )
    return subject_of(hello, model.path, model, ModelHashes().of(model.path))
