"""Models in the picker's words: rows and sheets made of what a listing found. Pure text."""

from __future__ import annotations

from app.figures import bytes_text, count_text
from app.library.model_entry import RECENT, FolderToList, ModelEntry
from app.library.model_walk import shown_path
from engine_bridge.draft_kind import PLAIN
from engine_bridge.header_facts import HeaderFacts, KvBytes
from engine_bridge.settings.cache_type import CACHE_TYPES
from widgets.model_rows import KvRow, ModelGroup, ModelRow, ModelSheet

_NS_PER_S = 1e9
# Smaller shares of the file are told together.
_LEAST_SHARE = 0.005
_DASH = "–"


def key_of(location: bytes) -> str:
    """A location as a key of widgets, which hold only text."""
    return location.hex()


def location_of(key: str) -> bytes:
    """The location back from its key."""
    return bytes.fromhex(key)


def groups_of(folders: tuple[FolderToList, ...]) -> tuple[ModelGroup, ...]:
    """The headings of the list, those of recent files first."""
    return (
        ModelGroup(key_of(RECENT), "Recent"),
        *(
            ModelGroup(
                key_of(folder.location), folder.title, shown_path(folder.location), folder.is_own
            )
            for folder in folders
        ),
    )


def row_of(entry: ModelEntry, *, is_recent: bool, is_loaded: bool) -> ModelRow:
    """One line of the list."""
    return ModelRow(
        key=key_of(entry.location),
        group=key_of(RECENT if is_recent else entry.folder),
        name=entry.name,
        about=about(entry),
        size_bytes=entry.size_bytes,
        size_text=bytes_text(entry.size_bytes),
        modified_s=entry.modified_ns / _NS_PER_S,
        is_greyed=bool(entry.problem),
        sentence=entry.problem,
        is_loaded=is_loaded,
    )


def about(entry: ModelEntry) -> str:
    """Size and quantisation, or why the entry is greyed, in a few words."""
    if not entry.is_reachable:
        return "not reachable"
    if entry.is_growing:
        return "not whole yet"
    if entry.problem:
        return "cannot be loaded"
    if entry.facts is None:
        return "reading …"
    parts = [f"{count_text(entry.facts.parameters)} · {entry.facts.quantisation}"]
    if entry.parts > 1:
        parts.append(f"{entry.parts} parts")
    return " · ".join(parts)


def sheet_of(entry: ModelEntry, copies: tuple[bytes, ...] = ()) -> ModelSheet:
    """Everything that is known of a model; ``copies`` are files with the same content."""
    path, facts = shown_path(entry.location), entry.facts
    if facts is None:
        waiting = "" if entry.problem else "Its header is being read …"
        return ModelSheet(entry.name, path, entry.problem or waiting)
    return ModelSheet(
        facts.name,
        path,
        entry.problem,
        (*fact_lines(facts, entry), *_copy_lines(copies)),
        kv_rows_of(facts),
        kv_notes(facts),
    )


def fact_lines(facts: HeaderFacts, entry: ModelEntry) -> tuple[tuple[str, str], ...]:
    """Labels with their values."""
    parts = f" in {entry.parts} parts" if entry.parts > 1 else ""
    lines = [
        ("Architecture", facts.architecture),
        ("Parameters", count_text(facts.parameters)),
        ("Layers", f"{facts.layers:,}"),
        ("Drafts", _drafts(facts)),
        ("Attention", _attention(facts)),
        ("Trained for", f"{facts.ctx_train_tok:,} tokens" if facts.ctx_train_tok else "not said"),
        ("RoPE", facts.rope),
        ("Tokenizer", facts.tokenizer),
        ("Special tokens", " · ".join(f"{word} {text}" for word, text in facts.special)),
        ("Vocabulary", f"{facts.vocab:,} tokens" if facts.vocab else "not said"),
        ("Experts", _experts(facts)),
        ("Quantisation", f"{facts.quantisation}: {mix_text(facts.mix)}"),
        ("Embeddings", facts.embeddings),
        ("Chat template", "yes" if facts.has_chat_template else "none: a base model"),
        ("Licence", facts.licence or "not said in the file"),
        ("File", f"{bytes_text(entry.size_bytes)}{parts}"),
        *(("Odd" if not number else " ", each) for number, each in enumerate(facts.oddities)),
    ]
    return tuple((label, value) for label, value in lines if value)


