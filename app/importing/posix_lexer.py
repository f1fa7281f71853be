"""A text for sh, bash or zsh as words and operators, nothing put in and nothing executed.

Each character is looked at a fixed number of times, whatever the text. Where people paste what a
shell would refuse (a bracket without quotes, a quote that never closes), the reading that was meant
is taken and said.
"""

from __future__ import annotations

import re

from app.importing import posix_said as said
from app.importing.posix_tokens import (
    UNKNOWN,
    Piece,
    Token,
    behind,
    json_end,
    unescaped,
    windows_path,
)

_PLAIN = re.compile(r"[^\s'\"\\$`;&|<>()#“”„‘’{]+")
_BLANKS = re.compile(r"[^\S\n]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_IN_BRACES = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*]")
_SPECIAL = re.compile(r"[0-9@*#?$!-]")
_IN_QUOTES = re.compile(r"[^\"\\$`”“]+")
_CURLY_QUOTED = re.compile(r"[‘’]([^‘’\n]*)’(?=[\s;&|<>)]|$)")
# What closes a quote of a word processor, by what opens it.
_CLOSES = {'"': '"', "“": '”"', "„": '“”"'}
# Continuation with something behind it that a shell does not take for one.
_LATE = re.compile(r"\\[^\S\n]+(?:#[^\n]*)?\n")
_OPERATOR = re.compile(r"&&|\|\||;;|&>>|&>|<<<|<<-|<<|>>|<&|>&|<>|>\||\|&|[;&|<>()]")
_PLACEHOLDER = re.compile(r"<[A-Za-z_][\w .:/|-]{0,60}>(?=[\s\"'./:]|$)")
_BRACKETED = re.compile(r"\([^\s()'\"]*\)")
_HERE_NAME = re.compile(r"[^\S\n]*((['\"]?)\\?)([\w.-]+)\2")
_ANSI_QUOTED = re.compile(r"(?:[^'\\]|\\.)*'", re.DOTALL)
_PARAMETER = re.compile(
    r"(?:\[[@*]\])?:[0-9]{1,4}(?::[0-9]{1,4})?$|\[[^\]\n]{1,60}\]$"
    r"|:?[-=+?](?=.|$)|##?|%%?|//?|,,?|\^\^?|$",
    re.DOTALL,
)
# JSON is tried at so many places of one text; a text with more is no command.
_JSON_TRIES = 64
_SHOWN_CHARACTERS = 80


def tokens_of(text: str, *, has_comments: bool = True) -> tuple[list[Token], tuple[str, ...]]:
    """The tokens of ``text`` and the problems it has as a text for a shell.

    Args:
        text: It.
        has_comments: Whether ``#`` begins one, as it does for a shell.
    """
    # With an end to its last line, no mark in it is followed by a search that fails.
    lexer = _Lexer(text if text.endswith("\n") else f"{text}\n", has_comments=has_comments)
    lexer.read()
    return lexer.tokens, tuple(dict.fromkeys(lexer.problems))


def pieces_of(text: str) -> list[Piece]:
    """``text`` as the inside of double quotes: variables in it, no words."""
    lexer = _Lexer(text)
    lexer.read_inside(until="")
    return lexer.pieces


