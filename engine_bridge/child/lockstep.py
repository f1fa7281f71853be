"""Steps in which the same streams take one token each, the likeliest, booked together.

After a step has streamed all weights through the processor, none of our code or data is left in
its caches: what a step touches costs ten times what it costs otherwise. So as long as nothing
happens but the next tokens, a step here touches the batch and little else. Text is sent when it is
due, without the books of streams and slots, which are brought up to date when somebody wants to
read them. Must not know commands or samplers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine_bridge.child.delivery import Delivery
from engine_bridge.child.filling import Filling
from engine_bridge.child.measure import StepMeter
from engine_bridge.child.pace import Pace
from engine_bridge.child.scheduler import Share
from engine_bridge.child.step_guard import StepGuard

# Long enough for the text of several flushes; then everything is looked at again.
_MOST_STEPS = 64
# One for each step, shared by the events of all streams.
_ONES = (1,) * _MOST_STEPS


class Lockstep:
    """A run of such steps; up to date with the books when it begins.

    Attributes:
        shares: One token for each stream, in batch order.
        token_of: After a step that was not booked: the likeliest token of each share.
        end_ns: When the last step ended.
        took_ns: How long it took.

    Args:
        shares: One token for each stream, which has no chain and whose text can be neither a
            thought nor a stop text.
        most_steps: Steps in which no stream can come to its end, at least one.
        filling: Has the batch.
        delivery: Hands tokens out.
        eog: Tokens that end an answer.
    """

    def __init__(
        self,
        shares: Sequence[Share],
        most_steps: int,
        filling: Filling,
        delivery: Delivery,
        eog: frozenset[int],
    ) -> None:
        """Fill the batch for the first step."""
        self.shares = shares
        self.token_of: list[int] = []
        self.end_ns = self.took_ns = 0
        self._most_steps = most_steps
        self._filling = filling
        self._delivery = delivery
        self._eog = eog
        self._biased = _biased(shares)
        self._due_ns = min([share.stream.due_ns for share in shares])
        # Of the steps that are not booked yet; the text of the first of them may have been sent.
        self._ends_ns: list[int] = []
        self._took_ns: list[int] = []
        self._brought: list[list[int]] = []
        self._sent_steps = 0
        filling.fill(shares)

    @property
    def is_due(self) -> bool:
        """Whether it is time to send text."""
        return self.end_ns >= self._due_ns

    @property
    def is_over(self) -> bool:
        """Whether it is time to bring the books up to date and see what is next."""
        return len(self._ends_ns) >= self._most_steps

    @property
    def has_steps(self) -> bool:
        """Whether there are steps that are not booked."""
        return bool(self._ends_ns)

    def run(self, guard: StepGuard, expected_s: float, is_wanted: Callable[[], bool]) -> int:
        """Compute steps until text is due, it is over, a step was not taken, or others want a turn.

        Args:
            guard: Stands around each step.
            expected_s: How long one should take.
            is_wanted: Whether something else is to be done.

        Returns:
            What the last ``llama_decode`` returned. If it is 0 and ``token_of`` is not empty, one
            of these tokens ends its answer and the step is the caller's to book, after ``book``.
        """
        context, batch, count = self._delivery.context, self._filling.batch, len(self.shares)
        # Numbers one by one: numpy's own code would be as cold as everything else.
        token, pos = batch.token.data, batch.pos.data
        while True:
            begin_ns = guard.enter(context, expected_s)
            code = context.decode(batch, count)
            logits = context.logits() if code == 0 else None
            self.end_ns = end_ns = guard.leave()
            self.took_ns = end_ns - begin_ns
            if logits is None:
                return code
            tokens: list[int] = logits[:count].argmax(axis=1).tolist()
            if self._biased is None or not self._biased.isdisjoint(tokens):
                tokens = self._delivery.likeliest(self.shares, logits, count)
            if not self._eog.isdisjoint(tokens):
                self.token_of = tokens
                return code
            for at in range(count):
                token[at] = tokens[at]
                pos[at] += 1
            self._brought.append(tokens)
            self._ends_ns.append(end_ns)
            self._took_ns.append(self.took_ns)
            if end_ns >= self._due_ns or len(self._ends_ns) >= self._most_steps or is_wanted():
                return code

    def send(self) -> None:
        """Send the text of the steps since this was done last."""
        sent, self._sent_steps = self._sent_steps, len(self._ends_ns)
        ends_ns = tuple(self._ends_ns[sent:])
        ones = _ONES[: len(ends_ns)]
        pieces = self._delivery.pieces
        brought = zip(*self._brought[sent:], strict=True)
        for share, tokens in zip(self.shares, brought, strict=True):
            text = b"".join([pieces[token] or b"" for token in tokens])
            self._delivery.send_each(share.stream, text, ends_ns, ones)
        self._due_ns = self.end_ns + self._delivery.pause_ns

    def book(self, meter: StepMeter, pace: Pace) -> None:
        """Bring the books of streams, slots, meter and pace up to date."""
        count, steps = len(self.shares), len(self._brought)
        if not steps:
            return
        meter.decoded_each(self._took_ns, self._filling.shape(self.shares, count), count)
        for took_ns in self._took_ns:
            pace.saw(0, took_ns / 1e9)
        pieces, sent = self._delivery.pieces, self._sent_steps
        brought = zip(*self._brought, strict=True)
        for share, tokens in zip(self.shares, brought, strict=True):
            slot = share.stream.slot
            slot.tokens[slot.known : slot.known + steps] = tokens
            slot.cached += steps
            slot.known += steps
            text = b"".join([pieces[token] or b"" for token in tokens[sent:]])
            share.stream.accept_each(text, self._ends_ns)
        self._most_steps -= steps
        self._brought, self._ends_ns, self._took_ns = [], [], []
        self._sent_steps = 0


def steps_together(shares: Sequence[Share]) -> int:
    """Steps in which streams can take their likeliest tokens and none of them comes to its end.

    The last token of an answer or of a slot is left for a step of its own.

    Args:
        shares: Of the step before; of its streams none may have more to compute than one token.
    """
    most_steps = _MOST_STEPS
    for share in shares:
        stream = share.stream
        if share.tokens != 1 or share.rows != 1:
            return 0  # a state was put back: it computed some of its tokens again
        if stream.chain is not None or not stream.is_plain or not stream.is_generating:
            return 0
        slot = stream.slot
        most_steps = min(most_steps, stream.remaining_tok - 1, slot.cap_tok - slot.known - 1)
    return most_steps


def _biased(shares: Sequence[Share]) -> frozenset[int] | None:
    """The likeliest tokens that a bias may change into others; None for any."""
    found: frozenset[int] = frozenset()
    for share in shares:
        bias = share.stream.bias
        matters = frozenset() if bias is None else bias.matters_for
        if matters is None:
            return None
        found |= matters
    return found
