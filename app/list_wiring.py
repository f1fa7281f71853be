"""Between what is kept of conversations, their tabs, and the list of them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.chats import Chats
from app.conversation import Conversation
from app.file_names import safe_file_name
from app.keeping import Keeping
from app.last_folder import EXPORTS, LastFolder
from app.save_dialog import save_dialog
from app.storage.conversation_entry import ConversationEntry
from app.storage.conversation_export import Kind
from app.storage.conversation_search import SearchHit, places_of, search_words
from widgets.chat_tabs import ChatTabs
from widgets.conversation_list import ConversationList
from widgets.conversation_list_model import ListedConversation

# Ending of the file's name and what the dialog calls such files.
_KINDS: dict[str, tuple[Kind, str, str]] = {
    "markdown": ("markdown", "md", "Markdown (*.md)"),
    "json": ("json", "json", "JSON with every branch (*.json)"),
}


class ListWiring(QObject):
    """Fills the list, carries out what is asked for there, and keeps its marks true.

    A closed tab is only put away: its conversation stays in the list. A deleted one closes its tab,
    and has it again when that is undone.

    Signals:
        conversation_shown: Id of a conversation that was brought to the front from the list.
    """

    conversation_shown = Signal(str)

    def __init__(
        self,
        keeping: Keeping,
        chats: Chats,
        tabs: ChatTabs,
        panel: ConversationList,
        adopt: Callable[[Conversation], None],
        *,
        last_folder: LastFolder | None = None,
    ) -> None:
        """Connect them.

        Args:
            keeping: What is stored; started by its owner.
            chats: The conversations that are open.
            tabs: Their tabs.
            panel: The list, also the parent.
            adopt: Shows a stored conversation in a tab.
            last_folder: Where exports went last; None remembers it for this run only.
        """
        super().__init__(panel)
        self._keeping = keeping
        self._chats = chats
        self._tabs = tabs
        self._panel = panel
        self._adopt = adopt
        self._last_folder = last_folder or LastFolder(None, self)
        self._entries: dict[str, ConversationEntry] = {}
        self._is_listed = False
        self._wanted = ""  # asked for in the list, to be shown once it is read
        self._words: tuple[str, ...] = ()  # of the search whose hits are listed
        self._hits: dict[str, SearchHit] = {}
        self._going: dict[str, bool] = {}  # being deleted, and whether it had a tab
        self._gone: dict[str, bool] = {}
        self._connect_panel()
        self._connect_keeping()
        for signal in (chats.answer_opened, chats.conversation_closed):
            signal.connect(lambda _: self._show_marks())
        for signal in (chats.answer_finished, chats.answer_failed, chats.answer_refused):
            signal.connect(lambda *_: self._show_marks())
        tabs.current_changed.connect(self._on_current_changed)
        self._show_marks()

    # --- From the list ------------------------------------------------------------------

    def open(self, conversation_id: str) -> None:
        """Bring a conversation to the front, out of the store if it has no tab."""
        if conversation_id in self._tabs.conversation_ids():
            self._tabs.set_current(conversation_id)
            self._reveal(conversation_id, conversation_id)
            self.conversation_shown.emit(conversation_id)
        else:
            self._wanted = conversation_id
            self._keeping.open(conversation_id)

    def export(self, conversation_id: str, kind: str) -> None:
        """Ask where to, then write a conversation as ``markdown`` or ``json``."""
        kind_name, ending, words = _KINDS[kind]
        entry = self._entries.get(conversation_id)
        name = safe_file_name(entry.title if entry else "", "conversation")
        title = "Export the conversation"
        dialog = save_dialog(self._panel.window(), title, name, ending, words)
        dialog.fileSelected.connect(
            lambda path: self._keeping.export_to(conversation_id, Path(path), kind_name)
        )
        self._last_folder.open(dialog, EXPORTS)

    def _connect_panel(self) -> None:
        panel = self._panel
        panel.conversation_opened.connect(self.open)
        panel.conversation_renamed.connect(self._keeping.rename)
        panel.conversation_duplicated.connect(self._keeping.duplicate)
        panel.conversation_deleted.connect(self._on_delete_asked)
        panel.delete_undone.connect(self._keeping.restore)
        panel.export_chosen.connect(self.export)
        panel.words_searched.connect(self._on_words_searched)
        panel.retried.connect(self._on_retried)

    def _on_words_searched(self, words: str) -> None:
        if words:
            self._keeping.search(words)
            return
        self._words, self._hits = (), {}
        for conversation_id in self._tabs.conversation_ids():
            self._tabs.conversation(conversation_id).rows.unmark()

    def _on_retried(self) -> None:
        self._panel.set_loading()
        self._keeping.list()

    def _on_delete_asked(self, conversation_id: str) -> None:
        entry = self._entries.get(conversation_id)
        self._going[conversation_id] = conversation_id in self._tabs.conversation_ids()
        self._keeping.delete(conversation_id, entry.title if entry else "")

    # --- From what is kept --------------------------------------------------------------

    def _connect_keeping(self) -> None:
        keeping = self._keeping
        keeping.entries_listed.connect(self._on_entries_listed)
        keeping.entry_changed.connect(self._on_entry_changed)
        keeping.search_finished.connect(self._on_search_finished)
        keeping.opened.connect(self._on_opened)
        keeping.deleted.connect(self._on_deleted)
        keeping.restored.connect(self._on_restored)
        keeping.failed.connect(self._on_failed)
        keeping.damaged_found.connect(lambda found: self._panel.show_problem(" ".join(found)))
        keeping.noted.connect(self._panel.show_note)
        keeping.exported.connect(lambda path: self._panel.show_note(f"Exported to {path}"))

    def _on_entries_listed(self, entries: Sequence[ConversationEntry]) -> None:
        self._is_listed = True
        self._entries = {entry.id: entry for entry in entries}
        self._panel.set_entries([_row(entry) for entry in entries])

    def _on_entry_changed(self, entry: ConversationEntry) -> None:
        if self._is_listed and entry.id not in self._gone:
            self._entries[entry.id] = entry
            self._panel.update_entry(_row(entry))

    def _on_search_finished(self, words: str, hits: Iterable[SearchHit]) -> None:
        hits = list(hits)
        self._words, self._hits = search_words(words), {hit.entry.id: hit for hit in hits}
        self._panel.show_hits(words, [_hit_row(hit) for hit in hits])

    def _on_opened(self, conversation: Conversation) -> None:
        self._adopt(conversation)
        self._show_marks()
        # A copy, where another window has it, is of another id.
        if self._wanted:
            self._reveal(self._wanted, conversation.id)
            self._wanted = ""
            self.conversation_shown.emit(conversation.id)

    def _reveal(self, found_id: str, shown_id: str) -> None:
        """Show where the search found its words: the branch, the message, the place in it."""
        hit = self._hits.get(found_id)
        conversation = self._chats.conversation(shown_id)
        if hit is None or hit.turn not in conversation.tree:
            return
        if all(turn.id != hit.turn for turn in conversation.turns):
            self._chats.choose(shown_id, hit.turn)
        words = self._words
        rows = self._tabs.conversation(shown_id).rows
        rows.reveal(hit.turn, lambda text: places_of(text, words))

    def _on_deleted(self, conversation_id: str, _: str) -> None:
        self._gone[conversation_id] = self._going.pop(conversation_id, False)
        self._entries.pop(conversation_id, None)
        if conversation_id in self._tabs.conversation_ids():
            self._tabs.conversation_closed.emit(conversation_id)

    def _on_restored(self, conversation_id: str) -> None:
        if self._gone.pop(conversation_id, False):
            self.open(conversation_id)

    def _on_failed(self, sentence: str) -> None:
        self._wanted = ""
        if not self._is_listed:
            self._panel.set_failed(sentence)
            return
        for conversation_id in self._going:
            self._panel.put_back(conversation_id)
        self._going.clear()
        self._panel.show_problem(sentence)

    # --- Marks --------------------------------------------------------------------------

    def _show_marks(self) -> None:
        conversations = self._chats.conversations()
        self._panel.set_open(each.id for each in conversations)
        self._panel.set_streaming(each.id for each in conversations if each.is_answering)

    def _on_current_changed(self, conversation_id: str) -> None:
        self._show_marks()
        # Who walks through the list by keys must not be carried off.
        if not self._panel.isAncestorOf(self._panel.window().focusWidget() or self._tabs):
            self._panel.select(conversation_id)


def _row(entry: ConversationEntry) -> ListedConversation:
    return ListedConversation(entry.id, entry.title, entry.updated_s, entry.excerpt)


def _hit_row(hit: SearchHit) -> ListedConversation:
    marks = ((hit.start, hit.end),) if hit.end > hit.start else ()
    entry = hit.entry
    return ListedConversation(entry.id, entry.title, entry.updated_s, hit.excerpt, marks)
