"""The messages between the window and the engine process.

Commands go down, events come up, one JSON object a line. Both unions are closed and refuse unknown
fields: two versions that do not agree notice it at the first message. Times named ``_ns`` are
``time.perf_counter_ns()`` of the process that stamped them.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from engine_bridge.memory_plan import EffectiveConfig, MemoryPlan
from engine_bridge.memory_room import RoomFigures
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import Problem
from engine_bridge.step_work import StepWork

PROTOCOL_VERSION = 2
# Number of an ``Applied`` that answers no command: a model that had to make room is back.
UNASKED = 0


class _Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    """Base of all messages."""


# --- Commands: window to engine -------------------------------------------------------------


class Load(_Message, frozen=True, tag="load"):
    """Load ``config.model_path``; a loaded model is replaced only once the new one stands."""

    request_id: int
    config: EngineConfig


class CancelLoad(_Message, frozen=True, tag="cancel_load"):
    """Give up the load under way."""


class Apply(_Message, frozen=True, tag="apply"):
    """Make the engine run ``config`` by the cheapest step that does it."""

    request_id: int
    config: EngineConfig


class Plan(_Message, frozen=True, tag="plan"):
    """Ask for the memory of ``config``; a newer request replaces an older one not yet begun."""

    plan_id: int
    config: EngineConfig


class AskRoom(_Message, frozen=True, tag="ask_room"):
    """Ask what still fits beside ``config``; a newer request replaces an older one, begun or not.

    The answer is a ``RoomFound``. A ``Plan`` goes first, also before a search that has begun.
    """

    room_id: int
    config: EngineConfig


class ChatMessage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


class Generate(_Message, frozen=True, tag="generate"):
    """Answer a conversation.

    Attributes:
        request_id: Number of the caller, unique in this engine process.
        conversation_id: Requests of one conversation prefer the slot that holds its prefix.
        messages: The whole conversation so far.
        as_completion: Continue the last message's text without a template.
        continue_answer: The last message is an unfinished answer to go on with.
        stop: Texts that end the answer; none is empty.
        ignore_eog: Go on past end-of-generation tokens (benchmarks).
        max_new_tok: Overrides the configuration's limit; None keeps it.
        prompt_tokens: Token ids to use instead of ``messages`` (benchmarks), empty otherwise.
        sent_ns: When the user pressed Enter, by the window's clock.
    """

    request_id: int
    conversation_id: str
    messages: tuple[ChatMessage, ...]
    as_completion: bool = False
    continue_answer: bool = False
    stop: tuple[str, ...] = ()
    ignore_eog: bool = False
    max_new_tok: int | None = None
    prompt_tokens: tuple[int, ...] = ()
    sent_ns: int = 0


class Cancel(_Message, frozen=True, tag="cancel"):
    """Stop a request; its slot keeps what was computed."""

    request_id: int


class Forget(_Message, frozen=True, tag="forget"):
    """A conversation is closed; its slot may be given to anyone."""

    conversation_id: str


class SaveSlot(_Message, frozen=True, tag="save_slot"):
    """Write what the cache holds of a conversation to ``path``; ``SlotSaved`` or ``Refused``."""

    request_id: int
    conversation_id: str
    path: str


class RestoreSlot(_Message, frozen=True, tag="restore_slot"):
    """Fill a free slot from the file ``path``; ``SlotRestored`` or ``Refused``.

    Attributes:
        request_id: Number of the caller.
        conversation_id: Whose slot it is then; whoever says the same text gets it all the same.
        path: A file of ``SaveSlot``.
    """

    request_id: int
    conversation_id: str
    path: str


class Shutdown(_Message, frozen=True, tag="shutdown"):
    """End the process in good order."""


class SetTemplate(_Message, frozen=True, tag="set_template"):
    """Make prompts of the loaded model with another chat template, until another model is loaded.

    Attributes:
        template: Its Jinja source; the empty string goes back to the model's own.
    """

    template: str


class CheckTemplate(_Message, frozen=True, tag="check_template"):
    """Try a chat template on a sample; a newer check replaces one not yet begun.

    Attributes:
        check_id: Number of the caller.
        template: Jinja source; it need not be the one in force.
        messages: The sample.
        add_generation_prompt: Whether to open the assistant's turn.
        enable_thinking: The thinking switch, for templates that have one.
    """

    check_id: int
    template: str
    messages: tuple[ChatMessage, ...]
    add_generation_prompt: bool = True
    enable_thinking: bool = True


Command: TypeAlias = (
    Load
    | CancelLoad
    | Apply
    | Plan
    | AskRoom
    | Generate
    | Cancel
    | Forget
    | SaveSlot
    | RestoreSlot
    | Shutdown
    | SetTemplate
    | CheckTemplate
)


# --- Events: engine to window ---------------------------------------------------------------


class DeviceFacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A device as ggml reports it.

    Attributes:
        name: ggml's name, e.g. ``CUDA0``.
        description: The board's or processor's name.
        kind: ``cpu``, ``gpu``, ``igpu`` or ``accel``.
        backend: ggml backend, e.g. ``CUDA``, ``RPC``.
        free: Free bytes.
        total: Bytes.
    """

    name: str
    description: str
    kind: str
    backend: str
    free: int
    total: int


