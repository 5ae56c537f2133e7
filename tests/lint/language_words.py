# SPDX-License-Identifier: Apache-2.0
"""The retired words: what finds one, what to write, and where the word is right all the same."""

import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Word:
    """One retired word.

    A text without any of the words of `stem` is skipped, which is quick.  `pattern` is searched in
    the file's `view` (language_text.py), which is lower case; a blank in it is any white space.
    `right` lists (pattern, reason): a find that overlaps such a match is no finding.  `paths`
    bounds the word to files whose path matches it.
    """
    stem: str
    pattern: str
    write: str
    right: tuple = ()
    view: str = "words"
    paths: str = ""

    def find(self, path, views):
        """(line, text found) of each finding."""
        if not re.search(self.paths, path):
            return
        text = views[self.view]
        if not any(stem in text for stem in self.stem.split()):
            return
        explained = [match.span() for pattern, _ in self.right
                     for match in _compiled(pattern).finditer(text)]
        for match in _compiled(self.pattern).finditer(text):
            if not any(first < match.end() and match.start() < last for first, last in explained):
                line = text.count("\n", 0, match.start())
                yield line, " ".join(match.group().split())


_made = {}


def _compiled(pattern):
    if pattern not in _made:
        _made[pattern] = re.compile(pattern.replace(" ", r"\s+"))
    return _made[pattern]


