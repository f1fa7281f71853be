"""Where KoboldCpp puts a model: its flags of layers, boards and memory as settings."""

from __future__ import annotations

from app.importing.flag_handlers import Handler, fixed, whole
from app.importing.flag_reader import Said
from app.importing.gathering import Gathering
from app.importing.typed_numbers import decimal
from app.importing.typed_numbers import whole as whole_number

_ALL_EXPERTS = 999
"""What ``--moecpu`` stands for without a number."""
_LOAD_MODES = {
    (False, False): "none",
    (True, False): "mmap",
    (False, True): "mlock",
    (True, True): "mmap+mlock",
}
_MAPPED, _LOCKED, _SCALE = "mapped", "locked", "lora_scale"


def settle(gathering: Gathering) -> None:
    """Put together what several flags say of one setting."""
    other = gathering.other
    if _MAPPED in other or _LOCKED in other:
        mode = _LOAD_MODES[bool(other.pop(_MAPPED, False)), bool(other.pop(_LOCKED, False))]
        gathering.setting("load_mode", mode)
    scale = other.pop(_SCALE, None)
    adapters = gathering.settings.get("lora")
    if scale is not None and not adapters:
        gathering.note(f"--loramult {scale} is for adapters, and none is named.")
    if isinstance(adapters, tuple) and isinstance(scale, float) and scale != 1.0:
        gathering.setting("lora", tuple(f"{adapter}:{scale}" for adapter in adapters))


def _layers(gathering: Gathering, said: Said) -> None:
    text = said.value or "1"  # what it takes without a number
    meant = {"all": "all", "max": "all", "auto": "auto"}.get(text.lower())
    if meant:
        gathering.setting("n_gpu_layers", meant)
        gathering.problem("bad_value", f"{said.written} takes a number, not “{text}”")
    elif whole_number(text) == -1:
        gathering.setting("n_gpu_layers", "auto")
    else:
        gathering.whole("n_gpu_layers", text, said.written)


def _cuda(gathering: Gathering, said: Said) -> None:
    words = [value.lower() for value in said.values]
    if "lowvram" in words:
        gathering.setting("kv_offload", False)
    if "rowsplit" in words:
        gathering.setting("split_mode", "row")
    boards = [word for word in words if whole_number(word) is not None]
    if boards:
        gathering.understood("cuda_devices", boards)
        gathering.note(
            f"KoboldCpp shows the engine only board {', '.join(boards)}; here it is chosen among "
            "the devices."
        )
    multiplies = [word for word in words if word in ("mmq", "nommq")]
    if multiplies:
        gathering.note(f"{', '.join(multiplies)} chooses kernels; llama.cpp chooses them itself.")


def _shares(gathering: Gathering, said: Said) -> None:
    parts = [part for value in said.values for part in value.replace("/", ",").split(",") if part]
    if any(decimal(part) is None for part in parts):
        gathering.open("tensor_split", " ".join(said.values), said.written)
    else:
        gathering.setting("tensor_split", tuple(parts))


def _main_board(gathering: Gathering, said: Said) -> None:
    if whole_number(said.value) != -1:
        gathering.whole("main_gpu", said.value, said.written)


def _experts(gathering: Gathering, said: Said) -> None:
    if not said.value or whole_number(said.value) == _ALL_EXPERTS:
        gathering.setting("cpu_moe", True)
    else:
        gathering.whole("n_cpu_moe", said.value, said.written)


def _dense_layers(gathering: Gathering, said: Said) -> None:
    gathering.whole("n_cpu_ffn", said.value or str(_ALL_EXPERTS), said.written)


def _overrides(key: str) -> Handler:
    """A list in one word, its items separated by commas."""

    def handle(gathering: Gathering, said: Said) -> None:
        items = tuple(item.strip() for item in said.value.split(",") if item.strip())
        if items:
            gathering.setting(key, items)

    return handle


def _metadata(gathering: Gathering, said: Said) -> None:
    """Several are told apart by their signs; else the whole is one, commas and all."""
    text = said.value
    if "," in text and text.count("=") > 1 and text.count(":") == text.count("="):
        _overrides("override_kv")(gathering, said)
    elif text:
        gathering.setting("override_kv", (text,))


def _devices(gathering: Gathering, said: Said) -> None:
    _overrides("devices")(gathering, said)


def _threads_batch(gathering: Gathering, said: Said) -> None:
    if whole_number(said.value) == 0:
        gathering.setting("threads_batch", "auto")
    else:
        gathering.whole("threads_batch", said.value, said.written)


def _mapped(gathering: Gathering, said: Said) -> None:
    gathering.other[_MAPPED] = said.name != "--nommap"


def _locked(gathering: Gathering, said: Said) -> None:
    gathering.other[_LOCKED] = True


def _lora(gathering: Gathering, said: Said) -> None:
    gathering.setting("lora", said.values)


def _lora_scale(gathering: Gathering, said: Said) -> None:
    scale = decimal(said.value)
    if scale is None:
        gathering.open("lora", said.value, said.written)
    else:
        gathering.other[_SCALE] = scale


HANDLERS: dict[str, Handler] = {
    "--gpulayers": _layers,
    "--usecuda": _cuda,
    "--lowvram": fixed("kv_offload", False),
    "--tensor_split": _shares,
    "--maingpu": _main_board,
    "--device": _devices,
    "--moecpu": _experts,
    "--ffncpu": _dense_layers,
    "--overridetensors": _overrides("override_tensor"),
    "--overridekv": _metadata,
    "--rpctargets": _overrides("rpc_servers"),
    "--threads": whole("threads"),
    "--blasthreads": _threads_batch,
    "--usemmap": _mapped,
    "--nommap": _mapped,
    "--usemlock": _locked,
    "--usedirectio": fixed("load_mode", "dio"),
    "--lora": _lora,
    "--loramult": _lora_scale,
}