class Hello(_Message, frozen=True, tag="hello"):
    """First event of an engine process."""

    protocol_version: int
    pid: int
    clock_ns: int
    binding_version: str
    system_info: str
    devices: tuple[DeviceFacts, ...]
    has_rpc: bool


class LoadProgressed(_Message, frozen=True, tag="load_progressed"):
    """How far a load is, 0 to 1."""

    request_id: int
    fraction: float
    stage: str


class Applied(_Message, frozen=True, tag="applied"):
    """A load or a change is done; the engine now runs this.

    Attributes:
        request_id: Of the ``Load`` or ``Apply``; ``UNASKED`` where a model that had to make room is
            back by itself.
        config: As wanted.
        effective: As the engine made it.
        cost: What it took: ``live``, ``new context`` or ``reload``.
        seconds: How long it took.
        memory: What was really allocated (same shape as a plan).
        model: The model, sent with every load; None for a change that keeps it.
    """

    request_id: int
    config: EngineConfig
    effective: EffectiveConfig
    cost: str
    seconds: float
    memory: MemoryPlan
    model: ModelFacts | None = None


class Unloaded(_Message, frozen=True, tag="unloaded"):
    """The engine has no model any more; ``sentence`` says why. ``Applied`` ends this state."""

    sentence: str


class Refused(_Message, frozen=True, tag="refused"):
    """A command was not carried out; the engine goes on with what it had.

    Attributes:
        command: ``load``, ``apply``, ``plan``, ``generate``, ``set_template``, ``save_slot`` or
            ``restore_slot``.
        request_id: The command's number (``plan_id`` for a plan).
        problem: What is wrong, why and what to do.
        is_cancelled: True if the user cancelled it.
    """

    command: str
    request_id: int
    problem: Problem
    is_cancelled: bool = False


class PlanReady(_Message, frozen=True, tag="plan_ready"):
    """The answer to the newest ``Plan``."""

    plan_id: int
    plan: MemoryPlan


class RoomFound(_Message, frozen=True, tag="room_found"):
    """The answer to the newest ``AskRoom``.

    Attributes:
        room_id: Of the command.
        room: What fits; None where it cannot be found.
        problem: Why it cannot; None where it was.
    """

    room_id: int
    room: RoomFigures | None = None
    problem: Problem | None = None


class RequestQueued(_Message, frozen=True, tag="request_queued"):
    """A request waits for a slot; ``position`` 1 is next."""

    request_id: int
    position: int


class RequestStarted(_Message, frozen=True, tag="request_started"):
    """A request has a slot.

    Attributes:
        request_id: The request.
        slot: Index of the slot, from 0.
        prompt_tok: Tokens of the whole prompt.
        reused_tok: Tokens that need not be computed, wherever they were found.
        recompute_reason: A sentence where tokens are computed that had been computed before, or are
            taken from elsewhere than where they stood; else empty.
        started_ns: When, by the engine's clock.
        starts_in_thought: The prompt ends inside a thought that the template opened, or that a
            continued answer had begun.
    """

    request_id: int
    slot: int
    prompt_tok: int
    reused_tok: int
    recompute_reason: str
    started_ns: int
    starts_in_thought: bool = False


class TokensDelivered(_Message, frozen=True, tag="tokens_delivered"):
    """New text of a request, several steps in one event.

    Attributes:
        request_id: The request.
        text: Complete characters only; may be empty.
        step_ns: When each step that delivered tokens ended, by the engine's clock.
        step_tok: Tokens each of those steps delivered (more than 1 with drafts).
        sent_ns: When the event was written.
        think_tok: Tokens of the request so far that were thought; see ``thoughts``.
    """

    request_id: int
    text: str
    step_ns: tuple[int, ...]
    step_tok: tuple[int, ...]
    sent_ns: int
    think_tok: int = 0


class ContextShifted(_Message, frozen=True, tag="context_shifted"):
    """A slot was full: earlier tokens of a request were dropped so that it goes on.

    Attributes:
        request_id: The request.
        conversation_id: Its conversation.
        dropped_tok: Tokens dropped, the oldest behind those kept.
        kept_tok: Tokens kept at the beginning.
        used_tok: Tokens the slot holds now.
    """

    request_id: int
    conversation_id: str
    dropped_tok: int
    kept_tok: int
    used_tok: int


