"""Actions on the conversation in front, and on all of them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication

from app.actions import Actions
from app.cache_files import CacheFiles
from app.conversation import Conversation
from engine_bridge.thoughts import answer_of
from widgets.chat_view import ChatView
from widgets.code_in_text import last_code_block

if TYPE_CHECKING:
    from app.window import Window

CONVERSATIONS, MESSAGES = "Conversations", "Messages"
_NO_ANSWER = "There is no answer yet."
_IS_WRITING = "An answer is being written."


class ChatActions:
    """What can be done with conversations, registered in ``Actions``."""

    def __init__(self, actions: Actions, window: Window) -> None:
        """Add all of it for ``window``."""
        self._window = window
        self._tabs = window.chat
        self._chats = window.desk.chats
        self._add_tabs(actions)
        self._add_kept(actions)
        self._add_caches(actions)
        self._add_messages(actions)
        self._add_branches(actions)
        self._add_copies(actions)

    # --- Tabs and what is kept ----------------------------------------------------------

    def _add_tabs(self, actions: Actions) -> None:
        tabs = self._tabs
        # The tabs listen to these keys themselves.
        for name, text, keys, slot in (
            ("new", "New conversation", ("Ctrl+T",), tabs.conversation_opened.emit),
            ("close", "Close the conversation", ("Ctrl+W",), tabs.close_current),
            ("next", "Next conversation", ("Ctrl+Tab", "Ctrl+PgDown"), partial(tabs.step, 1)),
            ("previous", "Previous conversation", ("Ctrl+Shift+Tab", "Ctrl+PgUp"),
             partial(tabs.step, -1)),
        ):  # fmt: skip
            actions.add(
                f"chat.{name}", text, keys, slot, CONVERSATIONS, words="chat tab", is_heard=True
            )
        for number in range(1, 10):
            actions.add(
                f"chat.go_{number}", f"Go to conversation {number}", f"Ctrl+{number}",
                partial(tabs.bar.setCurrentIndex, number - 1), CONVERSATIONS,
                why_not=partial(self._why_no_tab, number), words="chat tab", is_heard=True,
            )  # fmt: skip

    def _add_kept(self, actions: Actions) -> None:
        window = self._window
        actions.add(
            "chat.search", "Search all conversations", "Ctrl+Shift+F", window.search_conversations,
            CONVERSATIONS, words="find history",
        )  # fmt: skip
        for name, text, keys, slot in (
            ("rename", "Rename the conversation", "Ctrl+J, N", self._rename),
            ("delete", "Delete the conversation", "Ctrl+J, Del", self._delete),
            ("export_markdown", "Export the conversation as Markdown…", "Ctrl+S",
             partial(self._export, "markdown")),
            ("export_json", "Export the conversation as JSON…", "Ctrl+Shift+S",
             partial(self._export, "json")),
        ):  # fmt: skip
            actions.add(
                f"chat.{name}", text, keys, slot, CONVERSATIONS, why_not=self._why_not_kept,
                words="save title trash md",
            )  # fmt: skip

    def _add_caches(self, actions: Actions) -> None:
        files = CacheFiles(self._window.desk, self._window)
        files.done.connect(self._window.say)
        files.failed.connect(self._on_cache_failed)
        actions.add(
            "chat.save_cache", "Save this conversation's cache…", "Ctrl+J, S",
            lambda: files.ask_to_save(self._tabs.current_id()), CONVERSATIONS,
            why_not=self._why_no_cache, words="kv slot file disk store",
        )  # fmt: skip
        actions.add(
            "chat.load_cache", "Load a cache…", "Ctrl+J, O",
            lambda: files.ask_to_load(self._tabs.current_id()), CONVERSATIONS,
            why_not=self._why_no_model, words="kv slot file disk restore",
        )  # fmt: skip

    # --- Messages -----------------------------------------------------------------------

    def _add_messages(self, actions: Actions) -> None:
        actions.add(
            "chat.regenerate", "Regenerate the last answer", "Ctrl+R", self._regenerate, MESSAGES,
            why_not=self._why_not_again, words="answer once more again retry branch",
        )  # fmt: skip
        actions.add(
            "chat.edit", "Edit the last question and send it again", "Ctrl+E",
            self._edit_last, MESSAGES,
            why_not=self._why_not_change, words="resend branch change",
        )  # fmt: skip
        actions.add(
            "chat.continue", "Continue the last answer", "Ctrl+G",
            self._continue, MESSAGES,
            why_not=self._why_not_continue, words="go on",
        )  # fmt: skip
        actions.add(
            "chat.stop", "Stop the answer", "Esc", self._stop, MESSAGES,
            why_not=self._why_not_stop, words="cancel", is_heard=True,
        )  # fmt: skip
        actions.add(
            "chat.attach", "Attach a text file…", "Ctrl+Shift+A",
            self._attach, MESSAGES, words="file add",
        )  # fmt: skip

    def _add_branches(self, actions: Actions) -> None:
        for name, text, keys, step in (
            ("previous", "Show the branch before", "Ctrl+Shift+PgUp", -1),
            ("next", "Show the next branch", "Ctrl+Shift+PgDown", 1),
        ):
            actions.add(
                f"chat.branch_{name}", text, keys, partial(self._step_branch, step), MESSAGES,
                why_not=self._why_no_branch, words="version sibling",
            )  # fmt: skip

    def _add_copies(self, actions: Actions) -> None:
        actions.add(
            "chat.copy_answer", "Copy the last answer", "Ctrl+J, A", self._copy_answer, MESSAGES,
            why_not=lambda: "" if self._answer_text() else _NO_ANSWER, words="clipboard",
        )  # fmt: skip
        actions.add(
            "chat.copy_code", "Copy the last code block", "Ctrl+J, C", self._copy_code, MESSAGES,
            why_not=self._why_no_code, words="clipboard program",
        )  # fmt: skip
        actions.add(
            "chat.copy_all", "Copy the conversation as Markdown", "Ctrl+J, V",
            lambda: self._window.chat_wiring.copy_conversation(self._tabs.current_id()), MESSAGES,
            why_not=lambda: "" if self._conversation().turns else _NO_ANSWER, words="clipboard",
        )  # fmt: skip

    # --- What is done -------------------------------------------------------------------

    def _view(self) -> ChatView:
        return self._tabs.conversation(self._tabs.current_id())

    def _conversation(self) -> Conversation:
        return self._chats.conversation(self._tabs.current_id())

    def _regenerate(self) -> None:
        last = self._conversation().last
        if last is not None:
            self._chats.answer_again(self._tabs.current_id(), last.id)

    def _edit_last(self) -> None:
        self._view().rows.edit_last()

    def _continue(self) -> None:
        self._view().ask_to_continue()

    def _stop(self) -> None:
        self._view().stop_requested.emit()

    def _attach(self) -> None:
        self._view().attach_requested.emit()

    def _step_branch(self, step: int) -> None:
        self._view().rows.step_branch(step)

    def _rename(self) -> None:
        self._window.docks.show("conversations")
        self._window.conversations.rename(self._tabs.current_id())

    def _delete(self) -> None:
        self._window.docks.show("conversations")  # where it can be taken back
        self._window.conversations.delete(self._tabs.current_id())

    def _export(self, kind: str) -> None:
        if self._window.list_wiring is not None:
            self._window.list_wiring.export(self._tabs.current_id(), kind)

    def _copy_answer(self) -> None:
        QGuiApplication.clipboard().setText(self._answer_text())
        self._window.say("The last answer is on the clipboard.")

    def _copy_code(self) -> None:
        QGuiApplication.clipboard().setText(last_code_block(self._answer_text()) or "")
        self._window.say("The last code block is on the clipboard.")

    def _answer_text(self) -> str:
        """The last answer of the branch shown in which something was said."""
        turns = reversed(self._conversation().turns)
        last = next((turn for turn in turns if turn.role == "assistant" and turn.text), None)
        return answer_of(last.text, starts_inside=last.starts_in_thought) if last else ""

    def _on_cache_failed(self, conversation_id: str, sentence: str) -> None:
        """The conversation says so until something else is said, unless it is busy or closed."""
        if conversation_id in self._tabs.conversation_ids():
            view = self._tabs.conversation(conversation_id)
            if not view.is_streaming and view.queue_position is None:
                view.set_error(sentence, can_retry=False)
                return
        self._window.say(sentence)

    # --- Why not ------------------------------------------------------------------------

    def _why_no_tab(self, number: int) -> str:
        count = self._tabs.bar.count()
        if number <= count:
            return ""
        return "Only one conversation is open." if count == 1 else f"Only {count} are open."

    def _why_not_kept(self) -> str:
        if self._window.list_wiring is None:
            return "Conversations are not kept here."
        return "" if self._conversation().turns else "Nothing was said in it yet."

    def _why_no_model(self) -> str:
        return "No model is loaded." if self._window.desk.session.applied is None else ""

    def _why_no_cache(self) -> str:
        if not self._conversation().turns:
            return "Nothing was said in it yet."
        return self._why_no_model()

    def _why_not_change(self) -> str:
        if self._window.desk.session.applied is None:
            return "No model is loaded."
        if self._conversation().is_answering:
            return _IS_WRITING
        return "" if self._conversation().turns else "Nothing was said yet."

    def _why_not_again(self) -> str:
        last = self._conversation().last
        if last is None or last.role != "assistant":
            return _NO_ANSWER
        return self._why_not_change()

    def _why_not_continue(self) -> str:
        if not self._conversation().can_continue:
            return "The last answer was not cut short."
        return self._why_not_change()

    def _why_not_stop(self) -> str:
        view = self._view()
        is_busy = view.is_streaming or view.queue_position is not None
        return "" if is_busy else "No answer is being written."

    def _why_no_branch(self) -> str:
        conversation = self._conversation()
        has_some = any(len(conversation.siblings(turn.id)) > 1 for turn in conversation.turns)
        if not has_some:
            return "There is only one branch: regenerate an answer or edit a question for another."
        return _IS_WRITING if conversation.is_answering else ""

    def _why_no_code(self) -> str:
        return "" if last_code_block(self._answer_text()) else "The last answer holds no code."
