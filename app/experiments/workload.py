"""What is asked of an engine in an experiment, as a value: which texts, how long, how often.

Pure: holds no text but a recorded conversation's. ``scripting.scripts_of`` makes scripts of it.
"""

from __future__ import annotations

import math
from enum import StrEnum

import msgspec

from app.experiments.lengths import Fixed, Lengths
from app.experiments.outline import OPENING_TOK, TURN_TOK, Outline, outlines_of
from app.experiments.recording import Recording
from app.experiments.workload_error import WorkloadError

LIMIT_USERS = 10_000
# Of the first prompts on average; the rest is what makes a request another one.
_LIMIT_SHARE = 0.98
_LIMIT_REQUESTS = 100_000
_LIMIT_TURNS = 1_000
_LIMIT_SECONDS = 86_400.0
LIMIT_RATE_REQ_S = 10_000.0
# About 80 MB of English: made into scripts in seconds, and more than a day of prefill on a laptop.
_LIMIT_PROMPTS_TOK = 20_000_000
# A tenth more: passages differ in how many tokens their characters make, the rate is their average.
_MARGIN_PART = 10


class Material(StrEnum):
    """What the prompts are made of."""

    PROSE = "prose"
    CODE = "code"
    RECORDS = "records"
    RETRIEVAL = "retrieval"
    FILE = "file"
    CONVERSATION = "conversation"


