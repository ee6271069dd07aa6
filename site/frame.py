"""The frame of every page of the site: header, list of pages, list of headings."""
import html

from prose import relative

LOGO = ('<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M12 2 3 7v10l9 5 9-5V7zm0 2.3 6.6 3.7L12 11.6 5.4 8zM5 9.7l6 3.4v6.6l-6-3.4zm8 '
        '10V13l6-3.4v6.7z"/></svg>')


class Page:
    """A page of the site. `url` is its address in the site's folder, with percent signs where a name needs them; `source` the file
    that it is made of."""

    def __init__(self, url, title, source="", group="", short=""):
        self.url, self.title, self.source, self.group = url, title, source, group
        self.short = short or title
        self.title_html, self.html, self.headings, self.sections = html.escape(title), "", [], []
        #: How much a hit in it counts in the search.
        self.weight = 1.0

    def to(self, url):
        """The address of another page, as seen from this one, ready for an attribute."""
        return html.escape(relative(url, self.url))


def contents(page):
    return "".join(
        f'<li class="h{level}"><a href="#{html.escape(anchor)}">{html.escape(text).replace("/", "/<wbr>")}</a></li>'
        for level, anchor, text in page.headings if level in (2, 3))


def framed(page, groups, version):
    """The whole HTML of a page. `groups` are (name, pages) for the list of pages."""
    side = []
    for name, pages in groups:
        links = "".join(
            f'<li><a href="{page.to(other.url)}"{" aria-current=page" if other is page else ""}>{html.escape(other.short)}</a></li>'
            for other in pages)
        side.append(f"<h2>{html.escape(name)}</h2><ul>{links}</ul>")
    found = contents(page)
    inside = outside = ""
    if len([level for level, _, _ in page.headings if level in (2, 3)]) > 1:
        inside = f'<details class="toc inside"><summary>On this page</summary><ul>{found}</ul></details>'
        outside = f'<nav class="toc outside" aria-label="On this page"><h2>On this page</h2><ul>{found}</ul></nav>'
    root = page.to("index.html")[:-len("index.html")]
    source = f'<p class="dim origin">Made from <code>{html.escape(page.source)}</code></p>' if page.source else ""
    name = "entrupy-sim" if page.url == "index.html" else f"{page.title} · entrupy-sim"
    return f"""<!doctype html>
<html lang="en" data-root="{root}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{html.escape(name)}</title>
<link rel="icon" href="{root}icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="{root}site.css">
<script src="{root}site.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header class="bar">
<a class="brand" href="{root}index.html">{LOGO}entrupy-sim</a> <span class="dim">{html.escape(version)}</span>
<input class="unfold" type="checkbox" aria-label="Show the list of pages">
<form class="find script" role="search">
<label class="visually-hidden" for="find">Search all pages</label>
<input id="find" type="search" placeholder="Search" aria-keyshortcuts="/" autocomplete="off" spellcheck="false" maxlength="100" role="combobox" aria-expanded="false" aria-controls="hits" aria-autocomplete="list">
<div id="hits" class="popup" role="listbox" aria-label="Search results" hidden></div>
<p id="said" class="visually-hidden" role="status"></p>
</form>
</header>
<div class="frame{'' if outside else ' two'}">
<nav class="side" aria-label="Pages">{"".join(side)}</nav>
<main id="main" tabindex="-1">
<h1>{page.title_html}</h1>
{inside}
{page.html}
{source}
</main>
{outside}
</div>
</body>
</html>
"""
