"""Other programs on the engine's cores: told when it lasts, and taken back when it is over."""

from __future__ import annotations

import pytest

from engine_bridge.metrics.core_crowding import CoreUse, Crowding, CrowdWatch

SECOND = 1_000_000_000


class Watched:
    """A watch, and a clock that goes on with each reading."""

    def __init__(self, threads: int | None = 2, cores: int = 2) -> None:
        self.watch = CrowdWatch()
        self.threads = threads
        self.cores = cores
        self.at_ns = 1000 * SECOND

    def look(
        self, others: float, times: int = 1, *, engine: float = 1.0, is_serving: bool = True
    ) -> Crowding | None:
        """So many readings, a second each; what is told after the last."""
        found = None
        for _ in range(times):
            self.at_ns += SECOND
            use = CoreUse(self.at_ns, 1.0, self.cores, engine, others)
            found = self.watch.look(use, self.threads, is_serving=is_serving)
        return found


def figures(found: Crowding | None) -> tuple[float, int, int]:
    assert found is not None
    return round(found.others, 6), found.cores, found.threads


def test_that_it_is_told_when_other_programs_take_what_the_threads_want() -> None:
    assert figures(Watched().look(1.2, 5)) == (1.2, 2, 2)


def test_that_a_moment_is_not_told() -> None:
    watched = Watched()
    assert watched.look(0.1, 5) is None
    assert watched.look(1.5, 1) is None
    assert watched.look(0.1, 5) is None
    assert Watched().look(1.5, 3) is None


def test_that_the_noise_of_a_quiet_desktop_is_not_told() -> None:
    assert Watched().look(0.4, 30) is None


def test_that_cores_nobody_wants_may_be_busy() -> None:
    watched = Watched(threads=4, cores=8)
    assert watched.look(4.0, 10) is None
    assert figures(watched.look(5.0, 5)) == (5.0, 8, 4)


def test_that_an_engine_that_waits_is_not_disturbed() -> None:
    assert Watched().look(2.0, 10, is_serving=False) is None
    assert Watched().look(2.0, 10, engine=0.02) is None
    assert Watched().look(1.9, 10, engine=0.1) is not None


def test_that_a_model_that_is_not_on_the_processor_is_not_disturbed() -> None:
    assert Watched(threads=None).look(2.0, 10) is None


def test_that_it_stays_told_between_two_answers_and_near_the_limit() -> None:
    watched = Watched()
    told = watched.look(1.0, 6)
    assert told is not None
    assert watched.look(1.0, 10, engine=0.0, is_serving=False) == told
    assert watched.look(0.4, 10) is not None  # too little to be told anew, too much to be over


def test_that_it_is_taken_back_when_the_cores_are_free_again() -> None:
    watched = Watched()
    assert watched.look(1.5, 6) is not None
    assert watched.look(0.0, 2) is not None
    assert watched.look(0.0, 4, is_serving=False) is None


def test_that_it_does_not_flicker_where_others_come_and_go() -> None:
    watched = Watched()
    seen = [watched.look(others) is not None for others in (1.6, 0.0) * 20]
    assert sum(now != then for now, then in zip(seen[1:], seen, strict=False)) <= 1


def test_that_a_figure_stays_until_it_is_clearly_another() -> None:
    watched = Watched()
    told = watched.look(1.0, 6)
    assert watched.look(1.1, 6) == told
    after = watched.look(1.6, 6)
    assert figures(after) == (1.6, 2, 2)


def test_that_other_threads_are_judged_anew() -> None:
    watched = Watched()
    assert watched.look(1.0, 6) is not None
    watched.threads = 1
    assert watched.look(1.0) is None
    assert watched.look(1.0, 10) is None


def test_that_the_same_reading_counts_once() -> None:
    watch = CrowdWatch()
    use = CoreUse(SECOND, 1.0, 2, 1.0, 2.0)
    for _ in range(10):
        assert watch.look(use, 2, is_serving=True) is None
    assert watch.look(None, 2, is_serving=True) is None


def test_that_one_long_reading_is_a_span() -> None:
    use = CoreUse(SECOND, 30.0, 2, 1.0, 1.0)
    assert CrowdWatch().look(use, 2, is_serving=True) == Crowding(1.0, 2, 2)


@pytest.mark.parametrize(
    ("others", "cores", "threads", "fitting"),
    [(1.2, 2, 2, 1), (5.0, 8, 4, 3), (4.8, 8, 4, 3), (2.0, 2, 2, 1), (1.0, 2, 1, 1)],
)
def test_that_threads_that_fit_have_a_core_each(
    others: float, cores: int, threads: int, fitting: int
) -> None:
    assert Crowding(others, cores, threads).fitting_threads == fitting