class Workload(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A workload.

    Attributes:
        name: One word or a few, also the beginning of its scripts' names.
        material: What the prompts are made of: prose with questions, code to edit, records to
            bring into a structure, documents with a question, the user's own text, or a recorded
            conversation, whose lengths are what they were.
        prompt_tok: Length of a conversation's first prompt without the common prefix.
        answer_tok: Length of an answer.
        later_tok: Length of the prompts after the first; None is as ``prompt_tok``.
        turns: Prompts of a conversation, 1 to 1,000.
        requests: Prompts of a run in total, at least 1.
        prefix_share: Part of the first prompts, on average, that they have in common, 0 to 0.98.
        users: Users at a time, each of whom waits for the answer before going on (closed loop).
        think_s: Mean pause before a prompt, in seconds; each is drawn from an exponential
            distribution and no longer than five times that.
        rate_req_s: Prompts per second that arrive on average, whoever waits (open loop): their
            conversations begin in a Poisson process. None for a closed loop.
        ttft_slo_s: TTFT that a request must keep, in seconds; None for no limit.
        tpot_slo_s: TPOT that it must keep, in seconds; None for no limit.
        seed: The same seed makes the same scripts.
        text_path: The user's text, for ``file`` only.
        recording: What is said again, for ``conversation`` only.
    """

    name: str
    material: Material
    prompt_tok: Lengths = Fixed(256)
    answer_tok: Lengths = Fixed(128)
    later_tok: Lengths | None = None
    turns: int = 1
    requests: int = 8
    prefix_share: float = 0.0
    users: int = 1
    think_s: float = 0.0
    rate_req_s: float | None = None
    ttft_slo_s: float | None = None
    tpot_slo_s: float | None = None
    seed: int = 1
    text_path: str = ""
    recording: Recording | None = None

    @property
    def prefix_tok(self) -> int:
        """Length of the common prefix in tokens."""
        return round(self.prompt_tok.mean_tok * self.prefix_share / (1 - self.prefix_share))

    @property
    def has_limits(self) -> bool:
        """Whether it says what a good request is."""
        return self.ttft_slo_s is not None or self.tpot_slo_s is not None

    @property
    def conversations(self) -> int:
        """How many there are; the last one may be cut short by ``requests``."""
        return math.ceil(self.requests / self.turns)

    def with_users(self, users: int) -> Workload:
        """The same for ``users`` at a time, each with as many conversations as now.

        Args:
            users: At least 1.
        """
        conversations = math.ceil(self.conversations / self.users * users)
        return msgspec.structs.replace(self, users=users, requests=conversations * self.turns)

    def needed_ctx_tok(self) -> int:
        """Context that the longest conversation takes, in tokens, with what templates add.

        Texts are cut by the average length of a token, so there is a margin in it.
        """
        return max(max(self.context_after(outline)) for outline in outlines_of(self))

    def context_after(self, outline: Outline) -> tuple[int, ...]:
        """Context that a conversation takes at the end of each of its turns, in tokens."""
        used_tok = OPENING_TOK + _with_margin(outline.opening_tok)
        after = []
        for turn in outline.turns:
            used_tok += TURN_TOK + _with_margin(turn.prompt_tok) + turn.new_tok
            after.append(used_tok)
        return tuple(after)

    def problems(self) -> tuple[str, ...]:
        """What is wrong with it, a sentence each; empty if it can be used."""
        return tuple(
            sentence
            for sentences in (self._length_problems, self._count_problems, self._pace_problems)
            for sentence in sentences()
        ) or tuple(self._whole_problems())

    def check(self) -> None:
        """Refuse one that cannot be used.

        Raises:
            WorkloadError: With all that is wrong.
        """
        problems = self.problems()
        if problems:
            raise WorkloadError(" ".join(problems))

    # --- Inside -------------------------------------------------------------------------

    def _length_problems(self) -> list[str]:
        lengths = {"prompt_tok": self.prompt_tok, "answer_tok": self.answer_tok}
        if self.later_tok is not None:
            lengths["later_tok"] = self.later_tok
        return [f"{key} {wrong}." for key, value in lengths.items() if (wrong := value.problem())]

    def _count_problems(self) -> list[str]:
        sentences = []
        for key, value, limit in (
            ("turns", self.turns, _LIMIT_TURNS),
            ("requests", self.requests, _LIMIT_REQUESTS),
            ("users", self.users, LIMIT_USERS),
        ):
            if not 1 <= value <= limit:
                sentences.append(f"{key} must be from 1 to {limit:,}; got {value:,}.")
        return sentences

    def _pace_problems(self) -> list[str]:
        sentences = []
        if not 0 <= self.prefix_share <= _LIMIT_SHARE:
            sentences.append(
                f"prefix_share must be from 0 to {_LIMIT_SHARE}; got {self.prefix_share:g}."
            )
        if not 0 <= self.think_s <= _LIMIT_SECONDS:
            sentences.append(f"think_s must be from 0 to 86,400 seconds; got {self.think_s:g}.")
        for key, value, limit, unit in (
            ("rate_req_s", self.rate_req_s, LIMIT_RATE_REQ_S, "requests per second"),
            ("ttft_slo_s", self.ttft_slo_s, _LIMIT_SECONDS, "seconds"),
            ("tpot_slo_s", self.tpot_slo_s, _LIMIT_SECONDS, "seconds"),
        ):
            if value is not None and not 0 < value <= limit:
                sentences.append(
                    f"{key} must be above 0 and at most {limit:,.0f} {unit}; got {value:g}."
                )
        return sentences

    def _whole_problems(self) -> list[str]:
        """What is wrong with values that are right one by one."""
        sentences = [] if self.name.strip() else ["name must not be empty."]
        if (self.material is Material.FILE) != bool(self.text_path):
            sentences.append(
                "text_path names the text of a workload whose material is file, and only of that."
            )
        if self.material is Material.CONVERSATION:
            return sentences + self._recording_problems()
        if self.recording is not None:
            sentences.append("Only a workload whose material is conversation has a recording.")
        if self.rate_req_s is None and self.users > self.conversations:
            sentences.append(
                f"{self.users:,} users need as many conversations, but {self.requests:,} requests "
                f"with {self.turns:,} turns each make {self.conversations:,}. Set requests to "
                f"{self.users * self.turns:,} or more, or lower users."
            )
        return sentences + self._size_problems()

    def _recording_problems(self) -> list[str]:
        if self.recording is None:
            return [
                "The words of the conversation are not kept with this workload. Open the "
                "conversation and replay it from there."
            ]
        turns = len(self.recording.exchanges)
        if not turns or not all(each.question for each in self.recording.exchanges):
            return [f"Nothing was asked in “{self.recording.title}”, so nothing can be replayed."]
        if turns != self.turns or self.users > self.conversations:
            return [
                f"“{self.recording.title}” has {turns:,} turns; a replay by {self.users:,} users "
                f"has turns={turns:,} and requests={turns * self.users:,} or more."
            ]
        return []

    def _size_problems(self) -> list[str]:
        later_tok = self.prompt_tok if self.later_tok is None else self.later_tok
        first_tok = self.prefix_tok + self.prompt_tok.mean_tok
        later = self.requests - self.conversations
        total_tok = self.conversations * first_tok + later * later_tok.mean_tok
        if total_tok <= _LIMIT_PROMPTS_TOK:
            return []
        return [
            f"Its prompts have about {total_tok:,.0f} tokens in total, more than the "
            f"{_LIMIT_PROMPTS_TOK:,} of the largest run. Lower requests, prompt_tok or "
            "prefix_share."
        ]


def _with_margin(tok: int) -> int:
    return tok + math.ceil(tok / _MARGIN_PART)
