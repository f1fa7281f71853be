"""The search of a tuner: which configurations race against the best so far, step by step.

A step's options race all at once, or one goes from option to option while that pays. At the end
neighbours of the best are looked at again, small gains that could not be told apart are tried
together, and what is still undecided gets the runs that are left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.experiments.tune_drafts import both_kinds
from app.experiments.tune_fates import Fates
from app.experiments.tune_goal import TuneGoal
from app.experiments.tune_ground import Fitting
from app.experiments.tune_judge import Judgement
from app.experiments.tune_objective import Objective
from app.experiments.tune_race import Result, race, rank_of
from app.experiments.tune_steps import Option, Step, is_applied
from app.experiments.tune_trials import Trials
from app.experiments.tune_words import cut_note, refusal_note, try_note
from app.experiments.verdict import Outcome
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError, Value

_STEP_ROUNDS = 3
# Of what is undecided at the end, so many at a time, so often before it is looked who is next.
_MOST_UNDECIDED, _UNDECIDED_ROUNDS = 3, 2
# Of the budget, for what comes after the steps.
_RESERVE_PART = 6
# A second look at more at once would spend what is left on a single round.
_MOST_AT_ONCE = 5
# An option that lost by so much (logarithm) does not win for another setting beside it.
_HOPELESS = -0.15
_LIKELY_PAIRS, _MOST_PAIRS = 4, 16
# A difference that could be no larger than this is not worth the runs.
_WORTH = 0.03
# Runs that are left for how much is gained over the settings before.
_CONFIRMING = 10
_AGAIN = "A second look"
_UNDECIDED = "Undecided"


class Search:
    """The best so far, and what was learnt on the way.

    Attributes:
        best: The best so far.
        fates: What became of each step.
    """

    def __init__(
        self,
        trials: Trials,
        fitting: Fitting,
        goal: TuneGoal,
        objective: Objective,
        *,
        ground: EngineConfig,
        barred: EngineConfig | None = None,
    ) -> None:
        """Begin with ``ground``, which was measured; ``barred`` must never become the best."""
        self._trials = trials
        self._fitting = fitting
        self._goal = goal
        self._objective = objective
        self.best = ground
        self.fates = Fates()
        self._label = self._name = ""
        self._barred = barred
        # The last gain of each option, by its settings, and those that may be gains.
        self._gains: dict[tuple[tuple[str, Value], ...], float] = {}
        self._promising: dict[str, dict[str, Value]] = {}
        # The best drafts that gain, by whether a model makes them.
        self._drafts: dict[bool, EngineConfig] = {}
        self._begun: dict[str, int] = {}  # numbers of the steps that were raced, by name

    # --- Steps --------------------------------------------------------------------------

    @property
    def reserve(self) -> int:
        """Runs that steps leave for what comes after them."""
        return self._trials.budget // _RESERVE_PART

    def take_step(self, step: Step) -> None:
        """Race the options of ``step`` and keep the best.

        Raises:
            StoppedError: If the user stopped the experiment.
            PortError: If the engine can go on with none.
        """
        if not self.applies(step):
            return
        self._name = step.name
        if step.is_ladder and self._place(step) is not None:
            self._climb(step)
        else:
            self._race_step(step, self._candidates(step))

    def applies(self, step: Step) -> bool:
        """Whether it has any option for the best: lengths of drafts have none without them."""
        return bool(step.options(self.best, self._trials.cell(self.best)))

    def _race_step(self, step: Step, candidates: Sequence[EngineConfig]) -> EngineConfig | None:
        """Race candidates of a step; the winner or None. What became of the step is noted."""
        candidates = self._trials.within_limit(candidates)
        if not candidates:
            self.fates.had_nothing(step.name)
            return None
        reserve = self.reserve
        needed, left = len(candidates) + 1, self._trials.left - reserve
        if left < needed:
            is_time = self._trials.is_short_of_time
            self.fates.was_short(step.name, needed, left, is_time=is_time)
            return None
        self._label = f"Step {self._begun.setdefault(step.name, len(self._begun) + 1)}: {step.name}"
        return self._race(step.title, candidates, min(_STEP_ROUNDS, left // needed))

    def _climb(self, step: Step) -> None:
        """Go on along the options while that pays, to the side that pays first.

        Two ahead are tried together: one step alone may be too small to be told.
        """
        directions: tuple[int, ...] = (1, -1)
        while (place := self._place(step)) is not None:
            options = step.options(self.best, self._trials.cell(self.best))
            near: dict[EngineConfig, int] = {}
            for direction in directions:
                ahead = [place + direction * far for far in (1, 2)]
                for at in ahead:
                    if not 0 <= at < len(options):
                        break
                    config = self._fitted(step.title, options[at])
                    if config is None:
                        break
                    near[config] = direction
            winner = self._race_step(step, tuple(near))
            if winner is None:
                return
            directions = (near[winner],) if len(directions) > 1 else directions

    def _place(self, step: Step) -> int | None:
        """Which option the best has; None if it has none of them."""
        options = step.options(self.best, self._trials.cell(self.best))
        for place, option in enumerate(options):
            if is_applied(option, self.best):
                return place
        return None

    def _candidates(self, step: Step) -> list[EngineConfig]:
        found = []
        for option in step.options(self.best, self._trials.cell(self.best)):
            config = self._fitted(step.title, option)
            if config is not None:
                found.append(config)
        return found

    def _fitted(self, title: str, option: Option) -> EngineConfig | None:
        """The best with ``option``, if that is something else, can run and may be tried."""
        try:
            wanted = self.best.with_values(dict(option))
        except DomainError:
            return None
        if wanted == self.best:
            return None
        config = self._fitting.fitted(wanted, option)
        if config is None:
            reason = self._trials.reason(wanted)
            if not self._trials.cell(wanted).notes:
                note = refusal_note(title, self.best, wanted, reason)
                self._trials.note(wanted, note, skipped=reason)
            return None
        return config if self._trials.may_try(config) else None

    # --- A race -------------------------------------------------------------------------

    def _race(
        self, title: str, candidates: Sequence[EngineConfig], rounds: int
    ) -> EngineConfig | None:
        """Race ``candidates``; the winner, which is the best from now on, or None."""
        before = self.best
        self._trials.announce(self._label)
        result = race(self._trials, before, candidates, rounds)
        self._tell(title, before, candidates, result)
        self._note_fate(title, len(candidates) + 1, result)
        self._move_to(result.winner)
        if result.stopped is not None:
            raise result.stopped
        return result.winner

    def _note_fate(self, title: str, needed: int, result: Result) -> None:
        if title == _AGAIN:
            return
        if result.judgements or result.refused:
            self.fates.tried(self._name, has_gained=result.winner is not None)
        elif result.stopped is None:  # the time was over before anything was seen
            self.fates.was_short(self._name, needed, 0, is_time=True)

    def _move_to(self, winner: EngineConfig | None) -> None:
        if winner is not None:
            self.best = winner
            self._trials.keep(winner)
        self._trials.hand_on()

    def _tell(
        self,
        title: str,
        before: EngineConfig,
        candidates: Sequence[EngineConfig],
        result: Result,
    ) -> None:
        for config in candidates:
            judgement = result.judgements.get(config)
            if config in result.refused:
                reason = self._trials.reason(config)
                self._trials.note(config, refusal_note(title, before, config, reason))
            elif judgement is not None:
                is_kept = config == result.winner
                self._learn(title, before, config, judgement, is_kept=is_kept)
                note = try_note(
                    title,
                    before,
                    config,
                    judgement,
                    self._objective,
                    is_kept=is_kept,
                    cut=result.cut,
                )
                self._trials.note(config, note)
            elif result.cut and self._trials.cell(config).runs:
                self._trials.note(config, cut_note(title, before, config, result.cut))

    def _learn(
        self,
        title: str,
        before: EngineConfig,
        config: EngineConfig,
        judgement: Judgement,
        *,
        is_kept: bool,
    ) -> None:
        changes = {key: getattr(config, key) for key in config.changed_from(before)}
        self._gains[tuple(changes.items())] = judgement.gain
        if "spec_types" in changes and judgement.outcome is Outcome.BETTER:
            self._drafts[config.drafts_by_model] = config
        if is_kept:
            self._promising.pop(title, None)
        elif judgement.may_gain and judgement.gain > 0 and title not in (_AGAIN, _UNDECIDED):
            self._promising[title] = changes

    # --- After the steps ----------------------------------------------------------------

    def look_around(self, steps: Sequence[Step]) -> None:
        """Race what is near the best and was not yet measured beside it.

        Raises:
            StoppedError: If the user stopped the experiment.
            PortError: If the engine can go on with none.
        """
        self._label = "A second look at what is near the best"
        while self._trials.left >= 4:
            near = self._near(steps)
            left = self._trials.left
            near = self._trials.within_limit(near[: max(0, min(_MOST_AT_ONCE, left // 2 - 1))])
            if not near:
                return
            self._race(_AGAIN, near, min(_STEP_ROUNDS, left // (len(near) + 1)))

    def _near(self, steps: Sequence[Step]) -> list[EngineConfig]:
        """Neighbours that were not measured beside the best, the likeliest first."""
        found: dict[EngineConfig, float] = {}
        for config in self._together():
            found[config] = 1.0
        for step in steps:
            options = step.options(self.best, self._trials.cell(self.best))
            place = self._place(step)
            for number, option in enumerate(options):
                is_far = step.is_ladder and place is not None and abs(number - place) > 1
                gain = self._gains.get(tuple(self._changes(option).items()), 0.0)
                if is_far or gain < _HOPELESS:
                    continue
                fitted = self._fitted(_AGAIN, option)
                if fitted is not None:
                    found.setdefault(fitted, gain)
        new = [config for config in found if not self._was_raced(config)]
        return sorted(new, key=lambda config: -found[config])

    def _changes(self, option: Option) -> dict[str, Value]:
        return {key: value for key, value in option.items() if getattr(self.best, key) != value}

    def _was_raced(self, config: EngineConfig) -> bool:
        """Whether it ran beside the best, or was to and could not."""
        if self._trials.judge(config, self.best).pairs:
            return True
        cell = self._trials.cell(config)
        return bool(cell.skipped) or config == self.best

    def _together(self) -> list[EngineConfig]:
        """Small gains that could not be told apart at once, and two kinds of drafts that gained."""
        found = []
        changes: dict[str, object] = {}
        for promising in self._promising.values():
            changes |= promising
        if len(self._promising) > 1:
            found.append(self.best.with_values(changes))
        if len(self._drafts) > 1 and self.best in self._drafts.values():
            found.append(both_kinds(self._drafts[False], self._drafts[True]))
        return [
            config for config in found
            if self._trials.may_try(config) and not self._trials.reason(config)
        ]  # fmt: skip

    def settle(self) -> None:
        """Spend what is left on those that may be better, until it is clear.

        Raises:
            StoppedError: If the user stopped the experiment.
            PortError: If the engine can go on with none.
        """
        # In a limited time runs are fewer, and yet it should be told what came of them.
        least = (3 if self._goal.seconds else 6) * _CONFIRMING
        confirming = _CONFIRMING if self._trials.budget >= least else 0
        raced: dict[EngineConfig, None] = {}
        while (left := self._trials.left - confirming) >= 2:
            open_ones = self._open()[: min(_MOST_UNDECIDED, left - 1)]
            if not open_ones:
                break
            self._trials.announce("What is not decided yet")
            raced |= dict.fromkeys(open_ones)
            rounds = min(_UNDECIDED_ROUNDS, left // (len(open_ones) + 1))
            before = self.best
            result = race(self._trials, before, open_ones, rounds)
            if result.winner is not None:
                self._tell(_UNDECIDED, before, [result.winner], result)
                raced.pop(result.winner)
            self._move_to(result.winner)
            if result.stopped is not None:
                self._tell_undecided(raced)
                raise result.stopped
        self._take_the_likeliest(raced)
        self._tell_undecided(raced)

    def _take_the_likeliest(self, raced: dict[EngineConfig, None]) -> None:
        """Where no run is left to make it clear, what is probably better is better taken."""
        judged = {config: self._trials.judge(config, self.best) for config in raced}
        likely = [
            config
            for config, judgement in judged.items()
            if judgement.is_likely and judgement.pairs >= _LIKELY_PAIRS
        ]
        if not likely:
            return
        taken = max(likely, key=lambda config: rank_of(judged[config]))
        note = try_note(_UNDECIDED, self.best, taken, judged[taken], self._objective, is_kept=True)
        self._trials.note(taken, note)
        raced.pop(taken)
        self._move_to(taken)

    def _tell_undecided(self, raced: Iterable[EngineConfig]) -> None:
        """What became of them, once for all their runs."""
        for config in raced:
            judgement = self._trials.judge(config, self.best)
            if config != self.best and judgement.pairs:
                note = try_note(
                    _UNDECIDED, self.best, config, judgement, self._objective, is_kept=False
                )
                self._trials.note(config, note)
        self._trials.hand_on()

    def _open(self) -> list[EngineConfig]:
        """Those that may be better than the best by enough, the likeliest first."""
        judged = {
            config: self._trials.judge(config, self.best)
            for config in self._trials.measured
            if config not in (self.best, self._barred) and not self._trials.reason(config)
        }
        found = [
            config
            for config, judgement in judged.items()
            if 0 < judgement.pairs < _MOST_PAIRS and judgement.gain + judgement.error > _WORTH
        ]
        return sorted(found, key=lambda config: -judged[config].gain - judged[config].error)
