"""The pages of the API: the server's page of all routes, cut into a page for each part, one for the errors that routes share and one for the
shapes. The server makes it from the OpenAPI description; here it has the site's frame and search, and not the forms that need a server."""
import html
import html.parser
import re

from frame import Page
from prose import heading, slug

#: The parts at the end of the server's page, with their address, and what stands above them here.
LAST = {
    "Errors": ("api-errors.html", "Shared answers",
               'Answers that several routes give. What each error means, and how to get it: <a href="errors.html">Errors</a>.'),
    "Shapes": ("api-shapes.html", "Shapes", "What bodies are made of, by name. Routes link here."),
}


MISFIT = "the server's page of the routes %s: site/api.py does not fit Sources/Server/Documentation/page.mustache"


class Entry:
    """A route, an error or a shape: its anchor, title and HTML. `method` and `path` are a route's."""

    def __init__(self, attributes):
        self.anchor = attributes["id"]
        self.method, self.path = attributes.get("data-method"), attributes.get("data-path")
        self.title, self.html = [], []


class Cutter(html.parser.HTMLParser):
    """Reads the server's page into `parts`, a list of (name, HTML of the introduction, entries). The first has no name."""

    TABLE = ('<div class="table"><table class="c3"><thead><tr><th>name</th><th>type</th><th>meaning</th></tr></thead><tbody>', "</tbody></table></div>")
    #: What the site's style calls things of the server's page.
    OPENED = {"h4": '<h3 class="quiet">', "table": TABLE[0], "details": '<details class="answer">'}
    CLOSED = {"h4": "</h3>", "table": TABLE[1]}

    def __init__(self):
        super().__init__(convert_charrefs=False)
        self.parts = []
        #: Where HTML goes, and the element whose end stops that. None outside of what is taken.
        self.sink = self.until = None
        self.entry, self.is_main = None, False
        #: The element of the server's own that is left out, and how many of its name are open in it.
        self.skipped, self.depth = None, 0

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == self.skipped:
            self.depth += 1
        if self.skipped or not self.is_main:
            self.is_main = self.is_main or tag == "main"
        elif "tool" in (values.get("class") or "").split():
            self.skipped, self.depth = tag, 1
        elif self.entry and tag in ("section", "article"):
            raise ValueError(MISFIT % f"does not end {self.entry.anchor}")
        elif tag == "section":
            self.parts.append(["", [], []])
        elif tag == "article":
            self.entry = Entry(values)
            self.parts[-1][2].append(self.entry)
            self.sink, self.until = self.entry.html, "article"
        elif tag == "h3" and self.entry:
            self.sink = self.entry.title
        elif tag == "h2":
            self.sink, self.until = [], "h2"
        elif tag == "div" and values.get("class") == "lead":
            self.sink, self.until = self.parts[-1][1], "div"
        elif self.sink is not None:
            self._take(tag, values)

    def _take(self, tag, values):
        if tag == "a" and values.get("class") == "path":
            self.sink.append('<span class="mono">')
        elif tag == "p" and values.get("class") == "error":
            self.sink.append('<p class="answer">')
        else:
            self.sink.append(self.OPENED.get(tag) or self.get_starttag_text())

    def handle_endtag(self, tag):
        if self.skipped:
            self.depth -= tag == self.skipped
            self.skipped = self.skipped if self.depth else None
        elif self.sink is None:
            self.is_main = self.is_main and tag != "main"
        elif self.entry and tag == "h3":
            self.sink = self.entry.html
        elif tag == self.until:
            if tag == "h2":
                self.parts[-1][0] = html.unescape("".join(self.sink))
            self.sink = self.until = self.entry = None
        else:
            in_title = self.entry and self.sink is self.entry.title
            self.sink.append("</span>" if in_title and tag == "a" else self.CLOSED.get(tag) or f"</{tag}>")

    def handle_data(self, data):
        if self.sink is not None and not self.skipped:
            self.sink.append(data)

    def handle_entityref(self, name):
        self.handle_data(f"&{name};")

    def handle_charref(self, name):
        self.handle_data(f"&#{name};")


