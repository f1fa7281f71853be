"""Continuous batching: streams, their slots, and one ``llama_decode`` a step for all of them.

Knows what a step computes and delivers; must not know commands, loading or the pipe.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine_bridge.child import sentences
from engine_bridge.child.carried import Carried, places
from engine_bridge.child.delivery import Delivery
from engine_bridge.child.drafting import Drafting
from engine_bridge.child.filling import Filling
from engine_bridge.child.llama import Context
from engine_bridge.child.lockstep import Lockstep, steps_together
from engine_bridge.child.measure import StepMeter
from engine_bridge.child.pace import Pace
from engine_bridge.child.pool import Pool
from engine_bridge.child.prompt_reuse import PromptReuse
from engine_bridge.child.sampling import Sampling
from engine_bridge.child.scheduler import Limits, Share, in_slot_order, reads_together, share_out
from engine_bridge.child.slot import Slot, keeps_state, slot_cap_tok
from engine_bridge.child.step_guard import StepGuard
from engine_bridge.child.stream import Prepared, Stream
from engine_bridge.protocol import Event, FinishReason, RequestFinished, RequestStarted, SlotFacts
from engine_bridge.settings.config import EngineConfig

_NO_ROOM, _ABORTED = 1, 2  # what llama_decode returns


class Batcher:
    """Runs streams on a context. All but ``interrupt`` belongs to one thread.

    Args:
        context: Where to compute.
        config: What it was built from; sampling and drafts are taken from it too.
        meter: Counts the steps.
        emit: Takes events.
        clock: Time in nanoseconds.
        draft_context: Context of the draft model, None without one.
    """

    def __init__(
        self,
        context: Context,
        config: EngineConfig,
        meter: StepMeter,
        emit: Callable[[Event], None],
        clock: Callable[[], int],
        *,
        draft_context: Context | None = None,
    ) -> None:
        """Start with empty slots."""
        self.meter = meter
        self.streams: list[Stream] = []
        self._emit = emit
        self._clock = clock
        self._sampling = Sampling(config, context.model)
        self._guard = StepGuard(clock)
        self._drafting = Drafting(self._guard, meter, emit)
        self._delivery = Delivery(context, self._drafting, emit, self._finish)
        self._lockstep: Lockstep | None = None
        self.reuse = PromptReuse()
        self._adopt(context, config, draft_context)

    def _adopt(self, context: Context, config: EngineConfig, draft_context: Context | None) -> None:
        model = context.model
        self.context = context
        self.pace = Pace()
        self._is_async = model.n_gpu_layers > 0
        self._filling = Filling(context)
        self.slots = [Slot(n, slot_cap_tok(context, config), 0) for n in range(context.sequences)]
        self._pool = Pool(context, self.slots, config.kv_unified and not model.is_recurrent)
        self.reuse.adopt(context, config, self.slots, self._pool)
        self._delivery.adopt(context)
        self._drafting.adopt(context, draft_context, config)
        self.set_live(config)

    def set_live(self, config: EngineConfig) -> None:
        """Take what needs no new context: sampling, drafts, the prefill chunk, caps of slots."""
        self.settle()
        context, model = self.context, self.context.model
        self.config = config
        chunk = config.prefill_chunk_tok
        # Before it computes a step of several micro-batches, llama.cpp tries their places; cells of
        # a window that go meanwhile are gone for the first of them (llama_kv_cache::prepare).
        self._limits = Limits(
            context.ubatch_tok if model.window_tok else context.batch_tok,
            context.ubatch_tok,
            context.outputs_max,
            chunk if isinstance(chunk, int) else None,
        )
        self._drafting.set_live(config)
        for stream in self.streams:
            stream.draft_tok = 0  # made by a drafter that may be gone
        self.reuse.set_live(config)
        self._delivery.full_slots.set_live(config)
        for slot in self.slots:
            slot.reshape(slot_cap_tok(context, config), config.drafted_max_tok)
            if slot.is_free and slot.cached > slot.cap_tok:
                self.reuse.outgrown(slot)
        if not self._sampling.is_same_for(config):
            self._sampling.close()
            self._sampling = Sampling(config, model)
            for stream in self.streams:
                self._sampling.equip(stream)

    def forget_computed(self, config: EngineConfig) -> None:
        """The weights act otherwise from now on: what is cached was computed with others."""
        self.settle()
        for slot in self.slots:
            slot.clear(self.context)
        for stream in self.streams:
            stream.pause()
        self.reuse.adopt(self.context, config, self.slots, self._pool)

    def set_draft(self, config: EngineConfig, draft_context: Context | None) -> None:
        """Draft with another draft model, or with none; streams and their caches stay."""
        self.settle()
        self._drafting.adopt(self.context, draft_context, config)
        self.set_live(config)
        for stream in self.streams:
            stream.pause()

    # --- Streams ---------------------------------------------------------------------------

    def start(self, prepared: Prepared) -> bool:
        """Give a request a slot.

        Returns:
            False if no slot is free.
        """
        if any(slot.is_free for slot in self.slots):
            self.settle()  # a beginning may be taken from a slot that runs
        begun = self.reuse.start(
            prepared.prompt, prepared.command.conversation_id, prepared.message_starts
        )
        if begun is None:
            return False
        slot, reused, reason = begun
        started_ns = self._clock()
        stream = Stream(prepared, slot, reused, started_ns)
        stream.recompute_reason = reason
        self._sampling.equip(stream)
        self.streams.append(stream)
        self._note_requests()
        self._emit(
            RequestStarted(
                request_id=stream.request_id,
                slot=slot.index,
                prompt_tok=stream.prompt_tok,
                reused_tok=reused,
                recompute_reason=reason,
                started_ns=started_ns,
                starts_in_thought=prepared.starts_in_thought,
            )
        )
        if self._sampling.problem is not None:
            self.end(stream, "failed", self._sampling.problem.message)
        return True

    def end(self, stream: Stream, reason: FinishReason, detail: str) -> None:
        """End a stream now; its slot keeps what was computed."""
        self.settle()
        stream.finish = (reason, detail)
        self._finish(stream)

    def forget(self, conversation_id: str) -> None:
        """A conversation is closed: nothing of it stays, and anyone may have its slot."""
        self.settle()
        for slot in self.reuse.forget(conversation_id):
            self._drafting.drop(slot.index)

    def find(self, request_id: int) -> Stream | None:
        """The running stream of a request."""
        return next((s for s in self.streams if s.request_id == request_id), None)

    def packed(self) -> Carried:
        """Copies of what the slots hold, for the context that comes next."""
        self.settle()
        return Carried.of(self.context, self.config, self.slots)

    def move_to(
        self,
        context: Context,
        config: EngineConfig,
        draft_context: Context | None = None,
        carried: Carried | None = None,
    ) -> None:
        """Go on with another context: what was not carried there is computed again.

        Samplers do not depend on the context and go on as if nothing had happened.
        """
        self.settle()
        streams, old = list(self.streams), self.slots
        self._adopt(context, config, draft_context)
        seats = places(old, self.slots)
        for stream in streams:
            stream.pause()
            slot = seats.get(stream.slot)
            if slot is None:
                self.end(stream, "failed", sentences.slots_gone(len(self.slots)))
            elif not self._delivery.full_slots.fits(stream, slot.cap_tok):
                self.end(stream, "context_full", sentences.slot_full(slot.cap_tok))
        self.reuse.take_over(old, seats, carried or Carried(), config)
        for stream in self.streams:
            old_slot, stream.slot = stream.slot, seats[stream.slot]
            if stream.slot.index != old_slot.index or stream.dropped_tok:
                self._drafting.drop(stream.slot.index)

    @property
    def has_steps(self) -> bool:
        """Whether there was a step since the last report of the meter."""
        return self.meter.has_steps or (self._lockstep is not None and self._lockstep.has_steps)

    def slot_facts(self) -> tuple[SlotFacts, ...]:
        """State of every slot; steps taken together go on."""
        self._book()
        busy = {stream.slot.index: stream.request_id for stream in self.streams}
        return tuple(slot.facts(busy.get(slot.index)) for slot in self.slots)

    def close(self) -> None:
        """Free the samplers."""
        for stream in self.streams:
            stream.close()
        self.streams.clear()
        self._sampling.close()

    def _note_requests(self) -> None:
        self._guard.requests = frozenset(stream.request_id for stream in self.streams)
        self._delivery.note_streams(len(self.streams))

    def _finish(self, stream: Stream) -> None:
        assert stream.finish is not None
        reason, detail = stream.finish
        now = self._clock()
        delivered = stream.delivered(now)
        if delivered is not None:
            self._emit(delivered)
        stream.slot.release()
        self.reuse.recompute.left(stream.slot, is_shifted=stream.dropped_tok > 0)
        self.streams.remove(stream)
        self._note_requests()
        self._emit(
            RequestFinished(
                request_id=stream.request_id,
                reason=reason,
                detail=detail,
                timing=stream.timing(now),
                used_tok=stream.slot.cached,
                recompute_reason=stream.recompute_reason,
            )
        )
        is_closed = stream.slot.conversation_id != stream.prepared.command.conversation_id
        if is_closed and stream.slot.index < len(self.slots):
            # Closed meanwhile: what the request left behind goes as well.
            stream.slot.drop(self.context)
            self._drafting.drop(stream.slot.index)
        stream.close()

    # --- Steps -----------------------------------------------------------------------------

    def interrupt(self, request_id: int | None) -> None:
        """End the step under way early if it holds that request; see ``StepGuard``."""
        self._guard.interrupt(request_id)

    def step(self, is_wanted: Callable[[], bool] = lambda: True) -> None:
        """Compute a batch and deliver what it brought.

        Args:
            is_wanted: Whether something else is to be done; until then it may be several batches.
        """
        if self._lockstep is not None:
            self._step_together(self._lockstep, is_wanted)
            return
        self._delivery.full_slots.go_on()
        room = self._pool.room_for(self.streams, self._end_for_lack_of_room)
        generating, reading = self._who_is_next(room)
        drafting, limits = self._drafting, self._limits
        if drafting.is_on and not drafting.draft(generating, limits, len(reading)):
            return  # a cancel ended it, or all wait for the model that drafts
        shares = share_out(generating, reading, limits, self.pace, room)
        if not shares:
            return
        if drafting.is_on:
            drafting.prepare(shares)
        self._compute(shares, len(generating))

    def _who_is_next(self, room_tok: int) -> tuple[list[Stream], list[Stream]]:
        """Streams that shall have their next token, and those that still read their prompts."""
        generating = in_slot_order(stream for stream in self.streams if stream.is_generating)
        if len(generating) == len(self.streams):
            return generating, []
        reading = [stream for stream in self.streams if not stream.is_generating]
        self.reuse.checkpoints.take_due(stream.slot for stream in reading)
        now = self._clock()
        if reads_together(generating, reading, self._limits, self.pace, room_tok, now_ns=now):
            return [], reading
        return generating, reading

    def _compute(self, shares: Sequence[Share], generating: int) -> None:
        """Compute ``shares``, of which the first ``generating`` are for next tokens."""
        tokens, rows = self._filling.fill(shares)
        prompt_tok = sum([share.tokens for share in shares[generating:]])
        context = self.context
        begin = self._guard.enter(context, self.pace.expected_s(prompt_tok))
        code = context.decode(self._filling.batch, tokens)
        # Only a step with output rows is waited for: a GPU goes on with the next meanwhile.
        logits = context.logits() if rows and code == 0 else None
        end = self._guard.leave()
        if code:
            self._recover(code, shares)
            return
        is_waited = logits is not None or not self._is_async
        if is_waited:
            self.pace.saw(prompt_tok, (end - begin) / 1e9, others_decoded=generating > 0)
        if self._drafting.watches:
            self._drafting.saw(self._filling.batch, shares)
        shape = self._filling.shape(shares, rows)
        best = [0] * rows
        if logits is not None and self._sampling.is_greedy:
            best = self._delivery.likeliest(shares, logits, rows)
        delivered_tok = self._delivery.hand_out(shares, best, end)
        if prompt_tok:
            self.meter.prefilled((begin, end), shape, prompt_tok, delivered_tok, is_waited)
        else:
            self.meter.decoded(end - begin, shape, delivered_tok)
            self._begin_lockstep(shares)

    def _begin_lockstep(self, shares: Sequence[Share]) -> None:
        """Take the next steps together if nothing can happen in them but the next tokens."""
        if self._drafting.is_on or self._drafting.watches or len(shares) != len(self.streams):
            return
        if (most_steps := steps_together(shares)) > 0:
            room = self._pool.room_for(self.streams, self._end_for_lack_of_room)
            most_steps = min(most_steps, room // len(shares))
        if most_steps > 0 and len(shares) == len(self.streams):
            eog = self.context.model.eog
            self._lockstep = Lockstep(shares, most_steps, self._filling, self._delivery, eog)

    def _step_together(self, lockstep: Lockstep, is_wanted: Callable[[], bool]) -> None:
        if code := lockstep.run(self._guard, self.pace.decode_s, is_wanted):
            self.settle()
            self._recover(code, lockstep.shares)
        elif lockstep.token_of:
            self.settle()
            shape = self._filling.shape(lockstep.shares, len(lockstep.shares))
            rows = self._delivery.hand_out(lockstep.shares, lockstep.token_of, lockstep.end_ns)
            self.meter.decoded(lockstep.took_ns, shape, rows)
        else:
            if lockstep.is_due:
                lockstep.send()
            if lockstep.is_over:
                self._book()

    def _book(self) -> None:
        """Bring the books up to date; steps taken together go on after that."""
        lockstep = self._lockstep
        self.settle()
        if lockstep is not None and lockstep.is_over:
            self._begin_lockstep(lockstep.shares)
        else:
            self._lockstep = lockstep

    def settle(self) -> None:
        """Bring the books up to date; before anything but a step happens."""
        lockstep, self._lockstep = self._lockstep, None
        if lockstep is not None:
            lockstep.book(self.meter, self.pace)

    # --- What can go wrong -------------------------------------------------------------------

    def _end_for_lack_of_room(self) -> None:
        running = len(self.streams)
        self.end(self.streams[-1], "pool_full", sentences.pool_full(self.context.ctx_tok, running))

    def _recover(self, code: int, shares: Sequence[Share]) -> None:
        """Bring the books in line with the cache after a step that did not end well."""
        if code not in (_NO_ROOM, _ABORTED):
            for share in shares:
                share.stream.slot.clear(self.context)
                self.end(share.stream, "failed", sentences.step_failed(code))
            return
        is_torn = code == _ABORTED and keeps_state(self.context.model)
        for share in shares:
            slot, stream = share.stream.slot, share.stream
            kept = slot.cached
            if code == _ABORTED and not is_torn and not stream.is_generating:
                # What was computed of a prompt before the step was ended is right and stays.
                kept = max(kept, min(self.context.seq_pos_max(slot.index), slot.known - 2) + 1)
            if share.draft_tok:
                self._drafting.reject(stream, kept, is_torn=is_torn)
            elif is_torn:  # its place is that of the whole micro-batch, computed or not
                slot.go_back(self.context)
            else:
                slot.forget_beyond(kept, self.context)
        if code == _NO_ROOM and not self._pool.evict_one():
            # Its own count said there was room; the cache could not use it (a crowded window).
            self._end_for_lack_of_room()
