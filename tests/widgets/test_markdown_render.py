"""Untrusted Markdown in a document: no HTML, no resource, no link but to the web."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QTextDocument, QTextFragment
from PySide6.QtWidgets import QApplication

from resources.tokens import DARK, LIGHT
from widgets.markdown_bidi import path_spans, safe_cut, with_marks_shown, without_isolates
from widgets.markdown_render import is_web_address, rendered, restyle

pytestmark = pytest.mark.gui
BODY_PT = 9.0


def fragments(document: QTextDocument) -> list[QTextFragment]:
    found = []
    block = document.begin()
    while block.isValid():
        iterator = block.begin()
        while not iterator.atEnd():
            found.append(iterator.fragment())
            iterator += 1
        block = block.next()
    return found


def links(document: QTextDocument) -> dict[str, str]:
    """Address by text of everything that is a link."""
    return {
        fragment.text(): fragment.charFormat().anchorHref()
        for fragment in fragments(document)
        if fragment.charFormat().isAnchor()
    }


@pytest.mark.parametrize(
    "address",
    [
        "http://tracker.example/p.png?q=secret",
        "file:///etc/hostname",
        "//host/share/x.png",
        "data:image/png;base64,iVBORw0KGgo=",
        "/etc/hostname",
        ":/qt-project.org/styles/commonstyle/images/file-16.png",
    ],
)
def test_that_an_image_becomes_its_words(qapp: QApplication, address: str) -> None:
    document = rendered(f"see ![the chart]({address}) here", DARK, BODY_PT)
    assert not any(fragment.charFormat().isImageFormat() for fragment in fragments(document))
    assert document.toPlainText() == f"see [picture: the chart {address}] here"


def test_that_html_stays_text(qapp: QApplication) -> None:
    text = 'a <img src="http://x.example/y.png"> <b>b</b> <script>c</script>'
    assert rendered(text, DARK, BODY_PT).toPlainText() == text


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "ftp://x.example/",
        "//host/share",
        "x.md",
        "mailto:a@b.example",
        "http:",
        "data:text/html,x",
    ],
)
def test_that_a_link_to_anything_but_the_web_is_plain_text(
    qapp: QApplication, address: str
) -> None:
    document = rendered(f"go [there]({address}) now", DARK, BODY_PT)
    assert links(document) == {}
    assert document.toPlainText() == "go there now"
    assert not is_web_address(address)


def test_that_a_link_to_the_web_is_kept_and_its_title_is_not(qapp: QApplication) -> None:
    document = rendered(
        "[x](https://a.example/?q=1 \"<img src='file:///etc/hostname'>\")", DARK, BODY_PT
    )
    assert links(document) == {"x": "https://a.example/?q=1"}
    # A tooltip is rich text to Qt where it looks like it, and would load what it names.
    assert fragments(document)[0].charFormat().toolTip() == "<p>https://a.example/?q=1</p>"


def test_that_a_link_with_markup_in_its_address_has_a_harmless_tooltip(qapp: QApplication) -> None:
    document = rendered("[x](<https://a.example/<img src=file:///etc/hostname>>)", DARK, BODY_PT)
    assert all("<img" not in f.charFormat().toolTip() for f in fragments(document))


def test_that_headings_are_larger_and_code_stands_on_its_own_ground(qapp: QApplication) -> None:
    document = rendered("# Big\n\ntext `code` end", DARK, BODY_PT)
    by_text = {fragment.text(): fragment.charFormat() for fragment in fragments(document)}
    assert by_text["Big"].fontPointSize() > BODY_PT
    assert by_text["code"].background().color() == QColor(DARK.raised)
    assert by_text["code"].fontFixedPitch()


def test_that_another_palette_changes_the_colours_in_place(qapp: QApplication) -> None:
    document = rendered("a [l](http://x.example) `c`", DARK, BODY_PT)
    restyle(document, LIGHT, BODY_PT)
    by_text = {fragment.text(): fragment.charFormat() for fragment in fragments(document)}
    assert by_text["l"].foreground().color() == QColor(LIGHT.accent)
    assert by_text["c"].background().color() == QColor(LIGHT.raised)


# --- Direction (S49) -----------------------------------------------------------------------------


def test_that_each_paragraph_finds_its_own_direction(qapp: QApplication) -> None:
    document = rendered("شغّل الملف الآن\n\nEnglish text.\n\nשלום", DARK, BODY_PT)
    directions = []
    block = document.begin()
    while block.isValid():
        directions.append(block.textDirection())
        block = block.next()
    rtl, ltr = Qt.LayoutDirection.RightToLeft, Qt.LayoutDirection.LeftToRight
    assert directions == [rtl, ltr, rtl]


def test_that_paths_and_code_in_right_to_left_text_are_isolated(qapp: QApplication) -> None:
    document = rendered("ضع /usr/bin/x.py ثم `run --ctx 4` الآن", DARK, BODY_PT)
    assert "\u2066/usr/bin/x.py\u2069" in document.toPlainText()
    assert "\u2066run --ctx 4\u2069" in document.toPlainText()
    assert "\u2066" not in without_isolates(document.toPlainText())


def test_that_characters_beyond_the_bmp_do_not_shift_the_isolates(qapp: QApplication) -> None:
    document = rendered("😀 שלום src/main.py כאן", DARK, BODY_PT)
    assert "\u2066src/main.py\u2069" in document.toPlainText()


def test_that_override_marks_are_written_out(qapp: QApplication) -> None:
    document = rendered("invoice\u202egpj.exe", DARK, BODY_PT)
    assert document.toPlainText() == "invoice‹RLO›gpj.exe"
    assert with_marks_shown("a\u2066b\u2069\0") == "a‹LRI›b‹PDI›␀"


@pytest.mark.parametrize(
    "path",
    [
        "/usr/local/bin/x.py",
        r"C:\Users\x.txt",
        "~/x",
        "./a-b",
        "src/main.py",
        r"\\host\share",
        "https://a.example/b?c",
    ],
)
def test_that_paths_are_found(path: str) -> None:
    text = f"x {path}, y"
    assert [text[a:b].rstrip(",") for a, b in path_spans(text)] == [path]


def test_that_a_cut_never_splits_a_character() -> None:
    family = "👨\u200d👩\u200d👧"
    text = "a" * 10 + family + "b"
    for at in range(1, len(text)):
        cut = safe_cut(text, at)
        assert 1 <= cut <= at
        assert cut <= 10 or cut >= 10 + len(family)


def test_that_a_name_of_python_is_shown_as_it_is_written(themed: QApplication) -> None:
    document = rendered("Call `__len__` or __init__ of self.__dict__ with **care**.", DARK, 10.0)
    assert document.toPlainText() == "Call __len__ or __init__ of self.__dict__ with care."
