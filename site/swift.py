"""The documentation of the Swift libraries, from what `make docs` left: DocC's pages are a program that needs a server, these are HTML.

A type has a page with its members; nested types have pages of their own. Symbols of other modules, such as Foundation's, and those
that the compiler makes for a conformance are left out.
"""
import html
import json
import pathlib
import re

from frame import Page
from prose import Anchors, heading, quote_anchor, quote_path

CONTAINERS = {"struct", "class", "enum", "protocol", "actor"}
WORDS = {"struct": "Structure", "class": "Class", "enum": "Enumeration", "protocol": "Protocol", "actor": "Actor", "module": "Library"}


class Node:
    def __init__(self, data):
        self.data = data
        # References spell paths in lower case; DocC keeps them apart in it.
        self.path = data["identifier"]["url"].removeprefix("doc://").split("/", 1)[1].lower()
        meta = data["metadata"]
        self.title, self.kind = meta.get("title", ""), meta.get("symbolKind") or meta.get("role")
        self.parent = self.path.rsplit("/", 1)[0]
        self.module = self.path.split("/")[1]
        self.references = data.get("references", {})


def is_own(text, modules):
    """Whether the page of this text is of a symbol of ours. A symbol's name in the compiler holds the names of its modules."""
    found = re.search(r'"externalID":"((?:[^"\\]|\\.)*)"', text)
    if not found:
        return '"role":"article"' in text or '"symbolKind":"module"' in text
    name = found.group(1)
    return "::SYNTHESIZED::" not in name and any(f"{len(module)}{module}" in name for module in modules) or name in modules


