#!/usr/bin/env python3
"""Checks the structure of each crate: no modules import each other in a circle, `unsafe` is allowed in three
files only, few files outside `src/game` name a game, no file has more than 900 lines.

Usage: modules.py              checks every crate of the workspace
       modules.py --self-test  checks the checker

A module may name its parents and its own children; every other import is an arrow, also one by way of a
re-export. Prints each fault, of a circle its arrows, and exits with 1 if there is one.
"""

import re
import sys
import tempfile
from pathlib import Path

CRATES = ["src", "crates/measure/src", "crates/learn/src", "crates/cluster/src", "crates/solver/src", "python/src"]

# Memory maps, and instructions that not every processor has.
UNSAFE = {"src/games/othello/blocks/bits.rs", "src/games/othello/search/kernel.rs", "src/mmap.rs"}
LONGEST_FILE = 900

# Files, and folders with all of theirs, that name a built-in game; docs/decisions.md gives the reasons.
GAMES = (
    "src/games/",
    "src/registry.rs",
    "src/enumerate/driver.rs",
    "src/enumerate/by_block/",
    "src/table/rows/code.rs",
    "src/search/mates/",
    "crates/measure/src/policy/mate.rs",
    "crates/measure/src/policy/weights.rs",
    "crates/learn/src/minishogi/",
    "crates/cluster/src/",
    "crates/solver/src/cli/complete.rs",
    "crates/solver/src/cli/perft.rs",
    "crates/solver/src/cli/prove.rs",
    "crates/solver/src/cli/solve/mod.rs",
    "crates/solver/src/cli/train/",
)


def paths_in(tree, prefix=()):
    """Yields the paths of a use tree: `a::{b, c::d as e}` has `a::b` and `a::c::d`."""
    depth, item = 0, ""
    for character in tree + ",":
        if character == "," and depth == 0:
            item = item.strip()
            if found := re.match(r"(.*?)(?:::)?\{(.*)\}$", item, re.S):
                inner = tuple(name for name in found[1].split("::") if name)
                yield from paths_in(found[2], prefix + inner)
            elif item:
                yield prefix + tuple(item.split(" as ")[0].strip().split("::"))
            item = ""
            continue
        depth += (character == "{") - (character == "}")
        item += character


def code_of(text):
    """The text without comments and without the module of tests."""
    text = re.sub(r"//[^\n]*", "", text)
    return text.split("#[cfg(test)]\nmod tests")[0]


def names_a_game(text):
    """Returns `True` if code uses the rules of a built-in game by their names."""
    return bool(re.search(r"\bgames::(othello|shogi|connect_four|tictactoe)\b", code_of(text)))


def arrows_in(root):
    """Arrows between the modules below a directory: {module: {imported module: None}}."""
    modules = {}
    for path in sorted(root.rglob("*.rs")):
        names = list(path.relative_to(root).with_suffix("").parts)
        if names[-1] in ("mod", "lib", "main"):
            names.pop()
        if names and names[-1] == "tests":
            continue
        modules[tuple(names)] = modules.get(tuple(names), "") + code_of(path.read_text())

    def absolute(module, path):
        if path[0] == "crate":
            return path[1:]
        base = list(module)
        while path and path[0] in ("self", "super"):
            if path[0] == "super":
                base = base[:-1]
            path = path[1:]
        return tuple(base) + path

    def module_of(path):
        while path not in modules:
            path = path[:-1]
        return path

    uses = {
        module: [absolute(module, path) for tree in re.findall(r"\buse ([^;]+);", code) for path in paths_in(tree)]
        for module, code in modules.items()
    }
    # What a module imports, others import from it.
    from_here = {(module, path[-1]): path for module, paths in uses.items() for path in paths if path}

    def target_of(path):
        for _ in range(9):
            module = module_of(path)
            again = from_here.get((module, path[len(module)])) if len(path) > len(module) else None
            if not again or again == path or module_of(again) == module:
                return module
            path = again
        return module_of(path)

    arrows = {}
    for module, code in modules.items():
        inline = re.findall(r"\b(?:crate|super)(?:::\w+)+", re.sub(r"\buse [^;]+;", "", code))
        named = uses[module] + [absolute(module, tuple(path.split("::"))) for path in inline]
        targets = {target_of(path) for path in named}
        related = lambda other: module[: len(other)] == other or other[: len(module)] == module
        arrows[module] = {target for target in sorted(targets) if target and not related(target)}
    return arrows


def circles_in(arrows):
    """Modules that import themselves by way of others, each with those of its targets that lead back to it."""

    def reached(module):
        found, open_ = set(), list(arrows[module])
        while open_:
            target = open_.pop()
            if target not in found:
                found.add(target)
                open_.extend(arrows.get(target, ()))
        return found

    reach = {module: reached(module) for module in arrows}
    back = {module: {t for t in arrows[module] if module in reach.get(t, ())} for module in arrows}
    return {module: targets for module, targets in back.items() if targets}


def self_test():
    """A circle is found, also by way of a re-export; a tree passes."""
    cases = [
        ({"a.rs": "use crate::b::B;", "b.rs": "fn f() { crate::a::g() }"}, True),
        ({"mod.rs": "use a::A;\nmod a;", "a.rs": "use super::b::B;", "b.rs": "use super::A;"}, True),
        ({"a.rs": "use crate::{b::{B, C}, c};", "b.rs": "// crate::a", "c.rs": "use crate::b::B;"}, False),
        ({"a/mod.rs": "use b::B;\nstruct A;", "a/b.rs": "use super::A;"}, False),
    ]
    for files, expected in cases:
        with tempfile.TemporaryDirectory() as place:
            for name, text in files.items():
                path = Path(place, name)
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
            assert bool(circles_in(arrows_in(Path(place)))) == expected, files
    assert names_a_game("use yomikiri::games::shogi::Board;") and not names_a_game("// games::othello\nuse a::rules::Game;")
    print(f"{len(cases)} crates of the self test are as they should be")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = Path(__file__).resolve().parent.parent
    count = 0
    for crate in CRATES:
        circles = circles_in(arrows_in(root / crate))
        for module, targets in sorted(circles.items()):
            names = ", ".join("::".join(target) for target in sorted(targets))
            print(f"{crate}: {'::'.join(module)} -> {names}")
        count += len(circles)
        for path in sorted((root / crate).rglob("*.rs")):
            name, text = str(path.relative_to(root)), path.read_text()
            lines = text.count("\n")
            if lines > LONGEST_FILE:
                print(f"{name}: {lines} lines, at most {LONGEST_FILE} are allowed")
                count += 1
            if bool(re.search(r"(allow|expect)\(unsafe_code\)", text)) != (name in UNSAFE):
                print(f"{name}: differs from the list of files with unsafe code")
                count += 1
            if names_a_game(text) and not name.startswith(GAMES):
                print(f"{name}: names a game; take it as `&dyn Rules`, or argue for it in docs/decisions.md")
                count += 1
    sys.exit(bool(count))


if __name__ == "__main__":
    main()
