"""The part of the tour in which models come in and settings leave."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtWidgets import QDialog, QWidget

from app.tour_step import Step
from app.window import Window
from widgets.export_view import ExportView
from widgets.hub_view import HubView
from widgets.import_view import ImportView
from widgets.profiles_view import ProfilesView

_VERDICT = 3
"""Column of the hub's models that says what becomes of each on this machine."""

_View = TypeVar("_View", bound=QWidget)

# As people post it: a variable before the program, continued lines, one flag that is gone and one
# that has another name today.
_POSTED = """\
CUDA_VISIBLE_DEVICES=0 llama-server -m ./gemma-3-270m-q4_k_m.gguf \\
    -c 16384 -np 2 -ngl 99 -fa -ctk q8_0 -ctv q8_0 \\
    --mlock --draft-max 8 --host 0.0.0.0 --port 8080
"""


class FilesTour:
    """Export, import, profiles and the hub, each in its dialog."""

    def __init__(self, window: Window) -> None:
        """Prepare the steps for ``window``, in which a model runs."""
        self._window = window
        self._is_judging = False

    def steps(self) -> list[Step]:
        """The steps in their order."""
        return [
            Step("25-export", lambda: self._run("command.export"), self._is_exported,
                 self._fault_of_export, shown=lambda: self._dialog(ExportView), end=self._close),
            Step("26-import", self._paste, self._is_read, self._fault_of_import,
                 shown=lambda: self._dialog(ImportView), end=self._close),
            Step("27-profiles", lambda: self._run("profiles.show"), self._are_profiles_shown,
                 lambda: "", shown=lambda: self._dialog(ProfilesView), end=self._close),
            Step("28-hub", lambda: self._run("model.hub"), self._is_hub_asked, lambda: "",
                 shown=lambda: self._dialog(HubView), end=self._close),
        ]  # fmt: skip

    # --- Export -------------------------------------------------------------------------

    def _is_exported(self) -> bool:
        view = self._view(ExportView)
        return view is not None and view.isVisible()

    def _fault_of_export(self) -> str:
        view = self._view(ExportView)
        assert view is not None
        return "" if view.files.isVisible() else "the view shows no command"

    # --- Import -------------------------------------------------------------------------

    def _paste(self) -> None:
        self._run("command.paste")
        view = self._view(ImportView)
        assert view is not None
        view.set_text(_POSTED)

    def _is_read(self) -> bool:
        view = self._view(ImportView)
        return view is not None and view.is_understood()

    def _fault_of_import(self) -> str:
        view = self._view(ImportView)
        assert view is not None
        return "" if view.use_button.isEnabled() else "nothing of the command can be used"

    # --- Profiles, hub ------------------------------------------------------------------

    def _are_profiles_shown(self) -> bool:
        view = self._view(ProfilesView)
        return view is not None and bool(view.shown_texts())

    def _is_hub_asked(self) -> bool:
        """Whether there is an answer: memory of the first repository's models, or no network."""
        view = self._view(HubView)
        if view is None:
            return False
        if not view.hits.rowCount():
            return view.again.isVisible()
        if not view.hits.selectedItems():
            view.hits.selectRow(0)
        elif view.judge_all.isEnabled() and not self._is_judging:
            self._is_judging = True
            view.judge_all.click()
        return self._is_judging and all(
            item is not None and item.text() and "…" not in item.text()
            for item in (view.quants.item(row, _VERDICT) for row in range(view.quants.rowCount()))
        )

    # --- Inside -------------------------------------------------------------------------

    def _view(self, kind: type[_View]) -> _View | None:
        found = [view for view in self._window.findChildren(kind) if view.isVisible()]
        return found[-1] if found else None

    def _dialog(self, kind: type[QWidget]) -> QWidget | None:
        view = self._view(kind)
        return None if view is None else view.window()

    def _close(self) -> None:
        for dialog in self._window.findChildren(QDialog):
            if dialog.isVisible():
                dialog.close()

    def _run(self, name: str) -> None:
        self._window.actions_of_window.run(name)
