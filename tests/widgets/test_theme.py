"""The look: readable colours, one place for every literal, dark and light alike."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QFileDialog,
    QFrame,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QStackedWidget,
    QTabBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from resources.theme import (
    ICONS,
    contrast_ratio,
    faded,
    found_ground,
    mixed,
    palette_roles,
    selected_ground,
    stylesheet,
)
from resources.tokens import DARK, FIGURE_SCALE, LIGHT, SMALL_SCALE, Palette
from tests.widgets.finding import child
from widgets.chat_scroll import ConversationScroll
from widgets.composer import Composer
from widgets.message_selection import SelectionGroup
from widgets.section import Section
from widgets.theme import (
    TuneTheme,
    app_icon,
    apply_theme,
    icon,
    palette_for,
    set_role,
    small_font,
)
from widgets.top_bar import TopBar

ROOT = Path(__file__).parents[2]
PALETTES = (DARK, LIGHT)
SURFACES = ("background", "panel", "raised")
# WCAG 2.2: 4.5:1 for text, 3:1 for graphics that have to be told from their ground.
TEXT_RATIO, GRAPHIC_RATIO = 4.5, 3.0


# --- Contrast: every pair that is painted -----------------------------------------------------

# Nothing is written on these; what they are told by is said at their test below.
_WORDLESS = (
    "QScrollBar", "QProgressBar", "separator", "QSplitter", 'role="line"', "::indicator",
    "menu-indicator", "QFileDialog QToolButton", "::drop-down", "down-arrow", "QMenu::separator",
)  # fmt: skip
_ROLE_OF = {role.lower().replace("-", ""): role for role in palette_roles(DARK)}


def colours_in(declarations: str, palette: Palette) -> dict[str, str]:
    """Colours of a rule by property, as ``#RRGGBB`` or ``transparent``."""
    found = {}
    for name, value in re.findall(r"([a-z-]+)\s*:\s*([^;]+)", declarations):
        spelled = re.search(r"palette\(([a-z-]+)\)", value)
        if spelled:
            role = _ROLE_OF[spelled[1].replace("-", "")]
            found[name] = palette_roles(palette)[role]
        elif name == "background":
            found[name] = "transparent"
    return found


def rules_with_words(palette: Palette) -> list[tuple[str, dict[str, str]]]:
    """Selector and colours of the rules of the stylesheet that words are painted by.

    What is disabled is exempt (WCAG 2.2, 1.4.3): it says so by being paler.
    """
    sheet = stylesheet(9.0)
    return [
        (" ".join(selector.split()), colours_in(declarations, palette))
        for selector, declarations in re.findall(r"([^{}]+)\{([^{}]*)\}", sheet)
        if ":disabled" not in selector and not any(part in selector for part in _WORDLESS)
    ]


@pytest.mark.parametrize("palette", PALETTES, ids=lambda p: p.name)
def test_that_all_words_of_the_stylesheet_can_be_read(palette: Palette) -> None:
    faults = []
    rules = rules_with_words(palette)
    inks = {
        each.strip(): colours["color"]
        for selector, colours in rules
        if "color" in colours
        for each in selector.split(",")
    }
    for selector, colours in rules:
        # Under the pointer a button keeps the ink it has without it.
        base = re.sub(r":(?!:)[a-z]+", "", selector.split(",")[0]).strip()
        ground = colours.get("background", "transparent")
        own = [ground] if ground != "transparent" else [getattr(palette, s) for s in SURFACES]
        pairs = [(colours.get("color", inks.get(base, palette.text)), each) for each in own]
        if "placeholder-text-color" in colours:
            pairs.append((colours["placeholder-text-color"], palette.raised))
        if "selection-color" in colours:
            pairs.append((colours["selection-color"], colours["selection-background-color"]))
        faults += [
            f"{selector}: {ink} on {each} is {contrast_ratio(ink, each):.2f}"
            for ink, each in pairs
            if "color" in colours or ground != "transparent"
            if ink != each and contrast_ratio(ink, each) < TEXT_RATIO
        ]
    assert len(rules) > 50
    assert faults == []


