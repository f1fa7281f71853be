"""How boards share a model in engines that count them: by layers, or by cuts of every weight.

Must not know any engine's words.
"""

from __future__ import annotations

from app.export.boards_named import boards_named
from app.export.sheet import Sheet


def say_shares(sheet: Sheet, engine: str, by_layers: str, by_cuts: str) -> None:
    """Writes how many boards share the model, and in which way.

    Args:
        sheet: What is written.
        engine: What the engine is called.
        by_layers: Its flag for boards that have some layers each.
        by_cuts: Its flag for boards that have a cut of every weight each.
    """
    config, count = sheet.config, boards_named(sheet.config).count
    if config.n_gpu_layers == "all":
        sheet.say("n_gpu_layers", "every layer, always")
    if config.split_mode == "none" or count == 1:
        sheet.say("split_mode", "one board unless told")
        return
    flag = by_layers if config.split_mode == "layer" else by_cuts
    about = "some layers" if config.split_mode == "layer" else "a cut of every weight"
    if count is None:
        sheet.leave(
            "split_mode",
            f"How many boards there are is not said here, and {engine} takes one unless told: "
            f"{flag} N gives each of N {about}.",
        )
        return
    sheet.bridging_flag("split_mode", f"{flag}: {count} boards, each with {about}.", flag, count)
    if config.tensor_split and not config.devices:
        how = f"{flag}: as many boards as have a share; {engine} gives each the same."
        sheet.bridge("tensor_split", how)
    elif config.tensor_split:
        sheet.leave("tensor_split", f"{engine} gives each of its boards the same share.")
