"""Renders one block of untrusted Markdown into a document of its own.

Nothing in the result names a resource: Qt opens the file an image names by itself while it lays
text out, so images become text before any layout exists. HTML stays text. Only links to http and
https remain links.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFragment,
    QTextFrameFormat,
    QTextLength,
    QTextTable,
)

from resources.chat_tokens import HEADING_SCALES, LIST_INDENT_PX
from resources.tokens import MONO_FAMILIES, PANEL_PADDING_PX, STEP_PX, Palette
from widgets.markdown_bidi import LRI, PDI, has_rtl, path_spans, with_marks_shown
from widgets.markdown_names import with_names_kept

_FEATURES = (
    QTextDocument.MarkdownFeature.MarkdownDialectGitHub
    | QTextDocument.MarkdownFeature.MarkdownNoHTML
)
_Property = QTextFormat.Property


def rendered(markdown: str, palette: Palette, body_pt: float) -> QTextDocument:
    """A document without layout that shows ``markdown``.

    Args:
        markdown: Untrusted text, at most some thousand characters.
        palette: Colours.
        body_pt: Size of the body text in points.
    """
    document = QTextDocument()
    document.setUndoRedoEnabled(False)
    document.setMarkdown(with_marks_shown(with_names_kept(markdown)), _FEATURES)
    _disarm(document)
    _isolate_paths(document)
    restyle(document, palette, body_pt)
    return document


def is_web_address(address: str) -> bool:
    """Whether ``address`` is http or https and names a host."""
    url = QUrl(address, QUrl.ParsingMode.StrictMode)
    return url.isValid() and url.scheme() in {"http", "https"} and bool(url.host())


def restyle(document: QTextDocument, palette: Palette, body_pt: float) -> None:
    """Give everything in ``document`` the colours and sizes of its kind; may be repeated."""
    document.setIndentWidth(LIST_INDENT_PX)
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    tables = [f for f in document.rootFrame().childFrames() if isinstance(f, QTextTable)]
    spans = [(table.firstPosition(), table.lastPosition()) for table in tables]
    for block in _blocks(document):
        position = block.position()
        is_in_table = any(first <= position <= last for first, last in spans)
        block_format = _block_format(block, is_in_table, palette)
        if block_format is not None:
            cursor.setPosition(position)
            cursor.setBlockFormat(block_format)
        for start, end, char_format in _char_formats(block, palette, body_pt):
            cursor.setPosition(start)
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            cursor.setCharFormat(char_format)
    for table in tables:
        _style_table(table, palette)
    cursor.endEditBlock()


def gap_format() -> QTextBlockFormat:
    """The format of the empty block that Qt needs on both sides of a table: hardly there."""
    result = QTextBlockFormat()
    result.setLineHeight(STEP_PX, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
    return result


# --- What is untrusted ---------------------------------------------------------------------------


def _disarm(document: QTextDocument) -> None:
    """Make images text and links to anything but the web plain; from the end to the front."""
    spans = [
        (fragment.position(), fragment.length(), fragment.charFormat())
        for block in _blocks(document)
        for fragment in _fragments(block)
        if fragment.charFormat().isImageFormat() or fragment.charFormat().isAnchor()
    ]
    cursor = QTextCursor(document)
    for position, length, char_format in reversed(spans):
        cursor.setPosition(position)
        cursor.setPosition(position + length, QTextCursor.MoveMode.KeepAnchor)
        if char_format.isImageFormat():
            # Several images in a row with the same format are one fragment.
            cursor.insertText(*_image_as_text(char_format))
        elif not is_web_address(char_format.anchorHref()):
            cursor.setCharFormat(_without_anchor(char_format))


def _image_as_text(char_format: QTextCharFormat) -> tuple[str, QTextCharFormat]:
    address = with_marks_shown(char_format.toImageFormat().name())
    alt = with_marks_shown(str(char_format.property(_Property.ImageAltText) or ""))
    plain = QTextCharFormat()
    if is_web_address(address):
        plain.setAnchor(True)
        plain.setAnchorHref(address)
    return f"[picture: {alt} {address}]" if alt else f"[picture: {address}]", plain


def _without_anchor(char_format: QTextCharFormat) -> QTextCharFormat:
    plain = QTextCharFormat(char_format)
    for name in (
        _Property.IsAnchor,
        _Property.AnchorHref,
        _Property.AnchorName,
        _Property.ForegroundBrush,
        _Property.TextUnderlineStyle,
        _Property.FontUnderline,
        _Property.TextToolTip,
    ):
        plain.clearProperty(name)
    return plain


def _isolate_paths(document: QTextDocument) -> None:
    """Keep paths and inline code in right-to-left paragraphs in their own order."""
    cursor = QTextCursor(document)
    for block in _blocks(document):
        text = block.text()
        if not has_rtl(text):
            continue
        offset = _utf16_offsets(text)
        spans = {
            (block.position() + offset(a), block.position() + offset(b))
            for a, b in path_spans(text)
        }
        code = [
            (f.position(), f.position() + f.length())
            for f in _fragments(block)
            if f.charFormat().fontFixedPitch()
        ]
        spans = {s for s in spans if not any(a <= s[0] < b for a, b in code)} | set(code)
        for start, end in sorted(spans, reverse=True):
            cursor.setPosition(end)
            cursor.insertText(PDI)
            cursor.setPosition(start)
            cursor.insertText(LRI)


def _utf16_offsets(text: str) -> Callable[[int], int]:
    """From an index in Python's text to one in Qt's, which counts UTF-16 units."""
    if text.isascii() or max(text) <= "\uffff":
        return lambda index: index
    return lambda index: len(text[:index].encode("utf-16-le")) // 2


# --- Looks ---------------------------------------------------------------------------------------


def _block_format(
    block: QTextBlock, is_in_table: bool, palette: Palette
) -> QTextBlockFormat | None:
    """The format that ``block`` should have; None where it has it."""
    result = block.blockFormat()
    if is_in_table:
        if result.topMargin() == 0 == result.bottomMargin():
            return None
        result.setTopMargin(0)
        result.setBottomMargin(0)
        return result
    if _is_ruler(result):
        result.setProperty(
            _Property.BackgroundBrush, QBrush(QColor(palette.line), Qt.BrushStyle.NoBrush)
        )
        return result
    if not block.text() and block.textList() is None:
        return gap_format()
    _set_margins(result, block)
    quote_level = result.intProperty(_Property.BlockQuoteLevel)
    if quote_level:
        result.setLeftMargin(quote_level * PANEL_PADDING_PX)
    if _is_code(result):
        result.setBackground(QColor(palette.raised))
        result.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    return result


def _set_margins(result: QTextBlockFormat, block: QTextBlock) -> None:
    if result.headingLevel():
        result.setTopMargin(2 * STEP_PX)
        result.setBottomMargin(STEP_PX)
    elif block.textList() is not None:
        result.setTopMargin(0)
        result.setBottomMargin(STEP_PX / 2)
    elif _is_code(result):
        result.setTopMargin(0)
        result.setBottomMargin(0)
    else:
        result.setTopMargin(STEP_PX)
        result.setBottomMargin(STEP_PX)


def _is_ruler(block_format: QTextBlockFormat) -> bool:
    return block_format.hasProperty(_Property.BlockTrailingHorizontalRulerWidth)


def _is_code(block_format: QTextBlockFormat) -> bool:
    return block_format.hasProperty(_Property.BlockCodeFence) or block_format.hasProperty(
        _Property.BlockCodeLanguage
    )


def _char_formats(
    block: QTextBlock, palette: Palette, body_pt: float
) -> list[tuple[int, int, QTextCharFormat]]:
    """Start, end and new format of every fragment of ``block`` that wants another look."""
    level = block.blockFormat().headingLevel()
    is_quote = block.blockFormat().intProperty(_Property.BlockQuoteLevel) > 0
    result = []
    for fragment in _fragments(block):
        char_format = fragment.charFormat()
        is_mono = char_format.fontFixedPitch() or bool(char_format.fontFamilies())
        if not (level or is_quote or is_mono or char_format.isAnchor()):
            continue
        if level:
            char_format.clearProperty(_Property.FontSizeAdjustment)
            char_format.setFontPointSize(body_pt * HEADING_SCALES[level - 1])
            char_format.setFontWeight(QFont.Weight.DemiBold)
        if is_quote:
            char_format.setForeground(QColor(palette.muted))
        if is_mono:
            char_format.setFontFamilies(list(MONO_FAMILIES))
            char_format.setFontFixedPitch(True)
            char_format.setBackground(QColor(palette.raised))
        if char_format.isAnchor():
            char_format.setForeground(QColor(palette.accent))
            char_format.setFontUnderline(True)
            # Always rich text and always escaped: Qt would guess, and a link's title is untrusted.
            char_format.setToolTip(f"<p>{html.escape(char_format.anchorHref())}</p>")
        result.append((fragment.position(), fragment.position() + fragment.length(), char_format))
    return result


def _style_table(table: QTextTable, palette: Palette) -> None:
    table_format = table.format().toTableFormat()
    table_format.setBorder(1)
    table_format.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
    table_format.setBorderBrush(QColor(palette.line))
    table_format.setBorderCollapse(True)
    table_format.setCellPadding(STEP_PX)
    table_format.setCellSpacing(0)
    table_format.setMargin(0)
    table_format.setTopMargin(STEP_PX)
    table_format.setBottomMargin(STEP_PX)
    table_format.setWidth(QTextLength())
    table.setFormat(table_format)
    for column in range(table.columns()):
        cell = table.cellAt(0, column)
        cell_format = cell.format()
        cell_format.setBackground(QColor(palette.raised))
        cell.setFormat(cell_format)
        cursor = cell.firstCursorPosition()
        cursor.setPosition(cell.lastPosition(), QTextCursor.MoveMode.KeepAnchor)
        bold = QTextCharFormat()
        bold.setFontWeight(QFont.Weight.DemiBold)
        cursor.mergeCharFormat(bold)


def _blocks(document: QTextDocument) -> Iterator[QTextBlock]:
    block = document.begin()
    while block.isValid():
        yield block
        block = block.next()


def _fragments(block: QTextBlock) -> Iterator[QTextFragment]:
    iterator = block.begin()
    while not iterator.atEnd():
        yield iterator.fragment()
        iterator += 1
