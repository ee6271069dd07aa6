#!/usr/bin/env python3
"""Builds the site of the documents: guides, errors, the map of fidelity, the API and the Swift libraries, in one folder that opens from disk.

    site/build.py [--program .build/debug/entrupy-sim] [--out dist/site] [--docc dist/docs] [--external]

`make site` runs it. It makes a virtual environment in .build/site with the library that reads Markdown. The pages of the API are the one
that the program serves at `/_sim/docs`, in parts; without a program they are missing. `--docc` takes what `make docs` left; without that
folder there are no pages of the Swift libraries. At the end every link, anchor and image is checked: a broken one is printed with the
document that has it, and the exit status is 1. Addresses elsewhere are not asked: they are listed in .build/site/external-links.txt, and
printed with `--external`.
"""
import argparse
import html
import json
import os
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys
import urllib.parse
import venv

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
ENVIRONMENT = ROOT / ".build" / "site"
REQUIREMENTS = ["markdown-it-py==3.0.0"]


def enter():
    """Goes on in the virtual environment, which is made if it is not there."""
    if os.environ.get("ENTRUPY_SIM_SITE"):
        return
    stamp = ENVIRONMENT / "installed"
    if not stamp.exists() or stamp.read_text() != "\n".join(REQUIREMENTS):
        print(f"Installing {' and '.join(REQUIREMENTS)} in {ENVIRONMENT.relative_to(ROOT)}.", flush=True)
        venv.create(ENVIRONMENT, clear=True, with_pip=True)
        subprocess.run([ENVIRONMENT / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", *REQUIREMENTS], check=True)
        stamp.write_text("\n".join(REQUIREMENTS))
    python = ENVIRONMENT / "bin" / "python3"
    os.execve(python, [python, "-B", *sys.argv], {**os.environ, "ENTRUPY_SIM_SITE": "1"})


enter()
sys.path[:0] = [str(HERE), str(ROOT / "Tests/Support")]

import check  # noqa: E402
import fidelity  # noqa: E402
from api import Api  # noqa: E402
from frame import LOGO, Page, framed  # noqa: E402
from prose import Anchors, Prose, quote_anchor, quote_path, relative  # noqa: E402
from simulator import Client, Simulator  # noqa: E402
from swift import Swift  # noqa: E402

#: The list of pages. A page of docs that no group names is in the last one of guides, so that none is forgotten.
GROUPS = [
    ("Begin", ["README.md", "docs/README.md", "docs/why-not-a-mock.md", "docs/start-backend.md", "docs/start-app.md", "docs/start-tester.md",
               "docs/start-ci.md"]),
    ("Guides", ["docs/backend.md", "docs/app.md", "docs/components.md", "docs/testing.md", "docs/control.md", "docs/scenarios.md", "docs/console.md"]),
    ("Find out why", ["docs/errors.md", "docs/evidence.md", "docs/coverage.md", "docs/post-mortem.md"]),
    ("The server", ["docs/server.md", "docs/https.md", "docs/packages.md", "docs/upgrading.md", "CHANGELOG.md", "SECURITY.md"]),
    ("What it promises", ["docs/fidelity.md", "docs/promises.md", "docs/benchmarks.md"]),
    ("Recipes and examples", ["recipes/*/README.md", "Examples/*/README.md", "skills/*/SKILL.md"]),
    ("Contributing", ["CONTRIBUTING.md", "docs/architecture.md", "AGENTS.md"]),
]
OTHERS = "Guides"
#: How much a hit counts in the search, by group: what explains a thing comes before what mentions it.
WEIGHTS = {"Guides": 1.3, "Find out why": 1.3, "The server": 1.2, "What it promises": 0.9, "Contributing": 0.8}
#: Short names for the list of pages, where the first heading is long or says too little there.
SHORT = {
    "README.md": "Overview", "docs/README.md": "All documents", "CHANGELOG.md": "Changes", "SECURITY.md": "Security",
    "AGENTS.md": "For coding agents", "skills/entrupy-sim/SKILL.md": "A skill for coding agents",
    "docs/why-not-a-mock.md": "Why not a mock?",
}
FILES = {".jpg", ".jpeg", ".png", ".svg", ".gif", ".mp4"}
#: The longest file that becomes a page of its own; a longer one is copied as it is.
LONGEST = 150_000


class Site:
    """`program` makes the pages of the API, which are left out without it."""

    def __init__(self, root, out, docc=None, program=None):
        self.root, self.out, self.docc, self.program = root, out, docc, program
        self.version = (root / "VERSION").read_text(encoding="utf-8").strip()
        self.prose, self.problems = Prose(), []
        self.pages, self.by_source, self.groups = [], {}, []
        self.copies, self.shown_files = set(), {}

    def build(self):
        self.find_documents()
        special = {}
        if (self.root / "docs/fidelity.md").exists():
            special["docs/fidelity.md"] = lambda: fidelity.page(self.root, self.resolver)
        for source, page in list(self.by_source.items()):
            if source in special:
                made = special[source]()
                page.__dict__.update(made.__dict__)
            else:
                self.write_document(source, page)
        self.add_api()
        self.add_swift()
        self.save()

    def find_documents(self):
        """The documents, in groups."""
        found = set()
        groups = []
        for name, patterns in GROUPS:
            sources = []
            for pattern in patterns:
                sources += [path for path in sorted(self.root.glob(pattern)) if path.is_file()]
            groups.append((name, [path.relative_to(self.root).as_posix() for path in sources]))
            found.update(groups[-1][1])
        rest = [path.relative_to(self.root).as_posix() for path in sorted((self.root / "docs").glob("*.md"))]
        for name, sources in groups:
            if name == OTHERS:
                sources += [source for source in rest if source not in found]
        taken = set()
        for name, sources in groups:
            pages = []
            for source in sources:
                page = Page(quote_path(self.url_of(source)), source, source, name)
                while page.url in taken:
                    page.url = page.url.replace(".html", "-.html")
                taken.add(page.url)
                page.weight = 0.5 if source == "CHANGELOG.md" else WEIGHTS.get(name, 1.0)
                self.by_source[source] = page
                pages.append(page)
            if pages:
                self.groups.append((name, pages))
                self.pages += pages

    @staticmethod
    def url_of(source):
        special = {"README.md": "index.html", "docs/README.md": "documents.html"}
        if source in special:
            return special[source]
        parts = source.split("/")
        if parts[0] == "docs":
            return parts[1].removesuffix(".md") + ".html"
        if len(parts) == 1:
            return parts[0].removesuffix(".md").lower() + ".html"
        return {"recipes": "recipe", "Examples": "example", "skills": "skill"}[parts[0]] + f"-{parts[1].lower()}.html"

    def write_document(self, source, page):
        text = (self.root / source).read_text(encoding="utf-8")
        front = re.match(r"---\n(.*?)\n---\n", text, re.S)
        lead = ""
        if front:
            text = text[front.end():]
            described = re.search(r"^description: *(.*(?:\n +.*)*)", front.group(1), re.M)
            lead = f'<p class="lead">{html.escape(" ".join(described.group(1).split()).strip(chr(34)))}</p>' if described else ""
        done = self.prose.render(text, self.resolver(page), Anchors({"main", "find", "hits", "said"}))
        if done.title is None:
            self.problems.append(f"{source}: it has no heading of level 1, which names its page")
        page.title = done.title or source
        page.title_html = done.title_html or html.escape(source)
        page.short = SHORT.get(source, page.title)
        page.html, page.headings, page.sections = lead + done.html, done.headings, done.sections

    # MARK: Links

    def resolver(self, page):
        """What a link of a page's document becomes."""
        folder = posixpath.dirname(page.source)

        def resolve(target, is_image):
            if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:", target) or target.startswith("//"):
                return target
            if target.startswith("#"):
                return target
            path, _, anchor = target.partition("#")
            path = posixpath.normpath(posixpath.join(folder, urllib.parse.unquote(path)))
            url = self.url_for(path, is_image)
            if url is None:
                what = "the image" if is_image else "the link"
                self.problems.append(f"{page.source}: {what} {target!r} leads nowhere: the repository has no {path}")
                return target
            mark = f"#{quote_anchor(urllib.parse.unquote(anchor))}" if anchor else ""
            return relative(url, page.url) + mark
        return resolve

    def url_for(self, path, is_image=False):
        """The page or copy of a file or folder of the repository; None if there is no such file."""
        place = self.root / path
        if path.startswith("..") or not place.exists():
            return None
        for source in (path, f"{path}/README.md".removeprefix("./")):
            if source in self.by_source and not is_image:
                return self.by_source[source].url
        if path == "openapi/entrupy-sim.yaml" and not is_image:
            return "api.html"
        if path in ("docs", "."):
            return "documents.html" if "docs/README.md" in self.by_source else None
        if is_image and not place.is_file():
            return None
        if is_image or place.is_file() and (place.suffix in FILES or place.stat().st_size > LONGEST):
            self.copies.add(path)
            return quote_path(f"files/{path}")
        return self.show_file(path)

    def show_file(self, path):
        """The page of a file that a document links to, or of the list of a folder's files."""
        if path in self.shown_files:
            return self.shown_files[path].url
        place = self.root / path
        page = Page(quote_path(f"files/{path}.html"), path, path)
        page.title_html, page.weight = f'<span class="mono">{html.escape(path)}</span>', 0.3
        self.shown_files[path] = page
        if place.is_dir():
            names = [entry for entry in sorted(place.iterdir()) if entry.is_file() and not entry.name.startswith(".") and not entry.is_symlink()]
            rows = "".join(f'<li><a href="{page.to(self.url_for(f"{path}/{entry.name}"))}" class="mono">{html.escape(entry.name)}</a></li>' for entry in names)
            page.html = f"<ul>{rows}</ul>"
        elif place.suffix == ".md":
            page.html = self.prose.render(place.read_text(encoding="utf-8"), lambda target, _: target, Anchors({"main", "find", "hits", "said"})).html
        else:
            page.html = f"<pre><code>{html.escape(place.read_text(encoding='utf-8', errors='replace'))}</code></pre>"
        page.sections = []
        return page.url

    # MARK: Other sources

    def add_api(self):
        if not self.program:
            return
        server = Simulator(self.program, "--in-memory")
        try:
            page = Client(server).must("GET", "/_sim/docs").decode()
        finally:
            server.stop()
        api = Api(page, "openapi/entrupy-sim.yaml").pages()
        self.groups.insert(4, ("API", api))
        self.pages += api

    def add_swift(self):
        if not self.docc:
            return
        modules = [path.name for path in sorted((self.root / "Sources").iterdir()) if path.is_dir()]
        pages = Swift(self.docc, modules).pages()
        firsts = [page for page, is_first in pages if is_first]
        if not firsts:
            self.problems.append(f"{self.docc}: it has no documentation of a library; run make docs")
        self.groups.insert(5, ("Swift libraries", sorted(firsts, key=lambda page: page.title)))
        self.pages += [page for page, _ in pages]

    # MARK: Files

    def save(self):
        if self.out.exists():
            shutil.rmtree(self.out)
        self.out.mkdir(parents=True)
        pages = self.pages + list(self.shown_files.values())
        for page in pages:
            path = self.out / urllib.parse.unquote(page.url)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(framed(page, self.groups, self.version), encoding="utf-8")
        for name in sorted(self.copies):
            path = self.out / "files" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.root / name, path)
        (self.out / "site.css").write_text(colours() + (HERE / "site.css").read_text(encoding="utf-8"), encoding="utf-8")
        shutil.copyfile(HERE / "site.js", self.out / "site.js")
        (self.out / "icon.svg").write_text(
            LOGO.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" fill="#1f4fbf" ').replace(' aria-hidden="true"', ""), encoding="utf-8")
        (self.out / "search-index.js").write_text(index(pages), encoding="utf-8")
        sources = {urllib.parse.unquote(page.url): page.source for page in pages}
        self.found = check.check(self.out, lambda name: sources.get(name, ""))
        self.problems += self.found.problems


def colours():
    """The colours and type of the console: its style up to the frame of its pages. The site has no colours of its own."""
    text = (ROOT / "Sources/Console/Assets/console.css").read_text(encoding="utf-8")
    end = text.find("/* The frame of every page. */")
    if end < 0 or "prefers-color-scheme: dark" not in text[:end]:
        sys.exit('site/build.py: Sources/Console/Assets/console.css has no part before "/* The frame of every page. */" with the colours of both schemes')
    return text[:end]


def index(pages):
    """The index of the search, as a script: a page that was opened from a file may not fetch anything.

    `pages` is (address, title, weight, group), `sections` (number of the page, anchor, heading, text).
    """
    listed, sections = [], []
    for page in pages:
        group = page.group or ("API" if page.url.startswith("api") else "Swift" if page.url.startswith("swift/") else "Files")
        listed.append([page.url, page.title, page.weight, group])
        for anchor, name, text in page.sections or [("", "", "")]:
            sections.append([len(listed) - 1, quote_anchor(anchor), name, re.sub(r"\s+", " ", re.sub(r"[*`]", "", text)).strip()])
    data = json.dumps({"pages": listed, "sections": sections}, ensure_ascii=False, separators=(",", ":"))
    # A closing tag in it would end the script if the file were ever put into a page.
    return "window.siteIndex = " + data.replace("</", "<\\/") + ";\n"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--out", type=pathlib.Path, default=ROOT / "dist/site")
    options.add_argument("--program", type=pathlib.Path, help="the entrupy-sim whose page of the routes the site has")
    options.add_argument("--docc", type=pathlib.Path, help="the folder that make docs made")
    options.add_argument("--root", type=pathlib.Path, default=ROOT, help=argparse.SUPPRESS)
    options.add_argument("--external", action="store_true", help="print the links to other hosts")
    options = options.parse_args()
    if options.docc and not (options.docc / "data/documentation").is_dir():
        sys.exit(f"site/build.py: {options.docc} has no documentation in data/documentation; run make docs")
    if options.program and not os.access(options.program, os.X_OK):
        sys.exit(f"site/build.py: {options.program} is no program; run make build")
    site = Site(options.root.resolve(), options.out.resolve(), options.docc, options.program and options.program.resolve())
    try:
        site.build()
    except (fidelity.Mistake, ValueError) as mistake:
        sys.exit(f"site/build.py: {mistake}")
    listed = "".join(f"{address} (first in {page})\n" for address, page in sorted(site.found.external.items()))
    ENVIRONMENT.joinpath("external-links.txt").write_text(listed, encoding="utf-8")
    if options.external:
        print(listed, end="")
    if site.problems:
        print("\n".join(site.problems), file=sys.stderr)
        print(f"the site has {len(site.problems)} mistakes", file=sys.stderr)
        return 1
    missing = ("" if options.program else "; without the API") + ("" if options.docc else "; without the Swift libraries")
    print(f"{options.out}/index.html: {site.found.pages} pages, {site.found.links} links within the site, all of which lead somewhere, "
          f"{len(site.found.external)} to other hosts, not asked{missing}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
