"""What drafts bring, by what was measured: turns go in, figures come out. Pure.

``TurnRun`` is one answer with what it ran with; ``figures_of`` adds the runs of a conversation up
and holds them against runs without drafts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from statistics import median

from engine_bridge.metrics.definitions import acceptance, expected_tokens_per_pass
from engine_bridge.metrics.turn_details import TurnDetails
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.spec_kinds import EXPORT_ONLY_KINDS
from engine_bridge.settings.speculation_rows import SPECULATION

LEAST_PASSES = 16
"""Passes below which a turn counts for nothing: as many as a TPOT on the charts is made of."""

_OF_DRAFTS = frozenset(setting.key for setting in SPECULATION)


@dataclass(frozen=True)
class TurnRun:
    """One answer and what it ran with.

    Attributes:
        conversation_id: Whose answer it was.
        config: What the engine ran, the same from its beginning to its end.
        details: Its figures.
    """

    conversation_id: str
    config: EngineConfig
    details: TurnDetails

    @property
    def has_drafts(self) -> bool:
        """Whether anything drafted here; kinds that only a command line can use do not."""
        return not set(self.config.spec_types) <= set(EXPORT_ONLY_KINDS)

    @property
    def counts(self) -> bool:
        """Whether it was long enough to say something."""
        details = self.details
        is_told = bool(details.tpot_s) and details.new_tok > 1
        return is_told and details.passes >= LEAST_PASSES

    @property
    def pass_s(self) -> float:
        """Mean time of a pass; of a run that counts."""
        details = self.details
        return (details.tpot_s or 0.0) * (details.new_tok - 1) / details.passes


@dataclass(frozen=True)
class DraftFigures:
    """What drafts did in a conversation.

    Attributes:
        turns: Turns that were added up.
        passes: Passes of the model in them, those of the prefill left out.
        drafted_at: Drafted tokens by position.
        accepted_at: Accepted tokens by position.
        tokens_per_pass: Measured.
        pass_s: Time of a pass, median of the turns.
        tpot_s: Median of the turns.
        tpot_range_s: Shortest and longest TPOT of the turns.
        baseline_turns: Turns without drafts, with the same model and the same other settings.
        baseline_tpot_s: Their median TPOT; None without one.
        baseline_range_s: Their shortest and longest TPOT; None without one.
    """

    turns: int
    passes: int
    drafted_at: tuple[int, ...]
    accepted_at: tuple[int, ...]
    tokens_per_pass: float
    pass_s: float
    tpot_s: float
    tpot_range_s: tuple[float, float]
    baseline_turns: int = 0
    baseline_tpot_s: float | None = None
    baseline_range_s: tuple[float, float] | None = None

    @property
    def drafted_tok(self) -> int:
        """Tokens drafted."""
        return sum(self.drafted_at)

    @property
    def accepted_tok(self) -> int:
        """Of them accepted."""
        return sum(self.accepted_at)

    @property
    def alpha(self) -> float | None:
        """Accepted tokens / drafted tokens; None where none was drafted."""
        return acceptance(self.drafted_tok, self.accepted_tok)

    @property
    def reached_alpha(self) -> float | None:
        """Accepted tokens / drafted tokens before which the whole draft held.

        The probability that the formula asks for: behind a wrong guess none counts any more, right
        or wrong. Exact where all drafts are equally long, else a little too low.
        """
        reached = 0
        held = self.drafted_at[0] if self.drafted_at else 0
        for drafted, accepted in zip(self.drafted_at, self.accepted_at, strict=False):
            reached += min(held, drafted)
            held = accepted
        # A file may say that more was accepted than drafted.
        return acceptance(reached, min(reached, self.accepted_tok))

    @property
    def expected_per_pass(self) -> float | None:
        """Tokens a pass by ``expected_tokens_per_pass``, each draft with its length.

        A pass without a draft brings one. None where nothing was drafted.
        """
        alpha = self.reached_alpha
        if alpha is None:
            return None
        longer = (*self.drafted_at[1:], 0)
        tokens = float(max(0, self.passes - self.drafted_at[0]))
        for length, (at_least, more) in enumerate(
            zip(self.drafted_at, longer, strict=True), start=1
        ):
            tokens += (at_least - more) * expected_tokens_per_pass(alpha, length)
        return tokens / max(self.passes, self.drafted_at[0])

    @property
    def cost_share(self) -> float | None:
        """Share of a pass's time that a pass without drafts does not take; None without baseline.

        Making the guesses and checking them are both in it.
        """
        if self.baseline_tpot_s is None:
            return None
        return 1.0 - self.baseline_tpot_s / self.pass_s

    @property
    def gain(self) -> float | None:
        """Speed with drafts / speed without − 1; None without a baseline."""
        return None if self.baseline_tpot_s is None else self.baseline_tpot_s / self.tpot_s - 1.0

    @property
    def is_gain_clear(self) -> bool:
        """Whether every turn with drafts was faster than all without, or every one slower."""
        if self.baseline_range_s is None:
            return False
        fastest, slowest = self.tpot_range_s
        return slowest < self.baseline_range_s[0] or fastest > self.baseline_range_s[1]


def figures_of(
    runs: Iterable[TurnRun], conversation_id: str, config: EngineConfig
) -> DraftFigures | None:
    """What drafts did in one conversation with the settings as they are.

    Args:
        runs: Everything that was measured, oldest first.
        conversation_id: The conversation.
        config: What the engine runs; only turns with exactly this count.

    Returns:
        None where no turn of it was long enough.
    """
    drafted = [
        run
        for run in runs
        if run.conversation_id == conversation_id
        and run.config == config
        and run.has_drafts
        and run.counts
    ]
    if not drafted:
        return None
    tpots = [run.details.tpot_s or 0.0 for run in drafted]
    plain = baseline_tpots(runs, config)
    passes = sum(run.details.passes for run in drafted)
    drafted_at = _summed([run.details.drafted_at for run in drafted])
    accepted_at = _summed([run.details.accepted_at for run in drafted])
    # A position accepted nowhere may be missing.
    accepted_at = (accepted_at + (0,) * len(drafted_at))[: len(drafted_at)]
    return DraftFigures(
        turns=len(drafted),
        passes=passes,
        drafted_at=drafted_at,
        accepted_at=accepted_at,
        tokens_per_pass=sum(run.details.new_tok - 1 for run in drafted) / passes,
        pass_s=median(run.pass_s for run in drafted),
        tpot_s=median(tpots),
        tpot_range_s=(min(tpots), max(tpots)),
        baseline_turns=len(plain),
        baseline_tpot_s=median(plain) if plain else None,
        baseline_range_s=(min(plain), max(plain)) if plain else None,
    )


def baseline_tpots(runs: Iterable[TurnRun], config: EngineConfig) -> list[float]:
    """TPOT of every turn without drafts that ran with ``config`` but for what drafts."""
    return [
        run.details.tpot_s or 0.0
        for run in runs
        if not run.has_drafts
        and run.counts
        and _OF_DRAFTS.issuperset(run.config.changed_from(config))
    ]


def _summed(rows: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(sum(column) for column in zip_longest(*rows, fillvalue=0))