class Swift:
    def __init__(self, folder, modules, prefix="swift"):
        """`folder` is that of the archive, `modules` the names of the modules of this repository."""
        self.prefix, self.nodes, self.pages_by_path, self.anchors = prefix, {}, {}, {}
        data = pathlib.Path(folder) / "data" / "documentation"
        for path in sorted(data.rglob("*.json")):
            text = path.read_text(encoding="utf-8")
            if is_own(text, modules):
                node = Node(json.loads(text))
                self.nodes[node.path] = node
        self.children = {}
        for node in self.nodes.values():
            self.children.setdefault(node.parent, []).append(node)

    def has_page(self, node):
        return node.kind in CONTAINERS or node.kind in ("module", "article")

    def pages(self):
        """The pages, libraries first. A list of (page, is a library's first page)."""
        made = []
        for node in self.nodes.values():
            if not self.has_page(node):
                continue
            parts = node.path.split("/")[1:]
            name = ".".join(parts[1:]) or "index"
            page = Page(quote_path(f"{self.prefix}/{parts[0]}/{name}.html"), node.title, "", short=node.title)
            page.weight = 0.8 if node.kind == "module" else 0.6
            self.pages_by_path[node.path] = page
            self.anchors[node.path] = Anchors({"main", "find", "hits", "said"})
            made.append((node, page))
        self.member_anchors = {}
        for node in sorted(self.nodes.values(), key=lambda node: node.path):
            if not self.has_page(node) and node.parent in self.pages_by_path:
                self.member_anchors[node.path] = self.anchors[node.parent].add(node.title)
        for node, page in made:
            self._write(node, page)
        return [(page, node.kind == "module") for node, page in made]

    def url(self, path):
        if path in self.pages_by_path:
            return self.pages_by_path[path].url
        if path in self.member_anchors:
            return f"{self.pages_by_path[path.rsplit('/', 1)[0]].url}#{quote_anchor(self.member_anchors[path])}"
        return None

    def _write(self, node, page):
        page.title_html = html.escape(node.title)
        module = self.pages_by_path.get(f"documentation/{node.module}")
        parts = []
        if node.kind != "module" and module:
            parts.append(f'<p class="dim">{WORDS.get(node.kind, "Article")} of <a href="{page.to(module.url)}">{html.escape(module.title)}</a></p>')
        abstract = self._inline(node.data.get("abstract", []), node, page)
        if abstract:
            parts.append(f'<p class="lead">{abstract}</p>')
        parts.append(self._body(node, page, page.headings, self.anchors[node.path], 2))
        text = [self._plain(node.data.get("abstract", [])), self._said(node)]
        page.sections = [("", "", " ".join(text))]
        members = {}
        for child in self.children.get(node.path, []):
            if self.has_page(child):
                members.setdefault("Articles" if child.kind == "article" else "Types", []).append(child)
            else:
                members.setdefault({"case": "Cases", "init": "Initializers", "op": "Operators"}.get(child.kind, "Members"), []).append(child)
        for name in ("Articles", "Types", "Cases", "Initializers", "Members", "Operators"):
            if name in members:
                parts.append(self._members(name, members[name], node, page))
        for section in node.data.get("relationshipsSections", []):
            names = ", ".join(self._reference(one, node, page) for one in section["identifiers"])
            parts.append(f'<p class="dim">{html.escape(section["title"])}: {names}</p>')
        page.html = "\n".join(parts)

    def _members(self, name, members, node, page):
        anchor = self.anchors[node.path].add(name)
        page.headings.append((2, anchor, name))
        parts = [heading(2, anchor, name, name)]
        if name in ("Articles", "Types"):
            rows = "".join(
                f'<tr><td><a href="{page.to(self.url(child.path))}">{html.escape(child.title)}</a></td>'
                f"<td>{self._inline(child.data.get('abstract', []), child, page)}</td></tr>" for child in sorted(members, key=lambda one: one.title))
            return "".join(parts) + f'<div class="table"><table class="c2"><tbody>{rows}</tbody></table></div>'
        for child in members:
            own = self.member_anchors[child.path]
            page.headings.append((3, own, child.title))
            parts.append(heading(3, own, f'<span class="mono">{html.escape(child.title)}</span>', child.title))
            abstract = self._inline(child.data.get("abstract", []), child, page)
            parts.append(self._body(child, page, [], self.anchors[node.path], 4, f"<p>{abstract}</p>" if abstract else ""))
            page.sections.append((own, f"{node.title}.{child.title}" if node.kind != "module" else child.title,
                                  f"{self._plain(child.data.get('abstract', []))} {self._said(child)}"))
        return "".join(parts)

    def _body(self, node, page, headings, anchors, level, after_declaration=""):
        parts = []
        for section in node.data.get("primaryContentSections", []):
            if section["kind"] == "declarations":
                tokens = "".join(self._token(token, node, page) for token in section["declarations"][0]["tokens"])
                parts.append(f'<pre class="declaration"><code>{tokens}</code></pre>{after_declaration}')
                after_declaration = ""
            elif section["kind"] == "parameters":
                rows = "".join(f"<dt><code>{html.escape(one['name'])}</code></dt><dd>{self._blocks(one['content'], node, page, [], anchors, level)}</dd>"
                               for one in section["parameters"])
                parts.append(f'<dl class="parameters">{rows}</dl>')
            elif section["kind"] == "content":
                parts.append(self._blocks(section["content"], node, page, headings, anchors, level))
        return "".join(parts) + after_declaration

    def _token(self, token, node, page):
        text = html.escape(token["text"])
        reference = node.references.get(token.get("identifier", ""))
        url = self.url(reference["url"].lstrip("/")) if reference and reference.get("url") else None
        return f'<a href="{page.to(url)}">{text}</a>' if url else text

    def _blocks(self, blocks, node, page, headings, anchors, level):
        parts = []
        for block in blocks:
            kind = block["type"]

            def inner(one):
                return self._blocks(one["content"], node, page, headings, anchors, level)

            if kind == "paragraph":
                parts.append(f"<p>{self._inline(block['inlineContent'], node, page)}</p>")
            elif kind == "heading":
                # DocC gives the sections of a comment, such as the return value, one too.
                depth, text = min(block["level"] - 2 + level, 6) if block["level"] > 1 else level, block["text"]
                anchor = anchors.add(text)
                headings.append((depth, anchor, text))
                parts.append(heading(depth, anchor, html.escape(text), text))
            elif kind == "codeListing":
                parts.append(f"<pre><code>{html.escape(chr(10).join(block['code']))}</code></pre>")
            elif kind in ("unorderedList", "orderedList"):
                name = "ul" if kind == "unorderedList" else "ol"
                parts.append(f"<{name}>{''.join(f'<li>{inner(one)}</li>' for one in block['items'])}</{name}>")
            elif kind == "aside":
                parts.append(f'<aside><p class="label">{html.escape(block.get("name") or block.get("style", "note").capitalize())}</p>{inner(block)}</aside>')
            elif kind == "termList":
                rows = "".join(f"<dt>{self._inline(one['term']['inlineContent'], node, page)}</dt><dd>{inner(one['definition'])}</dd>" for one in block["items"])
                parts.append(f"<dl>{rows}</dl>")
            elif kind == "table":
                parts.append(self._table(block, node, page, headings, anchors, level))
            else:
                raise ValueError(f"DocC's page {node.path} has a block of the type {kind!r}, which site/swift.py does not know")
        return "".join(parts)

    def _table(self, block, node, page, headings, anchors, level):
        rows = [[self._blocks(cell, node, page, headings, anchors, level) for cell in row] for row in block["rows"]]
        head = "".join(f"<th>{cell}</th>" for cell in rows[0])
        body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows[1:])
        return f'<div class="table"><table class="c{len(rows[0])}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'

    def _inline(self, content, node, page):
        parts = []
        for one in content:
            kind = one["type"]
            if kind == "text":
                parts.append(html.escape(one["text"]))
            elif kind == "codeVoice":
                parts.append(f"<code>{html.escape(one['code'])}</code>")
            elif kind in ("emphasis", "strong"):
                name = "em" if kind == "emphasis" else "strong"
                parts.append(f"<{name}>{self._inline(one['inlineContent'], node, page)}</{name}>")
            elif kind == "reference":
                parts.append(self._reference(one["identifier"], node, page))
            elif kind == "link":
                parts.append(f'<a href="{html.escape(one["destination"])}">{html.escape(one.get("title", one["destination"]))}</a>')
            else:
                raise ValueError(f"DocC's page {node.path} has inline text of the type {kind!r}, which site/swift.py does not know")
        return "".join(parts)

    def _reference(self, identifier, node, page):
        reference = node.references.get(identifier, {})
        address = reference.get("url", "")
        if reference.get("type") == "link" or address.startswith("http"):
            return f'<a href="{html.escape(address)}">{html.escape(reference.get("title", address))}</a>'
        title = html.escape(reference.get("title") or identifier.rsplit("/", 1)[-1])
        url = self.url(address.lstrip("/"))
        shown = title if reference.get("kind") == "article" or reference.get("role") == "article" else f"<code>{title}</code>"
        return f'<a href="{page.to(url)}">{shown}</a>' if url else shown

    def _plain(self, content):
        return "".join(one.get("text") or one.get("code") or "" for one in content)

    def _said(self, node):
        """The text of a page's discussion, for the search."""
        found = []

        def walk(value):
            if isinstance(value, dict):
                if value.get("type") in ("text", "codeVoice"):
                    found.append(value.get("text") or value.get("code") or "")
                for member in value.values():
                    walk(member)
            elif isinstance(value, list):
                for member in value:
                    walk(member)

        for section in node.data.get("primaryContentSections", []):
            if section["kind"] != "declarations":
                walk(section)
        return " ".join(found)