def painted_words(p: Palette) -> dict[str, tuple[str, str]]:
    """Ink and ground of words that widgets paint themselves."""
    chosen = selected_ground(p)
    return {
        "title of a chosen conversation": (p.text, chosen),
        "excerpt of a chosen conversation": (p.muted, chosen),
        "words that were searched for": (p.text, found_ground(p)),
        "line of the log": (p.text, p.panel),
        "time of a line of the log": (p.muted, p.panel),
        "level of a line of the log": (p.warning, p.panel),
        "selected line of the log": (p.text, mixed(p.panel, p.accent, 0.22)),
        "line of the log with the focus": (p.muted, mixed(p.panel, p.accent, 0.08)),
        "chosen action": (p.on_accent, p.accent),
        "keys of an action": (p.muted, p.panel),
        "chart's label": (p.muted, p.panel),
        "chart's value": (p.text, p.panel),
        "card over a chart": (p.text, p.raised),
        "code": (p.text, p.raised),
        "link in an answer": (p.accent, p.panel),
        "link in a table's head": (p.accent, p.raised),
        "quotation": (p.muted, p.panel),
        "special token in a prompt": (p.accent, mixed(p.panel, p.accent, 0.14)),
        "faulty line of a template": (p.text, mixed(p.raised, p.warning, 0.25)),
        "number of a template's line": (p.muted, p.raised),
        "state of a dead engine": (p.warning, p.panel),
        "placeholder": (p.muted, p.raised),
    }


def painted_graphics(p: Palette) -> dict[str, tuple[str, str]]:
    """Ink and ground of what is told apart by its colour alone.

    Left out: grooves, borders, the ticks of a fader and scroll bars, which repeat what handles,
    words and places say; and whatever is disabled.
    """
    series = {name: getattr(p, name) for name in ("weights", "kv", "compute", "draft", "others")}
    pale = {f"p99 of stream {n}": faded(c, p.panel, 0.35, p.panel) for n, c in enumerate(p.streams)}
    return {
        **{f"series {name}": (colour, p.panel) for name, colour in series.items()},
        **{name: (colour, p.panel) for name, colour in pale.items()},
        "mapped weights": (faded(p.weights, p.raised, 0.45, p.panel), p.panel),
        "memory of the rest": (faded(p.muted, p.raised, 0.6, p.panel), p.panel),
        "marker of a change": (mixed(p.muted, p.panel, 0.3), p.panel),
        "focus ring on a panel": (p.accent, p.panel),
        "focus ring behind panels": (p.accent, p.background),
        "focus ring of a field": (p.accent, p.raised),
        "focus ring of the main button": (p.text, p.panel),
        "handle of a fader": (p.text, p.panel),
        "handle over the filled groove": (p.accent, p.panel),
        "what runs, on a fader": (p.muted, p.panel),
        "knob that is off": (p.text, p.raised),
        "knob that is on": (p.on_accent, p.accent),
        "icon": (p.muted, p.panel),
        "icon on a button": (p.text, p.raised),
        "engine that is ready": (p.good, p.panel),
        "icon of a file dialog": ("#000000", palette_roles(p)["ToolTipBase"]),
        "icon of a file dialog under the pointer": ("#000000", p.accent),
    }


@pytest.mark.parametrize("palette", PALETTES, ids=lambda p: p.name)
def test_that_all_painted_words_can_be_read(palette: Palette) -> None:
    ratios = {name: contrast_ratio(*pair) for name, pair in painted_words(palette).items()}
    assert {name: ratio for name, ratio in ratios.items() if ratio < TEXT_RATIO} == {}


@pytest.mark.parametrize("palette", PALETTES, ids=lambda p: p.name)
def test_that_all_graphics_can_be_told_from_their_ground(palette: Palette) -> None:
    ratios = {name: contrast_ratio(*pair) for name, pair in painted_graphics(palette).items()}
    assert {name: ratio for name, ratio in ratios.items() if ratio < GRAPHIC_RATIO} == {}


def test_that_a_faded_colour_stays_told_from_its_ground() -> None:
    assert faded("#FFFFFF", "#000000", 0.2, "#000000") == mixed("#FFFFFF", "#000000", 0.2)
    assert contrast_ratio(faded("#808080", "#000000", 0.9, "#000000"), "#000000") >= GRAPHIC_RATIO
    assert faded("#202020", "#000000", 0.5, "#000000") == "#202020"


