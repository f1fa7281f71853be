"""What is told of a text for a POSIX shell that a shell would take otherwise."""

from __future__ import annotations

OPEN_QUOTE = "shell_quoting: a quote is opened and never closed; it is read as a plain character"
BARE_BRACKETS = (
    "shell_quoting: a word holds brackets without quotes, which a shell refuses; it is read as one "
    "word, put it in quotes"
)
LOST_QUOTES = (
    "log_paste: quotes around JSON are lost, so that it spans several words; it is read up to its "
    "last brace"
)
LATE_MARK = (
    "broken_continuation: something stands behind the mark that continues a line, so that a shell "
    "ends the command there; the next line is read as part of it"
)
WINDOWS_PATH = (
    "shell_quoting: this shell takes the backslashes out of {word}; they are kept, since it is "
    "a path of Windows"
)
CURLY = "typographic: curly quotes are read as the straight ones that a shell knows"
FISH = (
    "shell_quoting: a bracket stands where bash expects a word; it is read as what fish puts in "
    "there"
)
