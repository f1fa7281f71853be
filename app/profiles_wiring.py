"""Between the profiles and where they are chosen, saved, compared, exported and imported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from app.desk import Desk
from app.file_names import safe_file_name
from app.last_folder import EXPORTS
from app.last_settings import LastSettings
from app.profile_keeper import Listed, ProfileKeeper
from app.profile_sheets import file_name_of, paths_in, rows_of, sheet_of, words_of_switch
from app.profile_use import ProfileUse
from app.profiles import keys_left_out
from app.save_dialog import documents_folder, save_dialog
from app.storage.folders import own_folders
from app.storage.last_store import LastStore
from app.storage.profile_store import ProfileStore
from engine_bridge.engine_state import EngineState
from engine_bridge.settings.rules import errors_of
from engine_bridge.settings.table import BY_KEY
from widgets.profile_name_dialog import ProfileNameDialog
from widgets.profile_rows import NOW, ProfileRow
from widgets.profiles_menu import ProfilesMenu
from widgets.profiles_view import ProfilesView

_FILES = "Profiles of TuneDeck (*.json)"
_OTHERWISE = "profile"
DEAD = "The engine has ended. What you switch to waits for Apply once the engine is started again."


class ProfilesWiring(QObject):
    """Fills the menu and the view, and carries out what is asked for there.

    Signals:
        told: A sentence: what was done, or why not.
    """

    told = Signal(str)

    def __init__(
        self, desk: Desk, menu: ProfilesMenu, parent: QObject, store: ProfileStore | None = None
    ) -> None:
        """Connect them; files are read when the menu is first opened, or one was in use.

        Args:
            desk: Its settings are saved and switched.
            menu: Where they are chosen.
            parent: Owner.
            store: The files; None takes those of this user.
        """
        super().__init__(parent)
        self._desk = desk
        self._session = desk.session
        self._menu = menu
        files = store or ProfileStore(own_folders().profiles)
        kept = desk.kept
        self.last = LastSettings(
            desk.session,
            LastStore.beside(files.folder),
            lambda: kept is not None and kept.is_held,
            self,
        )
        self.keeper = ProfileKeeper(desk.session, files, self, self.last)
        self.use = ProfileUse(desk.session, self.keeper, desk.kept, self)
        self.view: ProfilesView | None = None
        desk.add_keeper(self.keeper)
        desk.add_keeper(self.last)
        self._connect()
        self._show_use()

    # --- What the user does -----------------------------------------------------------------

    def open_menu(self) -> None:
        """Offer the profiles."""
        self._menu.open()

    def open_view(self) -> None:
        """Show all profiles beside the window, which goes on working."""
        if self.view is None:
            self.view = self._make_view()
        self.view.show()
        self._show_rows()
        self.keeper.refresh()
        self.view.raise_()
        self.view.activateWindow()
        self.view.list.setFocus()

    def switch(self, profile_id: str) -> None:
        """Switch to a profile and say what that changed."""
        listed, before = self.keeper.get(profile_id), self._session.wanted
        if listed is None:
            return
        if not self.use.switch(profile_id):
            self._note(self.use.why_not(listed))
            return
        changes = words_of_switch(before, self._session.wanted)
        self._note(self._words_of_switch(listed, changes))

    def save(self) -> None:
        """Save the settings in the profile in use, or say why not."""
        sentence = self.use.why_no_save()
        if sentence:
            self._note(sentence)
        else:
            self.use.save()

    def ask_name(self) -> None:
        """Ask under which name the settings are to be saved as a new profile."""
        model = self.keeper.model

        def check(text: str, is_for_model: bool) -> str:
            return self.keeper.why_no_name(text, model if is_for_model else None)

        scopes = None
        if model is not None:
            scopes = (f"Listed while {model.name} is loaded.", self._for_all_words())
        dialog = ProfileNameDialog("Save as a profile", check, self._window(), scopes=scopes)
        dialog.named.connect(lambda text, is_one: self.use.save_as(text, is_for_model=is_one))
        _open(dialog)

    def ask_new_name(self, profile_id: str) -> None:
        """Ask for another name of a profile."""
        listed = self.keeper.get(profile_id)
        if listed is None or listed.profile.is_built_in:
            return
        profile = listed.profile

        def check(text: str, _: bool) -> str:
            return self.keeper.why_no_name(text, profile.model, profile.id)

        dialog = ProfileNameDialog("Rename the profile", check, self._window(), name=profile.name)
        dialog.named.connect(lambda text, _: self.keeper.rename(profile_id, text))
        _open(dialog)

    def ask_export(self, profile_id: str) -> None:
        """Ask where a profile is to be written to."""
        listed = self.keeper.get(profile_id)
        if listed is None:
            return
        name = safe_file_name(file_name_of(listed.profile), _OTHERWISE)
        dialog = save_dialog(self._window(), "Export the profile", name, "json", _FILES)
        dialog.fileSelected.connect(lambda path: self._export(listed, Path(path)))
        self._desk.last_folder.open(dialog, EXPORTS)

    def ask_import(self) -> None:
        """Ask which files hold the profiles to be imported."""
        dialog = QFileDialog(self._window(), "Import profiles", documents_folder())
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setNameFilters([_FILES, "All files (*)"])
        dialog.filesSelected.connect(
            lambda paths: self.keeper.import_from([Path(path) for path in paths])
        )
        dialog.finished.connect(dialog.deleteLater)
        self._desk.last_folder.open(dialog, EXPORTS)

    # --- Inside -----------------------------------------------------------------------------

    def _connect(self) -> None:
        menu, keeper, session = self._menu, self.keeper, self._session
        menu.rows_wanted.connect(self._on_rows_wanted)
        menu.chosen.connect(self.switch)
        menu.save_wanted.connect(self.save)
        menu.save_as_wanted.connect(self.ask_name)
        menu.view_wanted.connect(self.open_view)
        menu.import_wanted.connect(self.ask_import)
        menu.palette_changed.connect(self._on_palette_changed)
        keeper.listed.connect(self._show_rows)
        keeper.writing_changed.connect(lambda _: self._show_use())
        keeper.told.connect(self._on_told)
        keeper.failed.connect(self._on_failed)
        keeper.deleted.connect(self._on_deleted)
        self.use.changed.connect(self._show_use)
        session.applied_changed.connect(lambda _: self._show_rows_of_view())
        self._desk.client.state_changed.connect(lambda _: self._show_rows_of_view())

    def _make_view(self) -> ProfilesView:
        view = ProfilesView(self._menu.window())
        view.set_palette(self._menu.colours)
        view.compare_wanted.connect(self._on_compare_wanted)
        view.switch_wanted.connect(self.switch)
        view.save_as_wanted.connect(self.ask_name)
        view.rename_wanted.connect(self.ask_new_name)
        view.delete_wanted.connect(self.keeper.delete)
        view.restore_wanted.connect(self.keeper.restore)
        view.export_wanted.connect(self.ask_export)
        view.import_wanted.connect(self.ask_import)
        return view

    def _window(self) -> QWidget:
        """Over which a dialog stands."""
        view = self.view
        is_there = view is not None and view.isVisible()
        return view if view is not None and is_there else self._menu.window()

    def _show_use(self) -> None:
        used = self.use.used
        profile = used.profile if used is not None else None
        self._menu.set_state(
            profile.name if profile is not None else "",
            is_changed=self.use.is_changed and not self.keeper.is_writing,
            is_own=profile is not None and not profile.is_built_in,
        )
        self._show_rows_of_view()

    def _show_rows(self) -> None:
        self._menu.set_rows(self._rows(has_others=False))
        self._show_use()

    def _show_rows_of_view(self) -> None:
        if self.view is not None and self.view.isVisible():
            self.view.set_rows(self._rows(has_others=True))

    def _rows(self, *, has_others: bool) -> tuple[ProfileRow, ...]:
        used, applied = self.use.used, self._session.applied
        return rows_of(
            self.keeper.all(),
            used_id=used.profile.id if used is not None else "",
            model=self.keeper.model,
            running=applied.config if applied is not None else None,
            why_not=self.use.why_not,
            seconds=self._session.measured_seconds,
            has_others=has_others,
        )

    def _for_all_words(self) -> str:
        left_out = keys_left_out(self._session.wanted, None)
        if not left_out:
            return "Listed for every model."
        labels = ", ".join(BY_KEY[key].label for key in left_out)
        return f"Listed for every model. Made for this one alone, so left out: {labels}."

    def _words_of_switch(self, listed: Listed, changes: str) -> str:
        name, session = listed.profile.name, self._session
        words = f"“{name}”: {changes}." if changes else f"“{name}” changes no setting."
        broken = errors_of(session.wanted, session.model)
        if broken and session.applied is not None:
            words += f" They wait for Apply: {broken[0].message}"
        return f"{words} {listed.taken.caution}".strip()

    def _export(self, listed: Listed, path: Path) -> None:
        labels = ", ".join(paths_in(listed.profile))
        note = f" It names files of this machine: {labels}." if labels else ""
        self.keeper.export(listed.profile.id, path, note)

    # --- What came in -----------------------------------------------------------------------

    def _on_rows_wanted(self) -> None:
        # At once as they are known, and again once they are read.
        self._show_rows()
        self.keeper.refresh()

    def _on_compare_wanted(self, profile_id: str, other_id: str) -> None:
        listed = self.keeper.get(profile_id)
        if listed is None or self.view is None:
            return
        other = None if other_id == NOW else self.keeper.get(other_id)
        applied = self._session.applied
        running = applied.config if applied is not None else None
        seconds = self._session.measured_seconds
        sheet = sheet_of(listed, other, self._session.wanted, running, seconds)
        is_dead = running is not None and self._desk.client.state is EngineState.DEAD
        if other is None and is_dead:
            sheet = replace(sheet, total=DEAD)
        self.view.show_sheet(sheet)

    def _on_palette_changed(self, _: object) -> None:
        if self.view is not None:
            self.view.set_palette(self._menu.colours)

    def _on_told(self, sentence: str) -> None:
        self._note(sentence)

    def _on_failed(self, sentence: str) -> None:
        self._say(sentence, lambda view: view.show_problem(sentence))

    def _on_deleted(self, token: str, name: str) -> None:
        if self.view is not None:
            self.view.offer_undo(token, name)

    def _note(self, sentence: str) -> None:
        self._say(sentence, lambda view: view.show_note(sentence))

    def _say(self, sentence: str, show: Callable[[ProfilesView], None]) -> None:
        """Where the user looks: a toast would lie behind the view."""
        if self.view is not None and self.view.isVisible():
            show(self.view)
        else:
            self.told.emit(sentence)


def _open(dialog: ProfileNameDialog) -> None:
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
