"""A text for PowerShell as words and operators, nothing put in and nothing executed.

Knows how PowerShell writes words; must not know what they mean.
"""

from __future__ import annotations

import re

from app.importing.name_sets import names
from app.importing.posix_tokens import Piece, Token, json_end

LOST_QUOTES = (
    "log_paste: quotes around JSON are lost, so that it spans several words; it is read up to its "
    "last brace"
)
LATE_MARK = (
    "broken_continuation: a blank stands behind the ` that continues a line, so that PowerShell "
    "ends the command there; the next line is read as part of it"
)
OPEN_QUOTE = "shell_quoting: a quote is opened and never closed; it is read as a plain character"
SINGLE_QUOTES = "'‘’‚‛"
DOUBLE_QUOTES = '"“”„'
_PLAIN = re.compile(r"[^\s'‘’‚‛\"“”„`$;|&(){},<>#@]+")
_BLANKS = re.compile(r"[^\S\n]+")
_CONTINUED = re.compile(r"`([^\S\n]*)\n")
_COMMENT = re.compile(r"<#.*?(?:#>|\Z)", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:(\w+:)?(\w+)|\{([^}\n]{1,100})\})")
_SPLAT = re.compile(r"@(\w+)")
_HERE = re.compile(r"@(['\"])[^\S\n]*\n(.*?)\n\1@", re.DOTALL)
_SINGLE = re.compile(
    rf"[{SINGLE_QUOTES}]((?:[^{SINGLE_QUOTES}]|[{SINGLE_QUOTES}]{{2}})*)[{SINGLE_QUOTES}]"
)
_HERE_BEGINS = re.compile(r"@['\"][^\S\n]*\n")
_TWICE = re.compile(f"([{SINGLE_QUOTES}])[{SINGLE_QUOTES}]")
_IN_DOUBLE = re.compile(rf"[^{DOUBLE_QUOTES}`$]+")
_PLACEHOLDER = re.compile(r"<[A-Za-z_][\w .:/|-]{0,60}>(?=[\s\"'./:]|$)")
_REDIRECTED = re.compile(r"[0-9*]?>>?&[0-9]|(?:[0-9*]?>>?|<)[^\S\n]*[^\s;|&<>]*")
_OPERATOR = re.compile(r"&&|\|\||[;|&(){},]")
_PAIRED = re.compile(r"[()]")
_STOPS_PARSING = re.compile(r"--%(?=\s|$)([^\n|]*)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_JSON_TRIES = 64
_BEFORE_BRACKETS = names(
    "param if elseif while until foreach for switch catch return in ! -not -and -or -join -split "
    "-f -eq -ne -gt -ge -lt -le = += + - * /"
)
_TYPE = re.compile(r"\[[\w.\[\]]+\]$")


def tokens_of(text: str) -> tuple[list[Token], tuple[str, ...]]:
    """The tokens of ``text`` and the problems it has as a text for PowerShell.

    A word that PowerShell would work out has a piece with a name and the operator ``?``; a splat
    has the operator ``@``; what stands behind ``--%`` has the operator ``%``.
    """
    lexer = _Lexer(text)
    lexer.read()
    return lexer.tokens, tuple(dict.fromkeys(lexer.problems))


class _Lexer:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[Token] = []
        self.problems: list[str] = []
        self._at = 0
        self._pieces: list[Piece] = []
        self._is_in_word = False
        self._json_tries = 0
        # What is known not to come any more: nothing is searched to the end of a text twice.
        self._unclosed: set[str] = set()

    def read(self) -> None:
        """All of the text."""
        while self._at < len(self.text):
            plain = _PLAIN.match(self.text, self._at)
            stop = None if self._is_in_word else _STOPS_PARSING.match(self.text, self._at)
            if stop:
                self.tokens.append(Token([Piece(stop.group(1), True, "rest", "%")]))
                self._at = stop.end()
            elif plain:
                self._add(plain.group())
                self._at = plain.end()
            else:
                self._step(self.text[self._at])
        self._end_word()

    def _step(self, character: str) -> None:
        if character.isspace():
            self._blank(character)
        elif character == "`":
            self._backtick()
        elif character in SINGLE_QUOTES:
            self._single_quoted()
        elif character in DOUBLE_QUOTES:
            self._double_quoted()
        elif character == "$":
            self._dollar(is_quoted=False)
        elif character in "#<>":
            self._sign(character)
        elif character == "@":
            self._at_sign()
        else:
            self._operator(character)

    # --- words --------------------------------------------------------------------------------

    def _add(self, text: str, *, is_quoted: bool = False) -> None:
        self._is_in_word = True
        self._pieces.append(Piece(text, is_quoted))

    def _add_named(self, piece: Piece) -> None:
        self._is_in_word = True
        self._pieces.append(piece)

    def _end_word(self) -> None:
        if self._is_in_word:
            self.tokens.append(Token(pieces=self._pieces))
        self._pieces = []
        self._is_in_word = False

    def _blank(self, character: str) -> None:
        self._end_word()
        if character == "\n":
            self.tokens.append(Token(operator="\n"))
            self._at += 1
            return
        blanks = _BLANKS.match(self.text, self._at)
        self._at = blanks.end() if blanks else self._at + 1

    def _backtick(self) -> None:
        continued = _CONTINUED.match(self.text, self._at)
        if continued:
            self._end_word()
            if continued.group(1):
                self.problems.append(LATE_MARK)
            self._at = continued.end()
        elif not self._is_in_word and self.text.startswith(("` ", "`\t"), self._at):
            # Lines that were joined keep their marks; no word begins with a blank.
            self.problems.append(LATE_MARK)
            self._at += 1
        else:
            self._add(_escaped(self.text[self._at + 1 : self._at + 2]), is_quoted=True)
            self._at += 2

    def _sign(self, character: str) -> None:
        placeholder = _PLACEHOLDER.match(self.text, self._at)
        if placeholder:
            self._add(placeholder.group())
            self._at = placeholder.end()
        elif character == "#" or self.text.startswith("<#", self._at):
            self._comment(character)
        else:
            if len(self._pieces) == 1 and self._pieces[0].text in {*"123456*"}:
                self._pieces, self._is_in_word = [], False
            self._end_word()
            target = _REDIRECTED.match(self.text, self._at)
            self._at = target.end() if target else self._at + 1

    def _comment(self, character: str) -> None:
        if self._is_in_word:
            self._add(character)
            self._at += 1
            return
        block = _COMMENT.match(self.text, self._at)
        end = block.end() if block else self.text.find("\n", self._at)
        self._at = len(self.text) if end < 0 else end

    def _at_sign(self) -> None:
        here = None if "@" in self._unclosed else _HERE.match(self.text, self._at)
        splat = _SPLAT.match(self.text, self._at)
        if here:
            self._add(here.group(2), is_quoted=True)
            self._at = here.end()
        elif _HERE_BEGINS.match(self.text, self._at):
            self._unclosed.add("@")
            self._add("@")
            self._at += 1
        elif self.text.startswith(("@(", "@{"), self._at) and self._may_begin_list():
            self._end_word()
            self.tokens.append(Token(operator=self.text[self._at : self._at + 2]))
            self._at += 2
        elif splat and not self._is_in_word:
            self._add_named(Piece(splat.group(), False, splat.group(1).lower(), "@"))
            self._at = splat.end()
        else:
            self._add("@")
            self._at += 1

    def _may_begin_list(self) -> bool:
        """Whether a list may stand here: behind a type, a sign, or as a word of its own."""
        only = self._pieces[0] if len(self._pieces) == 1 else None
        text = only.text if only is not None and not only.name and not only.is_quoted else ""
        return not self._is_in_word or text in {"=", "+="} or _TYPE.fullmatch(text) is not None

    def _operator(self, character: str) -> None:
        end = self._json_end() if character == "{" else -1
        if end > 0:
            self.problems.append(LOST_QUOTES)
            self._add(self.text[self._at : end], is_quoted=True)
            self._at = end
        elif self._is_in_word and character in ",{}":
            self._in_word_sign(character)
        elif character == "(" and self._pieces and not self._is_keyword():
            self._worked_out(self._at, is_quoted=False)
        else:
            self._end_word()
            match = _OPERATOR.match(self.text, self._at)
            operator = match.group() if match else character
            self.tokens.append(Token(operator=operator))
            self._at += len(operator)

    def _is_keyword(self) -> bool:
        """Whether the word before a bracket only begins what stands in it, or is a function."""
        before = self.tokens[-1] if self.tokens else None
        is_named = before is not None and before.bare.lower() in {"function", "filter"}
        only = self._pieces[0] if len(self._pieces) == 1 else None
        is_plain = only is not None and not only.name and not only.is_quoted
        if only is None or not is_plain:
            return is_named
        is_type = _TYPE.fullmatch(only.text) is not None
        return is_named or is_type or only.text.lower() in _BEFORE_BRACKETS

    def _in_word_sign(self, character: str) -> None:
        """A comma parts the words of a list; inside of a plain word it is kept for the reader."""
        following = self.text[self._at + 1 : self._at + 2]
        is_plain = not self._pieces[-1].is_quoted and not self._pieces[-1].name
        if character == "," and (not is_plain or not following or following.isspace()):
            self._end_word()
            self.tokens.append(Token(operator=","))
        else:
            self._add(character)
        self._at += 1

    def _json_end(self) -> int:
        self._json_tries += 1
        begins = not self._is_in_word or self._pieces[-1].text.endswith("=")
        may_be_json = begins and self._json_tries <= _JSON_TRIES
        return json_end(self.text, self._at) if may_be_json else -1

    # --- quotes and variables -------------------------------------------------------------------

    def _single_quoted(self) -> None:
        match = None if "'" in self._unclosed else _SINGLE.match(self.text, self._at)
        if match is None:
            self._open_quote("'")
            return
        self._add(_TWICE.sub(r"\1", match.group(1)), is_quoted=True)
        self._at = match.end()

    def _open_quote(self, kind: str) -> None:
        self._unclosed.add(kind)
        self.problems.append(OPEN_QUOTE)
        self._add(self.text[self._at])
        self._at += 1

    def _double_quoted(self) -> None:
        start, before = self._at, len(self._pieces)
        self._at += 1
        if '"' in self._unclosed or not self._inside():
            del self._pieces[before:]
            self._at = start
            self._open_quote('"')
        elif len(self._pieces) == before:
            self._add("", is_quoted=True)

    def _inside(self) -> bool:
        """The inside of double quotes up to their end; whether that came."""
        text = self.text
        while self._at < len(text):
            plain = _IN_DOUBLE.match(text, self._at)
            character = text[self._at]
            if plain:
                self._add(plain.group(), is_quoted=True)
                self._at = plain.end()
            elif character == "`":
                self._add(_escaped(text[self._at + 1 : self._at + 2]), is_quoted=True)
                self._at += 2
            elif character == "$":
                self._dollar(is_quoted=True)
            elif text[self._at + 1 : self._at + 2] in {*DOUBLE_QUOTES}:
                self._add(text[self._at + 1], is_quoted=True)
                self._at += 2
            else:
                self._at += 1
                return True
        return False

    def _dollar(self, *, is_quoted: bool) -> None:
        text, at = self.text, self._at
        variable = _VARIABLE.match(text, at)
        if variable:
            scope, name, braced = variable.groups()
            whole = (braced or f"{scope or ''}{name}").lower()
            end = variable.end()
            if scope and scope.lower() not in {"env:", "script:", "global:", "local:"}:
                # A colon that follows a name, as in "$host:8080".
                whole, end = scope[:-1].lower(), variable.start() + len(scope)
            self._add_named(Piece(text[at:end], is_quoted, _without_scope(whole)))
            self._at = end
        elif text.startswith("$(", at):
            self._worked_out(at + 1, is_quoted=is_quoted)
        else:
            self._add("$", is_quoted=is_quoted)
            self._at += 1

    def _worked_out(self, opening: int, *, is_quoted: bool) -> None:
        """What stands in round brackets: PowerShell works it out, this reader does not."""
        depth = 0
        found = () if "(" in self._unclosed else _PAIRED.finditer(self.text, opening)
        for match in found:
            depth += 1 if match.group() == "(" else -1
            if not depth:
                raw = self.text[self._at : match.end()]
                self._add_named(Piece(raw, is_quoted, "expression", "?"))
                self._at = match.end()
                return
        self._unclosed.add("(")
        self._add(self.text[self._at], is_quoted=is_quoted)
        self._at += 1


def _without_scope(name: str) -> str:
    for scope in ("script:", "global:", "local:"):
        name = name.removeprefix(scope)
    return name


def _escaped(character: str) -> str:
    return _ESCAPES.get(character, character)
