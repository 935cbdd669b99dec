"""Hooks of MkDocs: pages outside docs/, and links that hold in the repository translated to links that hold on the site.

A link in a page is relative to the page's file in the repository. If it leads to a page, the site's page takes its place. Other files
outside docs/ are copied to `files/` on the site, or linked at `repo_url` if that is set. A link to a directory is left out.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
# Pages outside docs/, and their places on the site.
PAGES = {
    "README.md": "overview.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
FENCED = re.compile(r"^( {0,3}(`{3,}|~{3,})[^\n]*\n.*?^ {0,3}\2[`~]*[ \t]*$)", re.DOTALL | re.MULTILINE)
# Inline code, or a link.
SPAN = re.compile(
    r"(?P<code>(?P<tick>`+)(?:(?!\n\n).)+?(?<!`)(?P=tick)(?!`))"
    r"|(?P<head>!?\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\()(?P<target>[^)\s]+)(?P<tail>[^)]*\))",
    re.DOTALL,
)


def on_files(files, config):
    """Adds the pages outside docs/ and the files that pages link to."""
    for source, place in PAGES.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / source)))
    for file in list(files.documentation_pages()):
        for target in outside(file):
            place = f"files/{target}"
            if not config.repo_url and files.get_file_from_path(place) is None:
                files.append(File.generated(config, place, abs_src_path=str(ROOT / target)))
    return files


def on_page_markdown(markdown, page, config, files):
    """Translates the links of a page."""
    return translated(markdown, origin(page.file), page.file.src_uri, config.repo_url)


def origin(file):
    """Path of a page in the repository."""
    for source, place in PAGES.items():
        if file.src_uri == place:
            return source
    return f"docs/{file.src_uri}"


def outside(file):
    """Files outside docs/ that a page links to and that are no pages themselves."""
    path = origin(file)
    parts = FENCED.split((ROOT / path).read_text())
    for span in (span for part in parts[::3] for span in SPAN.finditer(part)):
        to = resolved(path, span["target"])
        if to and to not in PAGES and not to.startswith("docs/") and (ROOT / to).is_file():
            yield to


def resolved(path, target):
    """Path in the repository that a link of a page leads to; None for anchors and addresses."""
    where = (target or "").partition("#")[0]
    if not where or re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:", where):
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), where))


def translated(markdown, path, place, repo_url=None):
    """Translates the links of a page at `path` in the repository and `place` on the site."""

    def span(found):
        if found["code"]:
            # GitHub needs this escape in tables; here it would be shown.
            return found["code"].replace("\\|", "|")
        target = found["target"]
        to = resolved(path, target)
        if to is None:
            return found[0]
        anchor = target.partition("#")[1:]
        if (ROOT / to).is_dir():
            return found["text"]
        if to in PAGES:
            new = PAGES[to]
        elif to.startswith("docs/"):
            new = to.removeprefix("docs/")
        elif repo_url:
            return f"{found['head']}{repo_url.rstrip('/')}/blob/HEAD/{to}{''.join(anchor)}{found['tail']}"
        else:
            new = f"files/{to}"
        new = posixpath.relpath(new, posixpath.dirname(place) or ".")
        text = SPAN.sub(span, found["head"]) if "`" in found["head"] else found["head"]
        return f"{text}{new}{''.join(anchor)}{found['tail']}"

    # Every third part is prose; a fenced block and its fence are between.
    parts = FENCED.split(markdown)
    return "".join(SPAN.sub(span, part) if at % 3 == 0 else part for at, part in enumerate(parts) if at % 3 != 2)
