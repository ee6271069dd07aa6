"""Markdown to HTML for `make site`: anchors as GitHub makes them, links between pages, tables that read on a phone, text for the search."""
import html
import posixpath
import re
import urllib.parse

from markdown_it import MarkdownIt
from markdown_it.token import Token


def plain(token):
    """The text of an inline token, without its marks."""
    parts = []
    for child in token.children or []:
        if child.type in ("text", "code_inline"):
            parts.append(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif child.type == "image":
            parts.append(plain(child))
    return "".join(parts)


def slug(text):
    """The anchor that GitHub makes of a heading."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


class Anchors:
    """The anchors of one page. A second heading of the same text gets `-1`, the next one `-2`."""

    def __init__(self, taken=()):
        self.taken = set(taken)

    def add(self, text):
        base = slug(text) or "section"
        name, number = base, 0
        while name in self.taken:
            number += 1
            name = f"{base}-{number}"
        self.taken.add(name)
        return name


def heading(level, anchor, inner, text):
    """A heading with a link to itself."""
    return (f'<h{level} id="{html.escape(anchor)}">{inner} '
            f'<a class="anchor" href="#{quote_anchor(anchor)}" aria-label="{html.escape(f"Link to “{text}”")}">#</a></h{level}>')


def quote_path(path):
    return urllib.parse.quote(path, safe="/-._~")


def quote_anchor(anchor):
    return urllib.parse.quote(anchor, safe="-._~")


class Rendered:
    """What a document became.

    - `html`: the page's inner HTML, with the title left out.
    - `title`: the text of the first heading of level 1, or None.
    - `headings`: (level, anchor, text) of all others.
    - `sections`: (anchor or "", heading or "", text) for the search.
    """

    def __init__(self):
        self.html, self.title, self.title_html, self.headings, self.sections = "", None, "", [], []


class Prose:
    """Renders Markdown.

    `resolve(target, is_image)` gives the address for a link's target as the document has it. It records what leads nowhere.
    """

    def __init__(self):
        self.md = MarkdownIt("commonmark", {"html": True}).enable("table")
        rules = {
            "html_block": self._foreign, "html_inline": self._foreign, "table_open": self._table_open,
            "table_close": lambda *_: "</table></div>\n", "site_anchor": lambda tokens, index, *_: tokens[index].content,
        }
        for name, rule in rules.items():
            self.md.add_render_rule(name, lambda renderer, tokens, index, options, env, rule=rule: rule(tokens, index, env))

    @staticmethod
    def _foreign(tokens, index, _):
        """Comments say how a test treats a block. Anything else is text: no document brings elements of its own."""
        text = re.sub(r"<!--.*?-->", "", tokens[index].content, flags=re.S)
        return html.escape(text) if text.strip() else ""

    @staticmethod
    def _table_open(tokens, index, _):
        return f'<div class="table"><table class="c{tokens[index].meta.get("columns", 0)}">\n'

    def inline(self, text, resolve=None):
        """The HTML of one line of Markdown."""
        tokens = self.md.parseInline(text)
        self._link(tokens, resolve or (lambda target, _: target))
        return self.md.renderer.render(tokens, self.md.options, {})

    def block(self, text, resolve=None, deeper=0, anchors=None):
        """The HTML of Markdown that is a part of a page: its headings are lower by `deeper`."""
        return self.render(text, resolve, anchors or Anchors(), deeper, keep_title=True).html

    def render(self, text, resolve=None, anchors=None, deeper=0, keep_title=False):
        resolve = resolve or (lambda target, _: target)
        anchors = anchors or Anchors()
        found = Rendered()
        tokens = self.md.parse(text)
        self._link(tokens, resolve)
        self._label_tables(tokens)
        kept, skip_until = [], None
        section = ["", "", []]
        for index, token in enumerate(tokens):
            if skip_until is not None:
                if token.type == skip_until:
                    skip_until = None
                continue
            if token.type == "heading_open":
                inline = tokens[index + 1]
                said = plain(inline)
                if token.tag == "h1" and not keep_title and found.title is None:
                    found.title = said
                    found.title_html = self.md.renderer.render(inline.children, self.md.options, {})
                    skip_until = "heading_close"
                    continue
                level = min(int(token.tag[1]) + deeper, 6)
                anchor = anchors.add(said)
                token.tag = f"h{level}"
                tokens[index + 2].tag = token.tag
                token.attrSet("id", anchor)
                link = Token("site_anchor", "", 0)
                link.content = (f' <a class="anchor" href="#{quote_anchor(anchor)}" '
                                f'aria-label="{html.escape(f"Link to “{said}”")}">#</a>')
                inline.children.append(link)
                found.headings.append((level, anchor, said))
                found.sections.append((section[0], section[1], " ".join(section[2])))
                section = [anchor, said, []]
            elif token.type == "inline" and tokens[index - 1].type != "heading_open":
                section[2].append(plain(token))
            elif token.type in ("fence", "code_block"):
                section[2].append(token.content)
            kept.append(token)
        found.sections.append((section[0], section[1], " ".join(section[2])))
        found.sections = [(anchor, name, re.sub(r"\s+", " ", text).strip()) for anchor, name, text in found.sections]
        found.html = self.md.renderer.render(kept, self.md.options, {})
        return found

    def _link(self, tokens, resolve):
        for token in tokens:
            if token.type == "link_open":
                token.attrSet("href", resolve(token.attrGet("href") or "", False))
            elif token.type == "image":
                token.attrSet("src", resolve(token.attrGet("src") or "", True))
                token.attrSet("loading", "lazy")
            if token.children:
                self._link(token.children, resolve)

    @staticmethod
    def _label_tables(tokens):
        """On a phone a row is a card, whose cells are labelled with the columns' names."""
        names, column, table = [], 0, None
        for index, token in enumerate(tokens):
            if token.type == "table_open":
                names, table = [], token
            elif token.type == "tr_open":
                column = 0
            elif token.type == "th_open":
                names.append(plain(tokens[index + 1]))
                table.meta["columns"] = len(names)
            elif token.type == "td_open":
                if column < len(names) and names[column]:
                    token.attrSet("data-label", names[column])
                column += 1


def relative(url, page):
    """The address of a page of the site, as seen from another one. Both are addresses from the site's folder, perhaps with an anchor."""
    path, mark, anchor = url.partition("#")
    if path == page and mark:
        return f"#{anchor}"
    return posixpath.relpath(path, posixpath.dirname(page) or ".") + mark + anchor
