"""The last part of the tour: an experiment set up, under way, done, and a row of it applied."""

from __future__ import annotations

from app.tour_step import Step
from app.window import Window
from engine_bridge.settings.config import EngineConfig
from widgets.experiments.form_values import AxisValues

# A sweep of two combinations, short enough for a tour.
_TEXTS = {"users": "2", "requests": "2", "rounds": "2", "ttft_slo_s": "none", "tpot_slo_ms": "none"}
_AXIS = AxisValues("slots", "1,2")


class ExperimentsTour:
    """Measuring: the form, the run beside the charts, what came out."""

    def __init__(self, window: Window) -> None:
        """Prepare the steps for ``window``, in which a model runs."""
        self._window = window
        self._experiments = window.experiments
        self._page = window.experiments.page
        self._before: EngineConfig | None = None

    def steps(self) -> list[Step]:
        """The steps in their order."""
        return [
            Step("22-experiment", self._set_up, self._is_set_up, self._fault_of_form),
            Step("23-measuring", self._start, self._is_measured_once, self._fault_of_run,
                 timeout_s=300),
            Step("24-result", lambda: None, self._is_over, self._fault_of_result, timeout_s=300,
                 end=self._page.show_history),
        ]  # fmt: skip

    def _set_up(self) -> None:
        self._window.actions_of_window.run("experiments.sweep")
        form = self._page.form
        form.sources.set_key("batch")
        for name, text in _TEXTS.items():
            form.set_text(name, text)
        form.axes.set_values([_AXIS])

    def _is_set_up(self) -> bool:
        return self._page.form.axes.note.text().startswith("2 combinations")

    def _fault_of_form(self) -> str:
        return "" if self._page.form.start.isEnabled() else "the sweep cannot be started"

    def _start(self) -> None:
        applied = self._window.desk.session.applied
        self._before = None if applied is None else applied.config
        self._page.form.start.click()

    def _is_measured_once(self) -> bool:
        sheet = self._page.result.sheet()
        return sheet is not None and bool(sheet.rows)

    def _fault_of_run(self) -> str:
        return "" if self._page.strip.is_under_way else "the strip does not show what runs"

    def _is_over(self) -> bool:
        sheet = self._page.result.sheet()
        is_whole = sheet is not None and sheet.state == "done"
        return is_whole and not self._experiments.run.is_under_way

    def _fault_of_result(self) -> str:
        applied = self._window.desk.session.applied
        if applied is None or applied.config != self._before:
            return "the settings of before are not in force again"
        sheet = self._page.result.sheet()
        return "" if sheet is not None and len(sheet.rows) == 2 else "there are not two rows"
