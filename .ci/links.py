#!/usr/bin/env python3
"""Checks relative links and anchors in all Markdown files that git tracks.

Usage: links.py [DIR]         checks the repository at DIR (default: the one that contains this file)
       links.py --self-test   checks the checker

A link holds if its file or directory is tracked, and its anchor is a heading there. Anchors are those of GitHub. If several headings
have the same text, only the first can be linked to, since the site numbers the others differently. Addresses with a scheme are
not visited. Prints one line a fault, `path:line: fault`, and exits with 1 if there is one.
"""

import posixpath
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote

LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)")
REFERENCE = re.compile(r"^ {0,3}\[[^\]]+\]:\s+<?([^\s>]+)>?")
HTML = re.compile(r"<(?:a|img)\b[^>]*?\b(?:href|src)=[\"']([^\"']+)[\"']")
HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
ID = re.compile(r"<[^>]*\b(?:id|name)=[\"']([^\"']+)[\"']")
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


def prose(text):
    """Lines of a page outside fenced code: (number, line)."""
    fence = None
    for number, line in enumerate(text.splitlines(), 1):
        found = FENCE.match(line)
        if fence:
            if found and found[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = None
        elif found:
            fence = found[1]
        else:
            yield number, line


def without_code(line):
    """Blanks inline code, keeping its length."""
    return re.sub(r"(`+)(.+?)(?<!`)\1(?!`)", lambda code: " " * len(code[0]), line)


def slug(heading):
    """Anchor that GitHub gives a heading."""
    heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    heading = re.sub(r"<[^>]*>", "", heading)
    heading = re.sub(r"(?<!\w)[*_]+|[*_]+(?!\w)|[`*]", "", heading)
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(text):
    """Anchors of a page."""
    found = set()
    for _, line in prose(text):
        heading = HEADING.match(line)
        if heading:
            found.add(slug(heading[2]))
        found.update(ID.findall(without_code(line)))
    return found


def links(text):
    """Links of a page: (line, target). A paragraph is read as one, since a link may break over lines."""
    paragraph, starts = "", []
    for number, line in [*prose(text), (0, "")]:
        bare = without_code(line) if line.count("`") % 2 == 0 else line
        reference = REFERENCE.match(bare)
        if reference:
            yield number, reference[1]
        if bare.strip() and not reference:
            starts.append((len(paragraph), number))
            paragraph += bare + "\n"
            continue
        for pattern in (LINK, HTML):
            for link in pattern.finditer(paragraph):
                at = max((start for start in starts if start[0] <= link.start(1)), default=(0, number))
                yield at[1], link[1]
        paragraph, starts = "", []


def faults(root, files):
    """Faults of the pages among the tracked files of a repository: (path, line, what)."""
    directories = {parent for path in files for parent in map(str, Path(path).parents)}
    pages = {path: (root / path).read_text() for path in files if path.endswith(".md")}
    known = {path: anchors(text) for path, text in pages.items()}
    for path, text in pages.items():
        for line, target in links(text):
            if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:", target):
                continue
            where, _, anchor = unquote(target).partition("#")
            if where.startswith("/"):
                yield path, line, f"{target}: the link starts with `/`"
                continue
            to = posixpath.normpath(posixpath.join(posixpath.dirname(path), where)) if where else path
            if to not in files and to not in directories:
                yield path, line, f"{target}: no such file"
            elif anchor and to in known and anchor not in known[to]:
                yield path, line, f"{target}: no such heading"
            elif anchor and to not in known:
                yield path, line, f"{target}: an anchor in what is not a page"


def tracked(root):
    """Files that git tracks and that are there."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True)
    return {path for path in listed.stdout.split("\0") if path and (root / path).is_file()}


def self_test():
    """Each kind of fault is found, and what holds passes."""
    pages = {
        "README.md": "# A\n\n[b](docs/b.md) [c](docs/b.md#some-words-x) ![i](docs/i.png)\n[d](docs) [top](#a) [e](https://x.invalid/y#z)\n",
        "docs/b.md": "# B\n\n## Some words: `x`\n\n[a](../README.md#a) `[no](gone.md)`\n\n```sh\n[no](gone.md)\n```\n\n"
        "A [link over\ntwo lines](../README.md) and <a href=\"i.png\">one</a>.\n\n[r]: ../README.md\n",
        "docs/i.png": "",
    }
    bad = {
        "[x](gone.md)\n": 1,
        "[x](../other.md)\n": 1,
        "# H\n\n[x](#g)\n": 3,
        "[x](README.md#gone)\n": 1,
        "[x](docs/i.png#a)\n": 1,
        "[x](/README.md)\n": 1,
        "text\n<img src='gone.png'>\n": 2,
        "a [link\nover](gone.md)\n": 2,
        "[r]: gone.md\n": 1,
        "# Twice\n\n# Twice\n\n[x](#twice-1)\n": 5,
    }
    slugs = {
        "Some words": "some-words",
        "Positions of your own: `--positions`": "positions-of-your-own---positions",
        "What it is, **boldly**": "what-it-is-boldly",
        "`policies[].x_y`": "policiesx_y",
        "A [link](b.md) here": "a-link-here",
        "8×8 & more": "8×8--more".replace("×", ""),
    }
    for heading, anchor in slugs.items():
        assert slug(heading) == anchor, (heading, slug(heading), anchor)
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        (root / "docs").mkdir()
        for path, text in pages.items():
            (root / path).write_text(text)
        assert not list(faults(root, set(pages))), list(faults(root, set(pages)))
        for text, line in bad.items():
            (root / "bad.md").write_text(text)
            found = list(faults(root, {*pages, "bad.md"}))
            assert [(path, at) for path, at, _ in found] == [("bad.md", line)], (text, found)
    print(f"{len(bad)} faults found, {len(pages)} pages and {len(slugs)} anchors passed")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).resolve().parent.parent
    found = sorted(faults(root, tracked(root)))
    for path, line, what in found:
        print(f"{path}:{line}: {what}")
    if found:
        print(f"{len(found)} links do not hold", file=sys.stderr)
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
