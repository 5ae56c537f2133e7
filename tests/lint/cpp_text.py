# SPDX-License-Identifier: Apache-2.0
"""Just enough of C++'s grammar to find functions: literals and comments blanked out, then braces.

A heuristic, exact for code formatted by clang-format without braces hidden in macros.
"""

import re

# One token whose inside must not be read as code; raw strings first, they start like strings.
_OPAQUE = re.compile(
    r'R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"'  # raw string
    r'|"(?:\\.|[^"\\\n])*"'                          # string
    r"|\b[0-9][0-9a-zA-Z'.]*"                        # number, maybe with digit separators
    r"|'(?:\\.|[^'\\\n])+'"                          # character
    r"|//[^\n]*|/\*.*?\*/"                           # comment
    r"|^[ \t]*#(?:\\\n|[^\n])*",                     # preprocessor line
    re.DOTALL | re.MULTILINE)

# What may stand between a parameter list and the body.
_ENDS_LIKE_FUNCTION = re.compile(
    r"\)\s*((const|noexcept|override|final|mutable|try|&&?|requires\b.*|->.*)\s*)*$", re.DOTALL)
_MEMBER_WITH_BRACES = re.compile(r"\)\s*(noexcept\s*)?:(?!:).*[\w>]\s*$|[})]\s*,\s*[\w:<>]+\s*$",
                                 re.DOTALL)


def blank_literals(text):
    """`text` with literals and comments replaced by blanks; line breaks stay where they are."""
    return _OPAQUE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def _matching_brace(code, start):
    depth = 0
    for match in re.compile(r"[{}]").finditer(code, start):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return match.start()
    return len(code) - 1


def _name(header):
    """The word before the parameter list, for messages."""
    match = re.search(r"([\w:~]+)\s*\(", header)
    if match is None:
        return "lambda"
    if re.fullmatch(r"TEST(_[FP])?", match.group(1)):
        return re.sub(r"\s+", " ", header.strip())
    return match.group(1)


def functions(text):
    """(name, first line, last line) of every function body, outermost ones only."""
    code = blank_literals(text)
    found, header_start, position = [], 0, 0
    special = re.compile(r"[;{}]")
    while True:
        match = special.search(code, position)
        if match is None:
            return found
        here = match.start()
        position = here + 1
        header = code[header_start:here]
        if match.group() == "{":
            if _ENDS_LIKE_FUNCTION.search(header):
                end = _matching_brace(code, here)
                lines = (code.count("\n", 0, here) + 1, code.count("\n", 0, end) + 1)
                found.append((_name(header), *lines))
                position = end + 1
            elif _MEMBER_WITH_BRACES.search(header):
                # `: a_{1}, b_{2} {`: the braces are part of the header.
                position = _matching_brace(code, here) + 1
                if re.match(r"\s*\{", code[position:]):
                    code = code[:position - 1] + ")" + code[position:]
                continue
        header_start = position
