"""The rows of the settings table about what stands beside the model: files, metadata, flags."""

from __future__ import annotations

from engine_bridge.settings.domain import PathDomain
from engine_bridge.settings.extra_flag import checked_flag
from engine_bridge.settings.items_domain import ItemsDomain
from engine_bridge.settings.placement_items import checked_kv, checked_lora
from engine_bridge.settings.row import Applies, Group, Setting

EXTRAS: tuple[Setting, ...] = (
    Setting(
        "mmproj_path",
        "Multimodal projector",
        PathDomain(),
        "",
        Applies.LIVE,
        False,
        Group.MODEL,
        "The file with which llama-server sees images. TuneDeck carries it into the command line "
        "and does not use it: its own engine reads text.",
    ),
    Setting(
        "lora",
        "LoRA adapters",
        ItemsDomain(
            "a GGUF file, with :SCALE behind it where that is not 1",
            checked_lora,
            ("/models/style.gguf", "/models/style.gguf:0.5", "/models/other, one.gguf:-1"),
        ),
        (),
        Applies.CONTEXT,
        True,
        Group.EXTRAS,
        "Files that bend the model, each with its strength. Written with the whole path, as "
        "in /models/style.gguf:0.5. Another strength applies at once, another file takes a new "
        "context.",
    ),
    Setting(
        "override_kv",
        "Metadata overrides",
        ItemsDomain(
            "KEY=TYPE:VALUE with one of the types int, float, bool and str",
            checked_kv,
            (
                "tokenizer.ggml.add_bos_token=bool:false",
                "llama.rope.freq_base=float:500000.0",
                "llama.expert_used_count=int:2",
                'general.name=str:"a", b',
            ),
        ),
        (),
        Applies.RELOAD,
        True,
        Group.EXTRAS,
        "Takes the file's metadata for something else. For files that were "
        "written wrong: tokenizer.ggml.add_bos_token=bool:false.",
    ),
    Setting(
        "extra_flags",
        "Other flags",
        ItemsDomain(
            "a flag of llama-server with its value, quoted as for a shell",
            checked_flag,
            (
                "--alias reviewer",
                "--jinja",
                "--reasoning-budget -1",
                "--chat-template-kwargs '{\"preserve_thinking\": true}'",
            ),
            repeats=True,
        ),
        (),
        Applies.LIVE,
        False,
        Group.EXTRAS,
        "What TuneDeck has no setting for, as in --alias coder. It goes into command lines of "
        "llama.cpp as it is; TuneDeck's own engine does not look at it.",
    ),
)
