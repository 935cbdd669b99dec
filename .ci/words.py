#!/usr/bin/env python3
"""Checks how the repository is written: openings of item docs, openings of sentences, banned phrases.

Usage: words.py [PATH ...]    checks these files or directories (default: every file git tracks)
       words.py --self-test   checks the checker

Prints one line a fault, `path:line: fault`, and exits with 1 if there is one.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

ITEM = re.compile(r"(What|That|Of|How|Whether|Where|Which|So|Who|The same)\b")
SENTENCE = re.compile(r"(Of|That|What|Where nothing|So much|So many)\b")
PHRASES = [
    (r"['`}\"”] (is|are) no (?!longer|more|less)", "write `invalid x: expected a y`"),
    (r"\b(is|are|was|were|be|been) told\b", "files contain, functions return, programs print or report"),
    (r"\b(is|are|was|were|be|been) said\b", "write print, report, warn or return"),
    (r"\btells? (the|a|that|what|which|how|whether|where|of|it|them)\b", "write print, report, return or record"),
    (r"\b(hear|hears|heard)\b", "write receive, read or notice"),
    (r"\b(the|a) (thesis|article)\b", "name the source by author, title and year"),
    (r"\b(is|are) taken to (be|do|have)\b", "write count as"),
    (r"\b(is|are) (asked|called) so\b", "say what it is"),
    (r"\bin every sense\b", "count the ways"),
    (r"\bit is no longer asked\b", "write cancelled"),
    (r"\bwhat is (guessed|looked at|there|left over|said|asked)\b", "name the thing"),
    (r"\ba thousand millions?\b", "write billion"),
    (r"\bprocessors' time\b|\btime of (the )?processors\b", "write CPU time"),
    (r"\bthe system's memory\b", "write page cache"),
    (r"\bso rarely\b|\bso much rarer\b", "give the figure"),
    (r"\bbegun anew\b|\bbegins? anew\b", "write restart or start again"),
]
PHRASES = [(re.compile(pattern), advice) for pattern, advice in PHRASES]
# The rules themselves, generated files and what others wrote.
LEFT_OUT = (".ci/words.py", "LICENSE", "docs/schemas/", "docs/openapi.json", "Cargo.lock", "/data/", ".svg", ".html")
KINDS = {".rs", ".md", ".py", ".pyi", ".ipynb", ".sh"}


def comments(text):
    """Blocks of Rust comments: (first line, kind, lines). A block is of one kind: `///`, `//!` or `//`."""
    block, kind, start = [], None, 0
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(r"\s*(///|//!|//)(?!/) ?(.*)", line)
        if found and (kind is None or found[1] == kind):
            if kind is None:
                kind, start = found[1], number
            block.append(found[2])
            continue
        if kind:
            yield start, kind, block
        block, kind = ([found[2]], found[1]) if found else ([], None)
        start = number
    if kind:
        yield start, kind, block


def docstrings(text):
    """Docstrings of a Python file: (line, text)."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            words = ast.get_docstring(node)
            if words:
                yield node.body[0].lineno, words


def sentences(lines, first):
    """Sentences of prose: (line, sentence). Code, tables and headings are left out."""
    fenced, start, held = False, first, []
    for number, line in enumerate([*lines, ""], first):
        fence = line.strip().startswith("```")
        fenced ^= fence
        code = fence or fenced or line.startswith(("    ", "\t", "|", "#", "<"))
        if code or not line.strip() or re.match(r"\s*([-*]|\d+\.) ", line):
            yield from split(held, start)
            held = []
        if not code and line.strip():
            if not held:
                start = number
            held.append(re.sub(r"^\s*([-*]|\d+\.) ", "", line))
    yield from split(held, start)


def split(lines, start):
    """Sentences of one paragraph, each with the line it begins in."""
    text = "\n".join(lines)
    begin = 0
    for end in [*(m.end() for m in re.finditer(r"[.:!?]\s+(?=[A-Z*`])", text)), len(text)]:
        sentence = text[begin:end].strip(" *\n")
        if sentence:
            yield start + text.count("\n", 0, begin), sentence
        begin = end


def faults(path, text):
    """Faults of one file: (line, what)."""
    found = []
    prose = []
    if path.endswith(".rs"):
        for start, kind, block in comments(text):
            if kind != "//" and (opening := ITEM.match(block[0])):
                found.append((start, f"item docs open with a verb or a noun, not with `{opening[0]}`"))
            prose += list(sentences(block, start))
    elif path.endswith((".py", ".pyi")):
        for start, words in docstrings(text):
            if opening := ITEM.match(words):
                found.append((start, f"docstrings open with a verb or a noun, not with `{opening[0]}`"))
            prose += list(sentences(words.splitlines(), start))
    elif path.endswith(".md"):
        prose = list(sentences(text.splitlines(), 1))
    for line, sentence in prose:
        opening = SENTENCE.match(sentence)
        if opening and not sentence.endswith("?"):
            found.append((line, f"no sentence begins with `{opening[0]}`"))
    for line, words in enumerate(text.splitlines(), 1):
        for phrase, advice in PHRASES:
            if hit := phrase.search(words):
                found.append((line, f"`{hit[0].strip()}`: {advice}"))
    return sorted(set(found))


def self_test():
    """Each rule finds what it is for and lets plain words pass."""
    bad = [
        ("a.rs", "/// What it does.\nfn a() {}\n"),
        ("a.rs", "//! Whether rows are whole.\n"),
        ("a.rs", "/// Returns rows.\n/// Of these, two are open.\nfn a() {}\n"),
        ("a.rs", "// The file is told to close.\n"),
        ("a.rs", 'let a = "\'x\' is no weight";\n'),
        ("a.py", '"""How many rows."""\n'),
        ("a.py", 'def a():\n    """The same for rows."""\n'),
        ("a.md", "The table is open. That is why.\n"),
        ("a.md", "Some text\nends. What follows is long.\n"),
        ("a.md", "As in the thesis.\n"),
        ("a.md", "- Of several rows one counts.\n"),
    ]
    good = [
        ("a.rs", "/// Returns what it found, of all rows.\nfn a() {}\n"),
        ("a.rs", "/// Rows.\n///\n/// ```\n/// // What a reader types.\n/// ```\nfn a() {}\n"),
        ("a.rs", "// There is no table: it is no longer open.\n"),
        ("a.md", "# What it is\n\nA solver.\n\n    What is typed\n"),
        ("a.md", "What is a layer? All states of one ply.\n"),
        ("a.md", "| What | count |\n"),
        ("a.py", 'a = "What"\n'),
    ]
    for path, text in bad:
        assert faults(path, text), f"not found: {text!r}"
    for path, text in good:
        assert not faults(path, text), f"found in {text!r}: {faults(path, text)}"
    print(f"{len(bad)} faults found, {len(good)} plain texts passed")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    listed = subprocess.run(["git", "ls-files", "--", *sys.argv[1:]], capture_output=True, text=True, check=True)
    count = 0
    for path in listed.stdout.splitlines():
        if Path(path).suffix not in KINDS or any(part in f"/{path}" for part in LEFT_OUT):
            continue
        if not Path(path).exists():
            continue
        for line, what in faults(path, Path(path).read_text()):
            print(f"{path}:{line}: {what}")
            count += 1
    if count:
        print(f"{count} faults; how to write: CONTRIBUTING.md", file=sys.stderr)
    sys.exit(bool(count))


if __name__ == "__main__":
    main()
