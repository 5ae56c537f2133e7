# SPDX-License-Identifier: Apache-2.0
"""What a file says, in two forms that keep its line numbers.

`words`: everything, identifiers split into their words: `RowPlan` and `row_plan` are `row plan`.
`prose`: comments, sentences in string literals, and Markdown outside code; identifiers stay whole.
Both are in lower case.  Comment leaders are blanks, so a phrase may run over a line break.
"""

import re

_C_LIKE = (".cc", ".h", ".proto", ".mjs", ".js")
_TOKEN_C = re.compile(
    r'R"(?P<mark>[^\s()\\]{0,16})\((?P<raw>.*?)\)(?P=mark)"'
    r'|"(?P<text>(?:\\.|[^"\\\n])*)"'
    r"|\b[0-9][0-9a-zA-Z'.]*"
    r"|'(?P<quoted>(?:\\.|[^'\\\n])*)'"
    r"|`(?P<template>(?:\\.|[^`\\])*)`"
    r"|//(?P<comment>[^\n]*)|/\*(?P<block>.*?)\*/", re.DOTALL)
_TOKEN_SCRIPT = re.compile(
    r'"""(?P<raw>.*?)"""'
    r'|"(?P<text>(?:\\.|[^"\\\n])*)"'
    r"|'(?P<quoted>(?:\\.|[^'\\\n])*)'"
    r"|(?:(?<=\s)|^)#(?P<comment>[^\n]*)", re.DOTALL | re.MULTILINE)
_CODE_MARKDOWN = re.compile(r"^```.*?^```|`[^`\n]+(?:\n[^`\n]+)?`|\]\([^)]*\)|<[^>]*>|^ {4}\S.*$",
                            re.DOTALL | re.MULTILINE)
_LEADER = re.compile(r"^[ \t]*(?:///?|#+(?!\w)|\*(?!\w)|>)", re.MULTILINE)


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def _kept(text, spans):
    """`text` with everything outside `spans` blanked."""
    parts, position = [], 0
    for first, last in spans:
        parts += [_blank(text[position:first]), text[first:last]]
        position = last
    return "".join(parts + [_blank(text[position:])])


def _is_sentence(literal):
    return " " in literal.strip()


def _prose_spans(text, token):
    spans = []
    for match in token.finditer(text):
        for group, value in match.groupdict().items():
            if value is None or group == "mark":
                continue
            if group in ("comment", "block") or _is_sentence(value):
                spans.append(match.span(group))
    return spans


def prose(path, text):
    if path.endswith(".md"):
        text = _CODE_MARKDOWN.sub(lambda match: _blank(match.group()), text)
    elif path.endswith(_C_LIKE):
        text = _kept(text, _prose_spans(text, _TOKEN_C))
    elif not path.endswith(".json"):
        text = _kept(text, _prose_spans(text, _TOKEN_SCRIPT))
    return _LEADER.sub(lambda match: _blank(match.group()), text).lower()


def words(text):
    text = _LEADER.sub(lambda match: _blank(match.group()), text)
    text = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text)
    text = re.sub(r"([A-Z])([A-Z][a-z])", r"\1 \2", text)
    return text.replace("_", " ").lower()


class Views:
    """Both forms of a file, each made when it is first asked for; line 0 is the file's name."""

    def __init__(self, path, text):
        self._path, self._text, self._made = path, text, {}

    def __getitem__(self, view):
        if view not in self._made:
            self._made[view] = (words(f"{self._path}\n{self._text}") if view == "words"
                                else "\n" + prose(self._path, self._text))
        return self._made[view]
