"""KoboldCpp's flags about where a model lies: layers, boards, experts, tensors, workers."""

from __future__ import annotations

from app.export.koboldcpp_flags import ENGINE, KoboldSheet
from app.export.resolved import ALL_LAYERS, gpu_layers

_DECIDES = -1


def say_places(sheet: KoboldSheet) -> None:
    """Writes where the layers and tensors lie."""
    config = sheet.config
    layers = gpu_layers(sheet.situation)
    sheet.option("n_gpu_layers", "--gpulayers", _DECIDES if layers is None else layers)
    if sheet.is_moved("fit_margin_mib"):
        sheet.option("fit_margin_mib", "--autofitpadding", config.fit_margin_mib)
    else:
        sheet.say("fit_margin_mib", "the same margin unless told")
    _experts(sheet)
    if config.override_tensor:
        sheet.option("override_tensor", "--overridetensors", ",".join(config.override_tensor))
    else:
        sheet.say("override_tensor", "no --overridetensors")
    _boards(sheet)
    _workers(sheet)


def _experts(sheet: KoboldSheet) -> None:
    config = sheet.config
    if config.cpu_moe:
        sheet.option(("cpu_moe", "n_cpu_moe"), "--moecpu", ALL_LAYERS)
    elif config.n_cpu_moe:
        sheet.option(("cpu_moe", "n_cpu_moe"), "--moecpu", config.n_cpu_moe)
    else:
        sheet.say(("cpu_moe", "n_cpu_moe"), "no --moecpu")
    if config.n_cpu_ffn:
        sheet.option("n_cpu_ffn", "--ffncpu", config.n_cpu_ffn)
    else:
        sheet.say("n_cpu_ffn", "no --ffncpu")


def _boards(sheet: KoboldSheet) -> None:
    config = sheet.config
    if config.split_mode == "none":
        sheet.leave("split_mode", f"{ENGINE} has no such mode: name the one board with --device.")
    elif sheet.is_moved("split_mode"):
        sheet.option("split_mode", "--splitmode", config.split_mode)
    else:
        sheet.say("split_mode", "by layers, unless told")
    if config.tensor_split:
        shares = [float(share) for share in config.tensor_split]
        sheet.kcpps["tensor_split"] = shares
        sheet.words += ["--tensor_split", *config.tensor_split]
    sheet.say("tensor_split", "--tensor_split" if config.tensor_split else "no --tensor_split")
    if sheet.is_moved("main_gpu"):
        sheet.option("main_gpu", "--maingpu", config.main_gpu)
    else:
        sheet.say("main_gpu", "no --maingpu")
    if config.devices == ("none",):
        sheet.bridge("devices", "--gpulayers 0: no layer on a board.")
    elif config.devices:
        sheet.option("devices", "--device", ",".join(config.devices))
    else:
        sheet.say("devices", "no --device")


def _workers(sheet: KoboldSheet) -> None:
    config = sheet.config
    if not config.rpc_servers:
        sheet.say("rpc_servers", "no --rpctargets")
        return
    sheet.put("--rpcmode", "connect")
    sheet.option("rpc_servers", "--rpctargets", ",".join(config.rpc_servers))
