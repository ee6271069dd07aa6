"""Checks a folder of HTML pages: every link, anchor and image, and that nothing comes from elsewhere.

    check.py FOLDER        prints what is wrong, a line each, and exits with 1 if there is something

Addresses of other hosts are not asked, only listed by `Found.external`; those of 127.0.0.1 and localhost are a simulator's.
"""
import html.parser
import pathlib
import posixpath
import sys
import urllib.parse

#: Attributes that load a file, by element.
LOADS = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("video", "src"), ("object", "data")}


class Reader(html.parser.HTMLParser):
    """The ids, links and loaded files of a page."""

    def __init__(self):
        super().__init__()
        self.ids, self.links, self.loads, self.problems = [], [], [], []
        self.title = self.language = None
        self.levels = []
        self._in_title = False

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if values.get("id"):
            self.ids.append(values["id"])
        if tag == "html":
            self.language = values.get("lang")
        if tag == "title" and self.title is None:
            self._in_title, self.title = True, ""
        if tag == "a" and "href" in values:
            self.links.append(values["href"] or "")
        if tag == "img" and not (values.get("alt") or "").strip():
            self.problems.append(f"the image {values.get('src')} has no text that stands for it")
        if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            self.levels.append(int(tag[1]))
        for name, value in attributes:
            if (tag, name) in LOADS:
                self.loads.append(value or "")
            if name.startswith("on") or name == "style" and "url(" in (value or ""):
                self.problems.append(f"<{tag}> has the attribute {name}")

    def handle_data(self, data):
        if self._in_title:
            self.title += data

    def handle_endtag(self, tag):
        if tag == "title":
            self._in_title = False


class Found:
    def __init__(self):
        self.problems, self.external, self.local = [], {}, set()
        self.pages = self.links = self.files = 0


def check(folder, source_of=lambda page: ""):
    """Looks at all pages of a folder. `source_of` names the file that a page was made of, for the messages."""
    folder = pathlib.Path(folder)
    found = Found()
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    pages = {}
    for name in sorted(files):
        if name.endswith(".html"):
            reader = Reader()
            reader.feed((folder / name).read_text(encoding="utf-8"))
            reader.close()
            pages[name] = reader
    found.pages = len(pages)
    ids = {name: set(reader.ids) for name, reader in pages.items()}
    for name, reader in pages.items():
        place = f"{name} (made from {source_of(name)})" if source_of(name) else name

        def say(problem, place=place):
            found.problems.append(f"{place}: {problem}")

        for problem in reader.problems:
            say(problem)
        if not reader.title:
            say("it has no title")
        if not reader.language:
            say("it does not name its language")
        if reader.levels.count(1) != 1:
            say(f"it has {reader.levels.count(1)} headings of level 1; a page has one")
        seen = set()
        for one in reader.ids:
            if one in seen:
                say(f"the anchor {one!r} is there twice, so links lead to the first one alone")
            seen.add(one)
        for target, is_load in [(link, False) for link in reader.links] + [(load, True) for load in reader.loads]:
            parts = urllib.parse.urlsplit(target)
            if parts.scheme or parts.netloc:
                if is_load:
                    say(f"it loads {target}: a page of the site loads nothing from elsewhere")
                elif parts.scheme not in ("http", "https", "mailto"):
                    say(f"the link {target!r} is of the scheme {parts.scheme!r}; only http, https and mailto are allowed")
                elif parts.hostname in ("127.0.0.1", "localhost"):
                    found.local.add(target)
                else:
                    found.external.setdefault(target, name)
                continue
            found.links += 1
            found.files += is_load
            if target.startswith("/"):
                say(f"the link {target!r} begins with a slash: opened from a file, it leads out of the site")
                continue
            path = urllib.parse.unquote(parts.path)
            where = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
            if where not in files:
                say(f"{'the file' if is_load else 'the link'} {target!r} leads nowhere: there is no {where}")
            elif parts.fragment and where in ids and urllib.parse.unquote(parts.fragment) not in ids[where]:
                say(f"the link {target!r} names an anchor that {where} does not have{near(urllib.parse.unquote(parts.fragment), ids[where])}")
    return found


def near(anchor, ids):
    """The anchor that was probably meant, in words."""
    import difflib
    close = difflib.get_close_matches(anchor, ids, 1)
    return f"; the nearest is #{close[0]}" if close else ""


if __name__ == "__main__":
    if len(sys.argv) != 2 or not pathlib.Path(sys.argv[1]).is_dir():
        sys.exit("usage: check.py FOLDER, a folder of HTML pages")
    result = check(sys.argv[1])
    print("\n".join(result.problems) or f"{result.pages} pages, {result.links} links, {len(result.external)} external ones not asked")
    sys.exit(1 if result.problems else 0)