def words(parts):
    """The text of HTML, for the search. An answer that routes share is found once, on its own page."""
    text = re.sub(r'<p class="answer">.*?</p>', "", "".join(parts), flags=re.S)
    text = re.sub(r"</?(?:a|b|code|em|span|strong|wbr)\b[^>]*>", "", text)
    return html.unescape(re.sub(r"<[^>]*>", " ", text))


class Api:
    """`text` is the server's page; `source` the description's name, which pages show."""

    def __init__(self, text, source):
        self.source = source
        cutter = Cutter()
        cutter.feed(text)
        cutter.close()
        if len(cutter.parts) < 2 or cutter.sink is not None:
            raise ValueError(MISFIT % "has no parts")
        self.introduction, self.parts = cutter.parts[0], cutter.parts[1:]
        self.page_of = {}

    def pages(self):
        index = Page("api.html", "The API", self.source, short="All routes")
        pages = [self._page(name, entries) for name, _, entries in self.parts]
        for page, (name, lead, entries) in zip(pages, self.parts):
            self._write(page, LAST[name][2] if name in LAST else "".join(lead), entries)
        self._write_index(index, pages)
        return [index, *pages]

    def _page(self, name, entries):
        url, title, _ = LAST.get(name, (f"api-{slug(name)}.html", f"API: {name}", ""))
        page = Page(url, title, self.source, short=LAST[name][1] if name in LAST else name)
        self.page_of.update({entry.anchor: page for entry in entries})
        return page

    def _linked(self, parts, page):
        """HTML whose links lead to the pages of their anchors."""
        def target(found):
            other = self.page_of.get(html.unescape(found[1]))
            return found[0] if other in (None, page) else f'href="{page.to(f"{other.url}#{found[1]}")}"'
        text = "".join(parts).replace("".join(Cutter.TABLE), "")
        return re.sub(r'href="#([^"]*)"', target, text)

    def _write(self, page, lead, entries):
        page.html = f'<div class="lead">{lead}</div>'
        page.sections = [("", "", words(lead))]
        for entry in entries:
            name = " ".join(words(entry.title).split())
            page.headings.append((2, entry.anchor, name))
            page.html += heading(2, entry.anchor, "".join(entry.title).strip(), name) + self._linked(entry.html, page)
            page.sections.append((entry.anchor, name, words(entry.html)))

    def _write_index(self, index, pages):
        index.html = "".join(self.introduction[1])
        index.sections = [("", "", words(index.html))]
        index.html += ('<p>The running program serves the same as <a href="http://127.0.0.1:8642/_sim/docs">a page on which each route can be tried</a>, '
                       'and as <code>/openapi.json</code> and <code>/openapi.yaml</code> for tools.</p>')
        for page, (name, lead, entries) in zip(pages, self.parts):
            if name in LAST:
                continue
            anchor = slug(name)
            index.headings.append((2, anchor, name))
            index.html += heading(2, anchor, f'<a href="{index.to(page.url)}">{html.escape(name)}</a>', name) + "".join(lead)
            rows = "".join(self._row(index, page, entry) for entry in entries)
            index.html += ('<div class="table"><table class="routes"><thead><tr><th>method</th><th>path</th><th>what it does</th></tr></thead>'
                           f"<tbody>{rows}</tbody></table></div>")

    @staticmethod
    def _row(index, page, entry):
        """A route's line: the first thing of its HTML is its summary."""
        summary = re.search(r"<strong>(.*?)\.?</strong>", "".join(entry.html), re.S)
        if not summary or entry.path is None:
            raise ValueError(MISFIT % f"has no path or summary for {entry.anchor}")
        path = html.escape(entry.path).replace("/", "/<wbr>")
        return (f'<tr><td><span class="method {entry.method}">{entry.method}</span></td><td><a class="mono" '
                f'href="{index.to(page.url + "#" + entry.anchor)}">{path}</a></td><td>{summary[1]}</td></tr>')
