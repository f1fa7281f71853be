"""A workload made into scripts.

The same workload makes the same scripts on every machine, but for how long a token is. Only the
texts are read from the disk.
"""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from random import Random

from app.experiments.materials import STYLES
from app.experiments.outline import Outline, outlines_of
from app.experiments.passages import Passages, cut
from app.experiments.replay import replayed
from app.experiments.script import Script, Turn
from app.experiments.texts import bundled, bundled_lines, user_text
from app.experiments.workload import Material, Workload
from app.experiments.workload_error import WorkloadError

# A passage shorter than this says nothing that could be asked about.
_SHORTEST_CHARS = 24
# About 250 tokens of English, as retrieval cuts its documents.
_DOCUMENT_CHARS = 1000
# About 1,000 tokens, from all over the text: of code, one place may have a quarter more tokens to
# its characters than another.
_SAMPLES = 8
_SAMPLE_CHARS = 500


def scripts_of(workload: Workload, tok_per_char: float) -> tuple[Script, ...]:
    """What the simulated users say, in the order in which they begin.

    What conversations have in common is ``Script.system``, the same bytes in all; behind it each
    begins with a number of its own, so a cache finds only what it was meant to find.

    Args:
        workload: What is asked for.
        tok_per_char: Tokens per character of ``sample_text``, above 0; texts are cut by it.

    Raises:
        WorkloadError: If it cannot be used, or its text cannot be read or is too short.
    """
    workload.check()
    if not 0 < tok_per_char < float("inf"):
        raise ValueError(f"A character makes more than 0 tokens; got {tok_per_char}")
    if workload.recording is not None:
        return replayed(workload, workload.recording)
    writer = _Writer(workload, tok_per_char)
    system = writer.opening()
    return tuple(
        Script(
            name=f"{workload.name}-{number:03d}",
            turns=writer.turns(outline),
            system=system,
            start_s=outline.start_s,
        )
        for number, outline in enumerate(outlines_of(workload), start=1)
    )


def sample_text(workload: Workload) -> str:
    """Some of a workload's text, to find out how many tokens its characters make.

    Raises:
        WorkloadError: As of ``scripts_of``.
    """
    workload.check()
    if workload.recording is not None:
        said = (
            part for each in workload.recording.exchanges for part in (each.question, each.answer)
        )
        return _sampled("\n".join(said))
    return _sampled(_text(workload))


class _Writer:
    """Writes the prompts of one workload, one after the other."""

    def __init__(self, workload: Workload, tok_per_char: float) -> None:
        self._workload = workload
        self._tok_per_char = tok_per_char
        self._style = style = STYLES[workload.material]
        text = _text(workload)
        if workload.material is Material.FILE:
            self._must_hold_longest(text)
        self._passages = Passages(
            style.units(text),
            Random(f"{workload.seed}/passages"),
            ends_at_lines=style.ends_at_lines,
            reworded=style.reworded,
        )
        asks = list(bundled_lines(style.asks)) if style.asks else [""]
        Random(f"{workload.seed}/asks").shuffle(asks)
        self._asks = cycle(asks)
        self._begun = 0
        self._documents = 0
        # What a coding agent was shown in this conversation.
        self._shown = ""

    def opening(self) -> str:
        """The common prefix; empty for none."""
        if not self._workload.prefix_tok:
            return ""
        chars = self._chars(self._workload.prefix_tok)
        system = bundled(self._style.system).strip() if self._style.system else ""
        if not system:
            return self._fenced(chars)
        rest = chars - len(system) - 2
        if rest < _SHORTEST_CHARS:
            return cut(system, chars)
        return f"{system}\n\n{self._fenced(rest)}"

    def turns(self, outline: Outline) -> tuple[Turn, ...]:
        """A conversation."""
        self._shown = ""
        turns: list[Turn] = []
        for turn in outline.turns:
            start = "" if turns else self._number()
            text = self._prompt(start, self._chars(turn.prompt_tok))
            turns.append(Turn(text, turn.new_tok, turn.think_s))
        return tuple(turns)

    # --- Inside -------------------------------------------------------------------------

    def _chars(self, tok: int) -> int:
        return max(1, round(tok / self._tok_per_char))

    def _number(self) -> str:
        self._begun += 1
        return f"{self._begun}. "

    def _prompt(self, start: str, chars: int) -> str:
        ask = next(self._asks)
        room = max(1, chars - len(start))
        room_beside_ask = room - len(ask) - 2
        if not ask or room_beside_ask < _SHORTEST_CHARS:
            return start + self._body(room)
        return f"{start}{self._body(room_beside_ask)}\n\n{ask}"

    def _body(self, chars: int) -> str:
        if self._workload.material is Material.RETRIEVAL:
            return self._found_documents(chars)
        return self._fenced(chars)

    def _fenced(self, chars: int) -> str:
        """A passage with what stands around it, if there is room for both."""
        room = chars - len(self._style.fence.format(""))
        if room < _SHORTEST_CHARS:
            return self._passages.take(chars)
        if self._workload.material is not Material.CODE:
            return self._style.fence.format(self._passages.take(room))
        return self._style.fence.format(self._code(room))

    def _code(self, chars: int) -> str:
        """New code at first, later the code that was shown: an agent edits the same file again."""
        if not self._shown:
            self._shown = self._passages.take(chars)
            return self._shown
        if chars <= len(self._shown):
            return cut(self._shown, chars, ends_at_lines=True)
        more = self._passages.take(max(1, chars - len(self._shown) - 2))
        self._shown = f"{self._shown}\n\n{more}"
        return self._shown

    def _found_documents(self, chars: int) -> str:
        """Documents with their numbers, as a search would hand them over."""
        documents = []
        while chars > 0:
            self._documents += 1
            number = f"({self._documents}) "
            room = min(chars, _DOCUMENT_CHARS) - len(number)
            if chars < _DOCUMENT_CHARS + _SHORTEST_CHARS * 4:
                # No crumb of a document at the end.
                room = chars - len(number)
            documents.append(number + self._passages.take(max(1, room)))
            chars -= len(number) + max(1, room) + 2
        return "\n\n".join(documents)

    def _must_hold_longest(self, text: str) -> None:
        """A text shorter than one prompt would repeat itself in it, and drafts would shine."""
        longest_tok = max(
            turn.prompt_tok for outline in outlines_of(self._workload) for turn in outline.turns
        )
        longest_tok = max(longest_tok, self._workload.prefix_tok)
        if len(text) < self._chars(longest_tok):
            name = Path(self._workload.text_path).name
            raise WorkloadError(
                f"{name} has about {len(text) * self._tok_per_char:,.0f} tokens, and the longest "
                f"prompt of this workload has {longest_tok:,}. Use a longer text, or lower "
                "prompt_tok, later_tok or prefix_share."
            )


def _sampled(text: str) -> str:
    """Pieces from equal distances, or all of it."""
    if len(text) <= _SAMPLES * _SAMPLE_CHARS:
        return text
    starts = [len(text) * number // _SAMPLES for number in range(_SAMPLES)]
    return "\n".join(text[start : start + _SAMPLE_CHARS].strip() for start in starts)


def _text(workload: Workload) -> str:
    if workload.material is Material.FILE:
        return user_text(Path(workload.text_path))
    return bundled(STYLES[workload.material].text)