WORDS = (
    Word("law", r"\blaws?\b", "rule, rewrite rule"),
    Word("promise", r"\bpromise[sd]?\b", "numeric effect, effect", (
        (r"std::promise<[^\n]*|\|promise\||\bpromise\.(get|set) ", "C++'s std::promise"),
        (r"\bpromise\.(all|race|resolve)|new promise|[a-z/:]*/promises", "JavaScript's Promise"),
    )),
    Word("codes", r"\bcodes\b", "quantized values, stored integers", (
        (r"\b(exit|error|status|warning|return|reason|byte|op|key|http|character|reject|signal"
         r"|format|escape|type) codes", "codes that are not quantized values"),
        (r"codes of (the|a|its) codebook|codebook('s|s)? codes", "indices into a codebook"),
        (r"\.codes\b", "a suffix of value names in models"),
        (r"sqlite3 extended result codes", "SQLite's function"),
    )),
    Word("code",
         r"\b(each|every|stored|lowest|highest|least|largest|smallest|quantized|int8|8-bit|u8|i8) "
         r"code\b(?! (that|which|path))|\bcode of zero\b|\bper code\b",
         "quantized value, stored integer"),
    Word("reals", r"\breals\b", "real values, dequantized values, floats"),
    Word("beside", r"\bbeside\b", "next to, with, in addition to; of modes: except"),
    Word("combined", r"\bcombined[- ](up|down)\b", "fold-into-producer, fold-into-consumer"),
    Word("hungriest", r"\bhungriest\b", "largest"),
    Word("house", r"\bhouses?\b", "session services", ((r"in-house", "plain English"),)),
    Word("shop", r"\bshops?\b", "quota, admission", ((r"workshop", "plain English"),)),
    Word("quad", r"\bquads?\b", "K-block, group of four"),
    Word("near", r"\bb(rings?|ringing|rought) (it |them |\w+ )?near\b", "prefetch"),
    Word("repay", r"\brepay(s|ing)?\b", "grain size: minimum elements per task"),
    Word("nobody", r"\bnobody\b", "no one, or name what does not: no consumer, no client"),
    Word("none alone",
         r"\bnone reads\b|\breads alone\b|\bwhat alone\b|\balone reads\b", "its only consumer"),
    Word("ending",
         r"\bendings?\b", "requantization; of a call: status, outcome; of a file: extension", (
        (r"\bending (in|with|at|on|by)\b", "the verb"),
        (r"\bline endings?\b", "plain English"),
        (r"\bmatching ending\b", "plain English"),
    )),
    Word("tail", r"\btails?\b", "epilogue", (
        (r"\b(vector|loop|scalar|heavy|long|absent|masked|distribution'?s?) tails?\b",
         "leftover lanes of a vector loop, ends of a distribution, trailing inputs"),
        (r"\bcut tails\b|\btails? of (the|a) (histogram|distribution|range)", "of a distribution"),
    ), paths=r"^(core/runtime|core/float_exec|tests/core/runtime|tests/core/float_exec)/|\.md$"),
    Word("schema", r"\bschemas?\b", "quantization scheme", (
        (r"--schema\b|\"schema\"|'schema'|\bschema=|(options|wire)\.((set|clear) )?schema\b|string schema ="
         r"|\.schema = (\"|target::scheme)|\| schema \|", "the option --schema, its key and its field"),
        (r"target::schema\b|\bschema::k\b|target(\.|->)schema\b", "the type of the option --schema"),
        (r"json[- ]schema|schema version|\$schema", "JSON Schema, dashboards"),
        (r"(onnx'?s?|attributes?|ops?'?s?|operators?'?s?|wire|wire-compatible|protobuf) schemas?",
         "the fields of a message or the attributes of an op"),
    ), paths=r"^(?!core/(onnx|text|ir|ops)/|tests/core/(onnx|text|ir|ops)/)"),
    Word("payload", r"\bpayloads?\b", "constant data", (
        (r"(http|request|response|message|grpc) payload", "the protocols' own word"),
        (r"nan(s'|'s)? (with a )?payloads?|a nan everywhere, but its payload", "IEEE 754's word"),
    ), view="prose"),
    Word("reference",
         r"\breferences?\b", "float executor; of an op: definition, in tests oracle; of a report: "
         "baseline", (
             (r"\b(by|const|dangling|lvalue|rvalue|forwarding|a|the) references? "
              r"(to|into|wrapper)\b"
              r"|\bby reference\b|\bconst references?\b|reference wrapper|std::\w*reference\w*",
              "C++ references"),
             (r"reference (operators?|ops?|kernels?|blas|implementation|evaluator|interpreter)"
              r"|integer reference", "the name that TFLite, gemmlowp, ONNX and BLAS give theirs"),
             (r"\"reference\"|numerics[./]reference|set reference\(|string reference =", "the report's key"),
             (r"not null references \w+ on delete", "SQL"),
             (r"cross-references?|reference (page|documentation|manual)|apirefs?",
              "of documents"),
         )),
    Word("row",
         r"\brows (vector|body|code|binary|window|normalize|lookup|softmax|rms|extreme|quantize"
         r"|dequantize|avx\w*|vnni|isa)\b|\boctavo rows\b|runtime/rows\b|\brow (codes|loops)\b",
         "vector loops: simd/, kernels", paths=r"^(?!core/float_exec/)"),
    Word("hand", r"\bhand(s|ed|ing)? (it |them |codes |values |types |\w+ )?on\b(?! (the|a) )",
         "same-scale op, pass-through"),
    Word("type", r"\bin one type\b", "with identical quantization parameters"),
    Word("stand", r"\b(may|can|must) stand for (a|the) (relu|clip)\b|\bstands? for a relu\b",
         "acts as an implicit Relu"),
    Word("show", r"\bonly shows? (the )?(elements|parts?)\b|\bshows? elements of\b", "view of"),
    Word("entangled", r"\bentangled\b", "exceeds the exact solver's limit"),
    Word("operand", r"\bgives? the type of its operand\b", "same-scale op"),
    Word("integers", r"\bon integers\b", "quantize; computes in integers"),
    Word("fold",
         r"\bfold(s|ed|ing)? (a |the |an |\w+ )?(float |neural |trained )*(models?|networks?)\b",
         "quantize"),
    Word("rais",

         r"\brescales? (is |are |was |be |that is |may be )?raised\b"
         r"|\brais(e|es|ed|ing) (a |the |its )?rescales?\b",
         "hoist"),
    Word("user's", r"\bis the user's word\b|\buser's word that\b", "say who decides what"),
    Word("ahead",
         r"\bpack(s|ed|ing)? ahead\b|\btaps ahead\b|\bahead (stride|rate|row|along|of k)\b",
         "packed weights; prefetch"),
    Word("joined absorbed",
         r"\bjoined (part|image|into one kernel)s?\b|\babsorbed parts?\b", "fused, fusion"),
)