def test_that_contrast_agrees_with_known_pairs() -> None:
    assert contrast_ratio("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast_ratio("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("palette", PALETTES, ids=lambda p: p.name)
def test_that_icons_of_the_stylesheet_can_be_seen_in_every_palette(palette: Palette) -> None:
    paths = re.findall(r'url\("([^"]+)"\)', stylesheet(9.0))
    assert paths
    for path in paths:
        inks = re.findall(r"#[0-9A-F]{6}", Path(path).read_text(encoding="utf-8"))
        assert inks
        for ink in inks:
            assert contrast_ratio(ink, palette.raised) >= GRAPHIC_RATIO


def test_that_other_icons_take_their_colour_from_the_palette() -> None:
    for path in ICONS.glob("*.svg"):
        text = path.read_text(encoding="utf-8")
        is_fixed = path.stem == "tunedeck" or path.stem.endswith("-grey")
        assert is_fixed or "currentColor" in text, path.name


def test_that_small_text_follows_the_body_size() -> None:
    sizes = {float(size) for size in re.findall(r"font-size: ([\d.]+)pt", stylesheet(13.5))}
    assert sizes == {round(13.5 * scale, 2) for scale in (SMALL_SCALE, FIGURE_SCALE)}


def test_that_a_role_changes_what_a_label_looks_like(qtbot: QtBot, themed: QApplication) -> None:
    label = QLabel("8,192")
    qtbot.addWidget(label)
    label.ensurePolished()
    body_pt = label.fontInfo().pointSizeF()
    set_role(label, "hint")
    assert label.fontInfo().pointSizeF() < body_pt
    assert label.palette().color(QPalette.ColorRole.WindowText) == QColor(DARK.muted)


def test_that_every_digit_is_as_wide_as_the_others(qtbot: QtBot, themed: QApplication) -> None:
    label = QLabel()
    qtbot.addWidget(label)
    label.ensurePolished()
    metrics = label.fontMetrics()
    assert len({metrics.horizontalAdvance(digit * 8) for digit in "0123456789"}) == 1


def test_that_the_font_scales(themed: QApplication) -> None:
    before = themed.font().pointSizeF()
    apply_theme(themed, DARK, 1.5)
    assert themed.font().pointSizeF() == pytest.approx(1.5 * before)


def test_that_the_theme_follows_the_system(qtbot: QtBot, themed: QApplication) -> None:
    theme = TuneTheme(themed)
    theme.use(DARK)
    for scheme, palette in ((Qt.ColorScheme.Light, LIGHT), (Qt.ColorScheme.Dark, DARK)):
        with qtbot.waitSignal(theme.palette_changed) as changed:
            themed.styleHints().colorSchemeChanged.emit(scheme)
        assert changed.args == [palette]
        assert themed.palette().color(QPalette.ColorRole.Window) == QColor(palette.background)
    theme.deleteLater()


def test_that_a_system_without_a_scheme_gets_the_dark_one() -> None:
    assert palette_for(Qt.ColorScheme.Unknown) == DARK


def test_that_icons_are_drawn_in_the_colour_asked_for(themed: QApplication) -> None:
    image = icon("close", "#FF0000").pixmap(16, 16).toImage()
    inks = {
        image.pixelColor(x, y).name()
        for x, y in itertools.product(range(16), range(16))
        if image.pixelColor(x, y).alpha() == 255
    }
    assert inks == {"#ff0000"}
    assert not app_icon().isNull()


# --- No literal outside resources -----------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    sorted([*ROOT.glob("widgets/**/*.py"), *ROOT.glob("app/**/*.py")]),
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_that_no_colour_or_font_is_written_outside_resources(path: Path) -> None:
    found = list(literals(ast.parse(path.read_text(encoding="utf-8"))))
    assert not found, f"{path}: {found}"


def test_that_the_search_for_literals_finds_them() -> None:
    lies = """
QColor("#12151A"); QColor(1, 2, 3); Qt.GlobalColor.red; QFont("Inter"); font.setPointSize(9)
x.setStyleSheet("color: rgb(1, 2, 3)"); y = "border: 1px solid #fff"; QColor("red")
"""
    assert len(list(literals(ast.parse(lies)))) == 8


_COLOUR_TEXT = re.compile(r"#[0-9A-Fa-f]{6}\b|#[0-9A-Fa-f]{3}\b|\brgba?\(|\bhsla?\(")
_TAKES_NO_LITERAL = {
    "QColor", "QFont", "setPointSize", "setPointSizeF", "setPixelSize", "setFamily", "setFamilies",
}  # fmt: skip
_CLEAR = {"transparent"}


def literals(tree: ast.AST) -> Iterator[str]:
    """Colours and fonts written out in ``tree``, docstrings left alone."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and any(isinstance(arg, ast.Constant) for arg in node.args):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in _TAKES_NO_LITERAL:
                yield f"line {node.lineno}: {ast.unparse(node)}"
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith("GlobalColor"):
            if node.attr not in _CLEAR:
                yield f"line {node.lineno}: {ast.unparse(node)}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # QColor("#…") was counted by its call.
            is_bare = re.fullmatch(_COLOUR_TEXT, node.value) is not None
            if id(node) not in docstrings and not is_bare and _COLOUR_TEXT.search(node.value):
                yield f"line {node.lineno}: {node.value!r}"


def test_that_transparent_is_no_colour() -> None:
    assert Qt.GlobalColor.transparent.name in _CLEAR


@pytest.mark.parametrize("palette", PALETTES, ids=lambda p: p.name)
def test_that_the_buttons_of_a_file_dialog_can_be_seen(
    qtbot: QtBot, themed: QApplication, palette: Palette
) -> None:
    apply_theme(themed, palette)
    dialog = QFileDialog()
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    qtbot.addWidget(dialog)
    dialog.show()
    button = next(b for b in dialog.findChildren(QToolButton) if b.objectName() == "toParentButton")
    image = button.grab().toImage()
    ground = image.pixelColor(image.width() // 2, 4).name()
    middle = [
        image.pixelColor(x, y).name()
        for x in range(4, image.width() - 4)
        for y in range(4, image.height() - 4)
    ]
    inked = [colour for colour in middle if contrast_ratio(colour, ground) >= GRAPHIC_RATIO]
    assert len(inked) > 20


def panel_of_everything() -> QWidget:
    """A widget for each kind of rule of the stylesheet."""
    panel = QFrame()
    set_role(panel, "panel")
    layout = QVBoxLayout(panel)
    for role in ("", "muted", "hint", "hint-warning", "good", "badge-warning", "value-warning"):
        label = QLabel("8,192 tok")
        set_role(label, role)
        layout.addWidget(label)
    for role in ("", "primary", "flat", "quiet", "link", "section", "segment-first"):
        button = QPushButton("Apply")
        set_role(button, role)
        button.setCheckable(role == "segment-first")
        button.setChecked(role == "segment-first")
        layout.addWidget(button)
    for field in (QLineEdit("words"), QPlainTextEdit("words"), QProgressBar(), QTabBar()):
        layout.addWidget(field)
    box = QComboBox()
    box.addItem("llama serve")
    layout.addWidget(box)
    box.setEnabled(False)
    return panel


@pytest.mark.parametrize("is_hidden", [False, True], ids=["seen", "hidden"])
def test_that_a_change_of_theme_leaves_no_colour_of_the_old_one(
    qtbot: QtBot, themed: QApplication, is_hidden: bool
) -> None:
    changed = panel_of_everything()
    qtbot.addWidget(changed)
    changed.show()
    changed.setHidden(is_hidden)
    apply_theme(themed, LIGHT)
    changed.show()
    fresh = panel_of_everything()
    qtbot.addWidget(fresh)
    fresh.show()
    assert changed.grab().toImage() == fresh.grab().toImage()


def test_that_a_change_of_theme_does_not_touch_what_is_hidden(
    qtbot: QtBot, themed: QApplication
) -> None:
    page = QStackedWidget()
    qtbot.addWidget(page)
    seen, hidden = QLabel("seen"), QLabel("hidden")
    for label in (seen, hidden):
        page.addWidget(label)
    page.setCurrentWidget(hidden)
    page.show()
    page.setCurrentWidget(seen)
    apply_theme(themed, LIGHT)
    inks = [label.palette().color(QPalette.ColorRole.WindowText).name() for label in (seen, hidden)]
    page.setCurrentWidget(hidden)
    inks.append(hidden.palette().color(QPalette.ColorRole.WindowText).name())
    expected = [LIGHT.text, DARK.text, LIGHT.text]
    assert inks == [colour.lower() for colour in expected]


def test_that_a_pinned_theme_does_not_follow_the_system(themed: QApplication) -> None:
    theme = TuneTheme(themed, mode="light")
    themed.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert theme.palette == LIGHT
    theme.set_mode("system")
    themed.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert theme.palette == DARK
    with pytest.raises(ValueError, match="'sepia'"):
        theme.set_mode("sepia")
    theme.deleteLater()


def test_that_the_type_is_scaled_in_steps_within_bounds(themed: QApplication) -> None:
    theme = TuneTheme(themed)
    body_pt = themed.font().pointSizeF()
    sizes = []
    for _ in range(9):
        theme.step_font_scale(1)
        sizes.append(themed.font().pointSizeF() / body_pt)
    assert sizes[:5] == pytest.approx([1.1, 1.25, 1.5, 1.75, 2.0])
    assert sizes[-1] == pytest.approx(2.0)
    theme.set_font_scale(0.1)
    assert theme.font_scale == pytest.approx(0.8)
    theme.deleteLater()


def test_that_a_damaged_choice_of_theme_follows_the_system(themed: QApplication) -> None:
    theme = TuneTheme(themed, font_scale=70.0, mode="mauve")
    assert theme.mode == "system"
    assert theme.font_scale == pytest.approx(2.0)
    theme.deleteLater()


@pytest.mark.parametrize("role", ["quiet", "link-small"])
def test_that_small_buttons_made_before_grow_with_the_type(
    qtbot: QtBot, themed: QApplication, role: str
) -> None:
    button = QPushButton("Regenerate")
    qtbot.addWidget(button)
    # As the buttons under an answer are made; a font of their own must not hold them back.
    button.setFont(small_font(button.font()))
    set_role(button, role)
    button.show()
    before = button.fontInfo().pointSizeF()
    apply_theme(themed, DARK, 2.0)
    assert button.fontInfo().pointSizeF() == pytest.approx(2 * before, rel=0.1)


def test_that_the_messages_show_that_they_have_the_keyboard_and_do_not_move(
    qtbot: QtBot, themed: QApplication
) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    layout = QVBoxLayout(page)
    other, messages = QPushButton("Other"), ConversationScroll(SelectionGroup(page))
    layout.addWidget(other)
    layout.addWidget(messages)
    page.resize(300, 200)
    with qtbot.waitActive(page):
        page.show()
        page.activateWindow()
    other.setFocus()
    place, without = messages.viewport().geometry(), messages.grab().toImage()
    messages.setFocus(Qt.FocusReason.TabFocusReason)
    QApplication.processEvents()
    assert messages.viewport().geometry() == place
    middle = messages.height() // 2
    assert messages.grab().toImage().pixelColor(0, middle) != without.pixelColor(0, middle)


def test_that_icons_on_buttons_grow_with_the_type_and_shrink_again(
    qtbot: QtBot, themed: QApplication
) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    layout = QVBoxLayout(page)
    bar, composer, section = TopBar(), Composer(DARK), Section("Sampling")
    for widget in (bar, composer, section):
        layout.addWidget(widget)
    page.show()
    buttons = (bar.menu_button, composer.attach_button, child(section, QPushButton))
    sizes = []
    for scale in (1.0, 2.0, 1.0):
        apply_theme(themed, DARK, scale)
        sizes.append([button.iconSize().width() for button in buttons])
    assert sizes[0] == sizes[2]
    assert all(large >= 1.5 * usual for usual, large in zip(sizes[0], sizes[1], strict=True))


def test_that_an_icon_is_drawn_as_large_as_a_button_wants_it(themed: QApplication) -> None:
    drawn = icon("menu", DARK.text, 16)
    for wanted in (12, 16, 24, 32):
        assert drawn.actualSize(QSize(wanted, wanted)).width() == wanted