class _Lexer:
    def __init__(self, text: str, *, has_comments: bool = True) -> None:
        self.text = text
        self._has_comments = has_comments
        self.at = 0
        self.tokens: list[Token] = []
        self.pieces: list[Piece] = []
        self.problems: list[str] = []
        self._is_in_word = False
        self._waiting: list[tuple[Token, str]] = []
        self._json_tries = 0
        # What is known not to come any more: nothing is searched to the end of a text twice.
        self._unclosed: set[str] = set()

    # --- words and operators ------------------------------------------------------------------

    def read(self) -> None:
        """All of the text."""
        while self.at < len(self.text):
            self._step()
        self._end_word()

    def _step(self) -> None:
        text, at = self.text, self.at
        plain = _PLAIN.match(text, at)
        if plain:
            self._add(plain.group())
            self.at = plain.end()
            return
        character = text[at]
        if character.isspace():
            self._blank(character)
        elif character == "#":
            self._hash()
        elif character in ";&|<>()":
            self._operator(character)
        else:
            self._in_word(character)

    def _in_word(self, character: str) -> None:
        if character == "\\":
            self._backslash()
        elif character == "'":
            self._single_quoted()
        elif character in "‘’":
            self._curly_quoted()
        elif character in '"“”„':
            self._double_quoted(character)
        elif character in "$`":
            self._dollar(is_quoted=False)
        else:
            self._brace()

    def _blank(self, character: str) -> None:
        self._end_word()
        if character != "\n":
            blanks = _BLANKS.match(self.text, self.at)
            self.at = blanks.end() if blanks else self.at + 1
            return
        self.at += 1
        self.tokens.append(Token(operator="\n"))
        for token, name in self._waiting:
            self._take_document(token, name)
        self._waiting.clear()

    def _hash(self) -> None:
        if self._is_in_word or not self._has_comments:
            self._add("#")
            self.at += 1
            return
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end

    def _operator(self, character: str) -> None:
        placeholder = _PLACEHOLDER.match(self.text, self.at) if character == "<" else None
        bracketed = _BRACKETED.match(self.text, self.at) if self._may_hold_brackets() else None
        if self.text.startswith(("<(", ">("), self.at):
            # A file that the shell fills with what a command prints.
            self._put_in(self._closing(")", self.at + 2), "command", is_quoted=True)
        elif character == "(" and self._follows_flag():
            if self._command(self.at + 1, ")", is_quoted=True):
                self.problems.append(said.FISH)
            else:
                self._plain_operator()
        elif placeholder:
            self._add(placeholder.group())
            self.at = placeholder.end()
        elif bracketed:
            # ``blk\.(1|2)\.ffn=CPU`` without quotes: brackets and bars belong to the word.
            self.problems.append(said.BARE_BRACKETS)
            self._add(bracketed.group())
            self.at = bracketed.end()
        else:
            self._plain_operator()

    def _plain_operator(self) -> None:
        match = _OPERATOR.match(self.text, self.at)
        operator = match.group() if match else self.text[self.at]
        if operator[0] in "<>" and len(self.pieces) == 1 and self.pieces[0].text.isdigit():
            # The number of what is redirected, as in ``2>``.
            self.pieces = []
            self._is_in_word = False
        self._end_word()
        self.at += len(operator)
        token = Token(operator=operator)
        self.tokens.append(token)
        name = _HERE_NAME.match(self.text, self.at) if operator in {"<<", "<<-"} else None
        if name:
            self.at = name.end()
            token.is_raw = bool(name.group(1))
            self._waiting.append((token, name.group(3)))

    def _may_hold_brackets(self) -> bool:
        """Whether a word stands here that no array, no function and no subshell begins with."""
        word = "".join(piece.text for piece in self.pieces)
        is_array = word.endswith("=") and not word.startswith("-")
        return self._is_in_word and not is_array and not self.text.startswith("()", self.at)

    def _follows_flag(self) -> bool:
        """Whether the word before is a flag, behind which no bracket stands in sh or bash."""
        last = self.tokens[-1] if self.tokens and not self._is_in_word else None
        return last is not None and last.bare.startswith("-") and len(last.pieces) == 1

    def _take_document(self, token: Token, name: str) -> None:
        end = re.compile(rf"^[ \t]*{re.escape(name)}[ \t]*$", re.MULTILINE)
        found = end.search(self.text, self.at)
        token.body = self.text[self.at : found.start() if found else len(self.text)]
        self.at = min(found.end() + 1, len(self.text)) if found else len(self.text)

    # --- parts of words -----------------------------------------------------------------------

    def _add(self, text: str, *, is_quoted: bool = False) -> None:
        self._is_in_word = True
        self.pieces.append(Piece(text, is_quoted))

    def _end_word(self) -> None:
        if self._is_in_word:
            self.tokens.append(Token(pieces=self.pieces))
        self.pieces = []
        self._is_in_word = False

    def _backslash(self) -> None:
        late = _LATE.match(self.text, self.at)
        # Lines that were joined keep their marks; no word begins with a blank.
        lost = self.text.startswith(("\\ ", "\\\t"), self.at)
        path = windows_path(self.text, self.at, self.pieces if self._is_in_word else None)
        if self.text.startswith("\\\n", self.at):
            self.at += 2
        elif late or (lost and not self._is_in_word):
            self._end_word()
            self.problems.append(said.LATE_MARK)
            self.at = late.end() if late else self.at + 1
        elif path:
            word = "".join(piece.text for piece in self.pieces) + path
            self.problems.append(said.WINDOWS_PATH.format(word=word[:_SHOWN_CHARACTERS]))
            self._add(path)
            self.at += len(path)
        elif self.at + 1 < len(self.text):
            self._add(self.text[self.at + 1], is_quoted=True)
            self.at += 2
        else:
            self.at += 1

    def _single_quoted(self) -> None:
        end = -1 if "'" in self._unclosed else self.text.find("'", self.at + 1)
        if end < 0:
            self._open_quote("'")
            return
        self._add(self.text[self.at + 1 : end], is_quoted=True)
        self.at = end + 1

    def _curly_quoted(self) -> None:
        """A word in the single quotes of a word processor; an apostrophe is a character."""
        may_begin = not self._is_in_word or self.pieces[-1].text.endswith("=")
        quoted = _CURLY_QUOTED.match(self.text, self.at) if may_begin else None
        if quoted is None:
            self._add(self.text[self.at])
            self.at += 1
            return
        self.problems.append(said.CURLY)
        self._add(quoted.group(1), is_quoted=True)
        self.at = quoted.end()

    def _open_quote(self, quote: str) -> None:
        self._unclosed.add(quote)
        self.problems.append(said.OPEN_QUOTE)
        self._add(quote)
        self.at += 1

    def _double_quoted(self, quote: str) -> None:
        if quote == "”" or quote in self._unclosed:
            self._open_quote(quote)
            return
        start, before = self.at, len(self.pieces)
        self._is_in_word = True
        self.at += 1
        if not self.read_inside(until=_CLOSES[quote]):
            del self.pieces[before:]
            self.at = start
            self._open_quote(quote)
            return
        if quote != '"':
            self.problems.append(said.CURLY)
        if len(self.pieces) == before:
            self._add("", is_quoted=True)

    def read_inside(self, until: str) -> bool:
        """The inside of double quotes up to one of ``until``; whether that came."""
        text = self.text
        while self.at < len(text):
            plain = _IN_QUOTES.match(text, self.at)
            character = text[self.at]
            if plain:
                self._add(plain.group(), is_quoted=True)
                self.at = plain.end()
            elif character in until:
                self.at += 1
                return True
            elif character == "\\":
                self._escaped_in_quotes()
            elif character in "$`":
                self._dollar(is_quoted=True)
            else:
                self._add(character, is_quoted=True)
                self.at += 1
        return False

    def _escaped_in_quotes(self) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        if following == "\n":
            self.at += 2
        elif following and following in '$`"\\':
            self._add(following, is_quoted=True)
            self.at += 2
        else:
            self._add("\\", is_quoted=True)
            self.at += 1

    # --- what a shell would put in ------------------------------------------------------------

    def _dollar(self, *, is_quoted: bool) -> None:
        text, at = self.text, self.at
        following = text[at + 1 : at + 2]
        name = _NAME.match(text, at + 1)
        if text[at] == "`":
            if not self._command(at + 1, "`", is_quoted=is_quoted):
                self._put_in(-1, "command", is_quoted=is_quoted)
        elif name:
            self._add_variable(Piece(text[at : name.end()], is_quoted, name.group()))
        elif following == "{":
            self._braced(is_quoted=is_quoted)
        elif following == "(":
            self._put_in(self._closing(")", at + 2), "command", is_quoted=is_quoted)
        elif following and following in "'\"" and not is_quoted:
            self._dollar_quoted(following)
        elif following and _SPECIAL.match(following):
            self._put_in(at + 2, following, is_quoted=is_quoted)
        else:
            self._add("$", is_quoted=is_quoted)
            self.at += 1

    def _command(self, start: int, closing: str, *, is_quoted: bool) -> bool:
        """What a command prints, told as it is written today; whether it closes."""
        end = self._closing(closing, start)
        if end >= 0:
            inside = f"$({self.text[start : end - 1]})"
            self._is_in_word = True
            self.pieces.append(Piece(inside, is_quoted, "command", UNKNOWN))
            self.at = end
        return end >= 0

    def _add_variable(self, piece: Piece) -> None:
        self._is_in_word = True
        self.pieces.append(piece)
        self.at += len(piece.text)

    def _put_in(self, end: int, name: str, *, is_quoted: bool) -> None:
        """What the shell would have to run or to know; ``end`` -1 where it never closes."""
        if end < 0:
            self._add(self.text[self.at], is_quoted=is_quoted)
            self.at += 1
        else:
            self._add_variable(Piece(self.text[self.at : end], is_quoted, name, UNKNOWN))

    def _closing(self, closing: str, start: int) -> int:
        """The place behind the ``closing`` that belongs to what was opened; -1 for none."""
        if closing in self._unclosed:
            return -1
        end = behind(self.text, closing, start)
        if end < 0:
            self._unclosed.add(closing)
        return end

    def _braced(self, *, is_quoted: bool) -> None:
        start = self.at + 2
        end = self._closing("}", start)
        name = _IN_BRACES.match(self.text, start, max(end - 1, start))
        if end < 0 or name is None:
            self._put_in(end, "expression", is_quoted=is_quoted)
            return
        behind = self.text[name.end() : end - 1]
        operator = _PARAMETER.match(behind)
        found = operator.group() if operator else UNKNOWN
        operand = behind[len(found) :] if operator else behind
        raw = self.text[self.at : end]
        self._add_variable(Piece(raw, is_quoted, name.group(), found, operand))

    def _dollar_quoted(self, quote: str) -> None:
        r"""``$'…'`` with its own escapes; ``$"…"`` is a text in plain quotes."""
        if quote == '"':
            self.at += 1
            return
        match = _ANSI_QUOTED.match(self.text, self.at + 2)
        if match is None or "$" in self._unclosed:
            self._open_quote("$")
            return
        self._add(unescaped(match.group()[:-1]), is_quoted=True)
        self.at = match.end()

    def _brace(self) -> None:
        """JSON that lost its quotes is one word; every other brace is a character."""
        self._json_tries += 1
        begins = not self.pieces or self.pieces[-1].text.endswith("=")
        may_be_json = begins and self._json_tries <= _JSON_TRIES
        end = json_end(self.text, self.at) if may_be_json else -1
        if end < 0:
            self._add("{")
            self.at += 1
            return
        self.problems.append(said.LOST_QUOTES)
        self._add(self.text[self.at : end], is_quoted=True)
        self.at = end