def _copy_lines(copies: tuple[bytes, ...]) -> tuple[tuple[str, str], ...]:
    """Where the same content lies as well."""
    return tuple(
        ("" if number else "Also at", shown_path(location))
        for number, location in enumerate(copies)
    )


def mix_text(mix: tuple[tuple[str, int], ...]) -> str:
    """Types by their share of the bytes: ``Q4_K 71 % · Q6_K 22 % · F32 7 %``."""
    total = sum(size for _, size in mix) or 1
    told = [(name, size / total) for name, size in mix if size / total >= _LEAST_SHARE]
    texts = [f"{name} {share:.0%}".replace("%", "\u202f%") for name, share in told]
    if len(told) < len(mix):
        texts.append("others under 1\u202f%")
    return " · ".join(texts)


def kv_rows_of(facts: HeaderFacts) -> tuple[KvRow, ...]:
    """What a token takes in the cache, for each type of it; empty where it is not known."""
    if not facts.cache:
        return ()
    f16 = facts.kv_bytes_per_token("f16")
    base = f16.full + f16.windowed if f16 else 0
    return tuple(
        _kv_row(name, facts.kv_bytes_per_token(name), base, bool(facts.windowed_layers))
        for name in CACHE_TYPES
    )


def kv_notes(facts: HeaderFacts) -> str:
    """What the table of cache types does not say."""
    notes = []
    if facts.is_recurrent:
        return (
            "No KV cache: every layer keeps a state of fixed size for each slot, however long "
            "the conversation is."
        )
    if not facts.cache:
        return "The header of this architecture does not tell; what the engine says above counts."
    if facts.windowed_layers:
        notes.append(
            f"{facts.windowed_layers} of {facts.cached_layers} layers look back over "
            f"{facts.window_tok:,} tokens only: their part stops growing there."
        )
    if facts.is_hybrid:
        notes.append(
            f"{facts.layers - facts.cached_layers or 'Some'} of {facts.layers} layers keep a state "
            "of fixed size for each slot instead of, or beside, a cache; it is not in the table."
        )
    if facts.is_mla:
        notes.append("Keys and values are stored compressed together (MLA).")
    if any(facts.kv_bytes_per_token(name) is None for name in CACHE_TYPES):
        dims = " and ".join(str(dim) for dim in facts.head_dims)
        notes.append(f"{_DASH}: heads of {dims} values do not divide into the type's blocks.")
    return " ".join(notes)


def _kv_row(name: str, size: KvBytes | None, base: int, has_windows: bool) -> KvRow:
    if size is None:
        return KvRow(name, _DASH, "", "")
    share = f"{(size.full + size.windowed) / base:.0%}".replace("%", "\u202f%") if base else ""
    windowed = bytes_text(size.windowed) if has_windows else ""
    return KvRow(name, bytes_text(size.full), windowed, share)


def _attention(facts: HeaderFacts) -> str:
    if not facts.kv_heads:
        return "none"
    ratio = facts.gqa_ratio
    shape = f"{facts.heads} query heads, {facts.kv_heads} KV"
    if facts.is_mla:
        return f"{facts.heads} query heads, compressed (MLA)"
    return shape if ratio == 1 else f"{shape} (GQA {ratio:g} : 1)"


def _drafts(facts: HeaderFacts) -> str:
    """What the file is for where it cannot answer by itself, or can guess ahead by itself."""
    if facts.draft_kind != PLAIN:
        return f"{facts.draft_kind}: only for another model"
    if not facts.nextn_layers:
        return ""
    return f"draft-mtp: {facts.nextn_layers} layer{'s'[: facts.nextn_layers != 1]} of its own"


def _experts(facts: HeaderFacts) -> str:
    return f"{facts.experts_used} of {facts.experts} a token" if facts.experts else ""
