"""Where Ollama puts a model: layers, boards and what stays free on them."""

from __future__ import annotations

from app.export.boards_named import Boards, boards_named
from app.export.ollama_sheet import ENGINE, OllamaSheet
from app.export.resolved import gpu_layers

_VISIBLE = {
    "CUDA": "CUDA_VISIBLE_DEVICES",
    "ROCm": "HIP_VISIBLE_DEVICES",
    "Vulkan": "GGML_VK_VISIBLE_DEVICES",
}


def say_boards(sheet: OllamaSheet) -> None:
    """Writes where the layers lie."""
    config, boards = sheet.config, boards_named(sheet.config)
    layers = gpu_layers(sheet.situation)
    if layers is None:
        sheet.say("n_gpu_layers", "as many as fit, unless told")
    else:
        sheet.parameter("n_gpu_layers", "num_gpu", layers)
    if sheet.is_moved("fit_margin_mib"):
        sheet.variable("fit_margin_mib", "LLAMA_ARG_FIT_TARGET", config.fit_margin_mib)
    else:
        sheet.say("fit_margin_mib", "the same margin unless told")
    if not sheet.config.devices:
        sheet.say("devices", "all of them, unless told")
    elif boards.is_none:
        sheet.bridge("devices", "PARAMETER num_gpu 0: no layer on a board.")
    else:
        _choose(sheet, boards)
    _split(sheet, boards)


def _choose(sheet: OllamaSheet, boards: Boards) -> None:
    named = boards_named(sheet.config.with_values({"split_mode": "layer"}))
    name = _VISIBLE.get(named.backend)
    if name is None:
        sheet.leave(
            "devices", f"{ENGINE} chooses boards of CUDA, ROCm and Vulkan, each by their numbers."
        )
        return
    numbers = ",".join(map(str, named.numbers))
    how = f"{name}: the numbers of the boards that the server may see."
    sheet.bridging_variable("devices", how, name, numbers)


def _split(sheet: OllamaSheet, boards: Boards) -> None:
    mode = sheet.config.split_mode
    if mode == "none":
        sheet.bridge("split_mode", "PARAMETER main_gpu: where it is said, one board takes all.")
        sheet.parameter("main_gpu", "main_gpu", sheet.config.main_gpu)
        return
    sheet.leave("main_gpu", "PARAMETER main_gpu would put the whole model onto that board.")
    shares = f"{ENGINE} gives boards shares by what is free on them."
    sheet.leave("tensor_split", shares)
    if mode != "layer":
        sheet.leave("split_mode", f"{ENGINE} splits a model by layers.")
    elif boards.count is not None and boards.count > 1:
        how = "OLLAMA_SCHED_SPREAD: every board gets layers, also where fewer would do."
        sheet.bridging_variable("split_mode", how, "OLLAMA_SCHED_SPREAD", 1)
        if sheet.config.tensor_split and not sheet.config.devices:
            sheet.bridge("tensor_split", f"OLLAMA_SCHED_SPREAD: every board. {shares}")
    else:
        sheet.say("split_mode", "by layers, over as many boards as it needs")