class RequestTiming(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Figures of one request; definitions in ``metrics.definitions``.

    Attributes:
        queue_s: Waiting for a slot, template and tokenising included.
        prefill_s: From having a slot to the first token.
        ttft_s: Their sum; None without a token.
        tpot_s: Mean time per token after the first; None below two tokens.
        itl_p50_s: Median gap between steps that delivered tokens.
        itl_p99_s: 99th percentile of those gaps.
        prompt_tok: Tokens of the prompt.
        reused_tok: Of them not computed.
        new_tok: Tokens generated.
        drafted_tok: Tokens drafted.
        accepted_tok: Of them accepted.
        drafted_at: Drafted tokens by position in the draft.
        accepted_at: Accepted tokens by position in the draft.
        think_tok: Of the new tokens those that were thought, marks included; see ``thoughts``.
        dropped_tok: Earlier tokens that were dropped for it to go on; see ``ContextShifted``.
    """

    queue_s: float
    prefill_s: float
    ttft_s: float | None
    tpot_s: float | None
    itl_p50_s: float | None
    itl_p99_s: float | None
    prompt_tok: int
    reused_tok: int
    new_tok: int
    drafted_tok: int = 0
    accepted_tok: int = 0
    drafted_at: tuple[int, ...] = ()
    accepted_at: tuple[int, ...] = ()
    think_tok: int = 0
    dropped_tok: int = 0


FinishReason: TypeAlias = Literal[
    "end", "stop_text", "token_limit", "context_full", "pool_full", "cancelled", "failed"
]


class RequestFinished(_Message, frozen=True, tag="request_finished"):
    """The last event of a request that had started.

    Attributes:
        request_id: The request.
        reason: Why it ended.
        detail: The stop text that hit, or a sentence where the answer was cut short.
        timing: Its figures.
        used_tok: Tokens the slot now holds.
        recompute_reason: As ``RequestStarted`` said it.
    """

    request_id: int
    reason: FinishReason
    detail: str
    timing: RequestTiming
    used_tok: int
    recompute_reason: str = ""


class SlotFacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """State of one slot.

    Attributes:
        slot: Index, from 0.
        used_tok: Tokens in its cache.
        request_id: The request it works for, None when idle.
        conversation_id: Whose text it holds, or the empty string.
        common_tok: The part of ``used_tok`` whose cells a slot before this one holds as well.
    """

    slot: int
    used_tok: int
    request_id: int | None
    conversation_id: str
    common_tok: int = 0


class StepsMeasured(_Message, frozen=True, tag="steps_measured"):
    """What the loop did since the last such event, at most ten times a second.

    Attributes:
        begin_ns: Start of the span, engine's clock.
        end_ns: End of the span.
        busy_s: Time inside ``llama_decode`` in the span.
        steps: Calls of ``llama_decode``.
        decode_steps: Of them those that generated without any prompt token.
        decode_s: Time those took.
        decode_bytes: Bytes those read: active weights + KV at the depth of each stream.
        decoded_tok: Tokens delivered.
        prefilled_tok: Prompt tokens computed.
        prefill_s: Time of the steps that had prompt tokens.
        longest_step_s: Longest step.
        streams: Streams that generated in the last step.
        slots: State of every slot.
        work: What the steps read and computed, by what they were for.
    """

    begin_ns: int
    end_ns: int
    busy_s: float
    steps: int
    decode_steps: int
    decode_s: float
    decode_bytes: int
    decoded_tok: int
    prefilled_tok: int
    prefill_s: float
    longest_step_s: float
    streams: int
    slots: tuple[SlotFacts, ...]
    work: tuple[StepWork, ...] = ()


class StepProgressed(_Message, frozen=True, tag="step_progressed"):
    """A step that takes longer than a second gets on: this is no hang.

    Attributes:
        computed: Operations of its graph that are computed.
    """

    computed: int


class MemoryMeasured(_Message, frozen=True, tag="memory_measured"):
    """Memory of the engine process and its devices, once or twice a second.

    Attributes:
        at_ns: When, engine's clock.
        owned: Private bytes of the process (weights it owns, KV, compute, the rest), without what
            it has borrowed.
        mapped: File-backed resident bytes (mmapped weights).
        devices: Devices with their free bytes now.
        caches: The part of ``owned`` that keeps earlier prompts and checkpoints.
        borrowed: The most that the process has beside all that for about a second, to measure the
            peak bandwidth; 0 while it does not. Devices are told as if it were free.
    """

    at_ns: int
    owned: int
    mapped: int
    devices: tuple[DeviceFacts, ...]
    caches: int = 0
    borrowed: int = 0


class BandwidthMeasured(_Message, frozen=True, tag="bandwidth_measured"):
    """Peak read bandwidth of this machine at ``threads``, in bytes per second.

    Attributes:
        peak_bytes_per_s: The best of all runs so far.
        threads: Threads that read.
        how: What was measured, in words.
        runs: Runs so far.
        spread: (best − worst) / best of the runs that the best one belongs to.
        is_lower_bound: Other programs took the cores meanwhile: the memory can give more.
        is_of_cache: The caches are so large that a part was read from them: the memory may give
            less.
    """

    peak_bytes_per_s: float
    threads: int
    how: str
    runs: int = 1
    spread: float = 0.0
    is_lower_bound: bool = False
    is_of_cache: bool = False


class SlotSaved(_Message, frozen=True, tag="slot_saved"):
    """A conversation's cache is on the disk.

    Attributes:
        request_id: Of the ``SaveSlot``.
        conversation_id: Its conversation.
        path: The file.
        bytes: Size of the file.
        tokens: Tokens it holds.
        seconds: From the command until it was written.
    """

    request_id: int
    conversation_id: str
    path: str
    bytes: int
    tokens: int
    seconds: float


class SlotRestored(_Message, frozen=True, tag="slot_restored"):
    """A slot holds what the file held; fields as in ``SlotSaved``, and the slot's index."""

    request_id: int
    conversation_id: str
    path: str
    bytes: int
    tokens: int
    seconds: float
    slot: int


class Logged(_Message, frozen=True, tag="logged"):
    """A line of the engine's own log."""

    level: Literal["debug", "info", "warning", "error"]
    text: str


class TemplateSet(_Message, frozen=True, tag="template_set"):
    """Prompts are from now on made with the model's own template, or with an edited one."""

    is_edited: bool


class TemplatePiece(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a rendered sample.

    Attributes:
        text: Never empty.
        kind: ``control`` for one control token, ``typed`` for text of a control token that a person
            typed and that stays text, ``text`` for everything else.
    """

    text: str
    kind: Literal["text", "control", "typed"]


class TemplateFinding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one check of a chat template found.

    Attributes:
        check: ``bos``, ``typed``, ``system``, ``two_users`` or ``thinking``; of a file that is only
            looked at also ``turns``, ``generation``, ``ending``, ``twice`` and ``tools``.
        verdict: ``good``, ``note`` (works, but not as one might think) or ``bad``.
        sentence: What was found, and what follows from it.
    """

    check: str
    verdict: Literal["good", "note", "bad"]
    sentence: str


class TemplateChecked(_Message, frozen=True, tag="template_checked"):
    """The answer to a ``CheckTemplate``.

    Attributes:
        check_id: Of the command.
        pieces: The rendered sample in order; empty where there is an error.
        tokens_tok: Tokens of all of it.
        is_cut: Whether ``pieces`` hold only its beginning.
        note: What had to be changed for the template to take the sample; empty if nothing.
        error: Why nothing was rendered, in a sentence; empty if it was.
        line: Line of the template that the error comes from, 0 if unknown.
        findings: What further checks found.
        has_thinking: Whether the template has a thinking switch.
    """

    check_id: int
    pieces: tuple[TemplatePiece, ...] = ()
    tokens_tok: int = 0
    is_cut: bool = False
    note: str = ""
    error: str = ""
    line: int = 0
    findings: tuple[TemplateFinding, ...] = ()
    has_thinking: bool = False


Event: TypeAlias = (
    Hello
    | LoadProgressed
    | Applied
    | Unloaded
    | Refused
    | PlanReady
    | RoomFound
    | RequestQueued
    | RequestStarted
    | TokensDelivered
    | ContextShifted
    | RequestFinished
    | StepsMeasured
    | StepProgressed
    | MemoryMeasured
    | BandwidthMeasured
    | SlotSaved
    | SlotRestored
    | Logged
    | TemplateSet
    | TemplateChecked
)

_encoder = msgspec.json.Encoder()
_command_decoder: msgspec.json.Decoder[Command] = msgspec.json.Decoder(Command)
_event_decoder: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


def encode(message: Command | Event) -> bytes:
    """One line of JSON, newline included."""
    return _encoder.encode(message) + b"\n"


def decode_command(line: bytes) -> Command:
    """Read a command.

    Raises:
        msgspec.DecodeError: If the line is no JSON or no command of this protocol version.
    """
    return _command_decoder.decode(line)


def decode_event(line: bytes) -> Event:
    """Read an event.

    Raises:
        msgspec.DecodeError: If the line is no JSON or no event of this protocol version.
    """
    return _event_decoder.decode(line)
