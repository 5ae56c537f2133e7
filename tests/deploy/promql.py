# SPDX-License-Identifier: Apache-2.0
"""Just enough PromQL to ask an alert for its left side and an expression for its metrics."""

import re

_TOKEN = re.compile(
    r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|`[^`]*`'  # strings
    r"|==|!=|>=|<=|=~|!~|[A-Za-z_:][A-Za-z0-9_:]*|[0-9.]+[a-z]*|\S")
_COMPARISONS = {"==", "!=", ">", "<", ">=", "<="}
_OPENING, _CLOSING = "([{", ")]}"
_NAME = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]*$")
_WORDS = {"and", "or", "unless", "bool", "offset", "inf", "nan"}
_LABEL_LISTS = {"by", "without", "on", "ignoring", "group_left", "group_right"}


def without_comparison(expression):
    """`expression` up to its last comparison outside all brackets; None if there is none.

    `== bool` and its like yield a value, they do not filter, so they stay.
    """
    depth, cut = 0, None
    tokens = list(_TOKEN.finditer(expression))
    for index, match in enumerate(tokens):
        token = match.group()
        if token in _OPENING:
            depth += 1
        elif token in _CLOSING:
            depth -= 1
        elif depth == 0 and token in _COMPARISONS:
            following = tokens[index + 1].group() if index + 1 < len(tokens) else ""
            if following != "bool":
                cut = match.start()
    return None if cut is None else expression[:cut].strip()


def metrics(expression):
    """Names of the metrics that `expression` reads."""
    found, depth, skipped = set(), 0, None
    tokens = [match.group() for match in _TOKEN.finditer(expression)]
    for index, token in enumerate(tokens):
        following = tokens[index + 1] if index + 1 < len(tokens) else ""
        if token in _OPENING:
            depth += 1
            if token in "[{" or (index and tokens[index - 1] in _LABEL_LISTS):
                skipped = skipped or depth
        elif token in _CLOSING:
            if skipped == depth:
                skipped = None
            depth -= 1
        elif (skipped is None and _NAME.match(token) and following not in {"(", "by", "without"} and
              token.lower() not in _WORDS | _LABEL_LISTS):
            found.add(token)
    return found
