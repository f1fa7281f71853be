"""An engine client that only writes down what it is told."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from engine_bridge.memory_plan import BytesByUse, EffectiveConfig, MemoryPlan
from engine_bridge.model_facts import ModelFacts
from engine_bridge.protocol import Applied, Command
from engine_bridge.settings.config import EngineConfig

EMPTY_PLAN = MemoryPlan(BytesByUse(), (), None, fits=True, problems=(), seconds=0.0)


class FakeClient(QObject):
    """Records commands; tests emit the events."""

    event_received = Signal(object)
    engine_died = Signal(object)
    state_changed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[Command] = []
        self.planned: list[EngineConfig] = []
        self.is_alive = True

    def send(self, command: Command) -> bool:
        """Write the command down; refuse when dead."""
        if self.is_alive:
            self.sent.append(command)
        return self.is_alive

    @property
    def refusal(self) -> str:
        """Why the last command was not sent."""
        return "" if self.is_alive else "The engine is not running; restart it."

    def plan(self, config: EngineConfig) -> int:
        """Write the candidate down; plan numbers count from 1."""
        self.planned.append(config)
        return len(self.planned)


def model_facts(**changes: object) -> ModelFacts:
    """A small dense model trained for 32,768 tokens."""
    fields: dict[str, object] = {
        "path": "/m.gguf", "name": "Toy", "architecture": "llama", "quantisation": "Q4_K",
        "file_bytes": 10, "tensor_bytes": 9, "parameters": 5, "layers": 4,
        "ctx_train_tok": 32768, "vocab": 100, "heads": 4, "kv_heads": 2,
        "head_dims_k": (64,), "head_dims_v": (64,),
    }  # fmt: skip
    return ModelFacts(**(fields | changes))  # type: ignore[arg-type]


def applied(
    config: EngineConfig, *, request_id: int = 1, cost: str = "reload", seconds: float = 2.9,
    model: ModelFacts | None = None,
) -> Applied:  # fmt: skip
    """An ``Applied`` in which the engine made of ``config`` what it asked for."""
    effective = EffectiveConfig(
        ctx_per_slot_tok=config.slot_cap_tok, slots=config.slots, kv_unified=config.kv_unified,
        ctx_total_tok=config.pool_tok, flash_attn="on", n_gpu_layers=0,
        batch_tok=config.batch_tok, ubatch_tok=config.ubatch_tok, threads=2, threads_batch=2,
        outputs_max=config.outputs_max,
    )  # fmt: skip
    return Applied(request_id, config, effective, cost, seconds, EMPTY_PLAN, model)
