"""The pages of the API, from the OpenAPI description: a page for each part, one for the shapes, one for the errors that routes share."""
import html
import json
import re

import yaml

from frame import Page
from prose import Anchors, Prose, heading, slug

METHODS = ("get", "put", "post", "patch", "delete")
#: How deep the members of an object without a name are listed.
DEEPEST = 5


class Timeless(yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader):
    """Reads moments as the texts that they are."""


Timeless.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()}


def breakable(path):
    """A path that a line may break after each slash."""
    return html.escape(path).replace("/", "/<wbr>")


class Api:
    def __init__(self, text, source):
        self.doc = yaml.load(text, Timeless)
        self.source = source
        self.prose = Prose()
        self.shapes = Page("api-shapes.html", "Shapes", source, short="Shapes")
        self.errors = Page("api-errors.html", "Shared answers", source, short="Shared answers")
        self.index = Page("api.html", "The API", source, short="All routes")
        self.parts = {}
        for tag in self.doc["tags"]:
            self.parts[tag["name"]] = Page(f"api-{slug(tag['name'])}.html", f"API: {tag['name']}", source, short=tag["name"])

    def pages(self):
        operations = {name: [] for name in self.parts}
        for path, item in self.doc["paths"].items():
            for method in METHODS:
                if method in item:
                    operations[item[method]["tags"][0]].append((method.upper(), path, item[method]))
        self._write_index(operations)
        for tag in self.doc["tags"]:
            self._write_part(self.parts[tag["name"]], tag, operations[tag["name"]])
        self._write_shapes()
        self._write_errors()
        return [self.index, *self.parts.values(), self.shapes, self.errors]

    # MARK: References

    def follow(self, node):
        """The node that a reference names, and the reference's last part; the node itself and None if it is no reference."""
        if not isinstance(node, dict) or "$ref" not in node:
            return node, None
        found = self.doc
        for part in node["$ref"].removeprefix("#/").split("/"):
            found = found[part.replace("~1", "/").replace("~0", "~")]
        return found, node["$ref"].rsplit("/", 1)[1]

    # MARK: Types

    def type(self, schema, page):
        """A schema as one line of HTML, with links to the shapes."""
        if schema is True or schema == {}:
            return "anything"
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            return f'<a href="{page.to(f"{self.shapes.url}#{name}")}">{html.escape(name)}</a>'
        if "const" in schema:
            return f"<code>{html.escape(json.dumps(schema['const'], ensure_ascii=False))}</code>"
        if "enum" in schema:
            return ", ".join(f"<code>{html.escape(value if isinstance(value, str) else json.dumps(value))}</code>" for value in schema["enum"])
        for word, between in (("anyOf", " or "), ("oneOf", " or "), ("allOf", " and ")):
            if word in schema:
                kinds = [self.type(one, page) for one in schema[word] if set(one) - {"required", "if", "then", "not"}]
                return between.join(dict.fromkeys(kinds)) or "object"
        kind = schema.get("type", "object" if "properties" in schema else "anything")
        if isinstance(kind, list):
            return " or ".join(kind)
        if kind == "array":
            said = f"list of {self.type(schema.get('items', {}), page)}"
        elif kind == "object" and isinstance(schema.get("additionalProperties"), dict):
            said = f"object whose members are {self.type(schema['additionalProperties'], page)}"
        else:
            said = html.escape(kind)
        return said + self._bounds(schema)

    @staticmethod
    def _bounds(schema):
        said = []
        if "format" in schema:
            said.append(html.escape(schema["format"]))
        for low, high, unit in (("minimum", "maximum", ""), ("minLength", "maxLength", " characters"), ("minItems", "maxItems", " entries")):
            least, most = schema.get(low), schema.get(high)
            if least is not None and most is not None:
                said.append(f"{least:,} to {most:,}{unit}")
            elif least is not None:
                said.append(f"at least {least:,}{unit}")
            elif most is not None:
                said.append(f"at most {most:,}{unit}")
        if "pattern" in schema:
            said.append(f"<code>{html.escape(schema['pattern'])}</code>")
        if "default" in schema:
            said.append(f"default <code>{html.escape(json.dumps(schema['default'], ensure_ascii=False))}</code>")
        return f' <span class="dim">({", ".join(said)})</span>' if said else ""

    def members(self, schema, page, depth=0):
        """The members of an object: (depth, name, is required, type, description). Named shapes are links and are not opened."""
        rows = []
        schema = schema if isinstance(schema, dict) else {}
        if depth and "$ref" in schema:
            return rows
        schema, _ = self.follow(schema)
        for word in ("allOf", "anyOf", "oneOf"):
            for one in schema.get(word, []):
                rows += self.members(one, page, depth) if "$ref" not in one or depth == 0 and word == "allOf" else []
        needed = set(schema.get("required", []))
        for name, member in schema.get("properties", {}).items():
            member = member if isinstance(member, dict) else {}
            rows.append((depth, name, name in needed, self.type(member, page), member.get("description", "")))
            if depth < DEEPEST:
                rows += self.members(member, page, depth + 1)
                if isinstance(member.get("items"), dict):
                    rows += self.members(member["items"], page, depth + 1)
        seen, kept = set(), []
        for row in rows:
            if depth or row[0] or row[1] not in seen:
                kept.append(row)
            if not row[0]:
                seen.add(row[1])
        return kept

    def member_table(self, schema, page):
        rows = "".join(
            f'<tr><td class="deep{depth}"><code>{html.escape(str(name))}</code>{" <span class=needed>required</span>" if needed else ""}</td>'
            f'<td>{kind}</td><td>{self.prose.inline(described.strip()) if described else ""}</td></tr>'
            for depth, name, needed, kind, described in self.members(schema, page))
        if not rows:
            return ""
        return f'<div class="table"><table class="c3"><thead><tr><th>member</th><th>type</th><th>meaning</th></tr></thead><tbody>{rows}</tbody></table></div>'

    def content(self, node, page):
        """Types, members and examples of a body."""
        parts, text = [], []
        for media, body in node.get("content", {}).items():
            schema = body.get("schema", {})
            parts.append(f'<p><code>{html.escape(media)}</code> {self.type(schema, page)}</p>')
            if "$ref" not in schema:
                parts.append(self.member_table(schema, page))
            examples = {name: self.follow(example)[0].get("value") for name, example in body.get("examples", {}).items()}
            if "example" in body:
                examples = {"": body["example"], **examples}
            for name, value in examples.items():
                shown = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
                parts.append(f'<figure><figcaption>Example{f" <code>{html.escape(name)}</code>" if name else ""}</figcaption>'
                             f"<pre><code>{html.escape(shown)}</code></pre></figure>")
                text.append(shown if len(shown) < 600 else "")
        return "".join(parts), " ".join(text)

    # MARK: Pages

    def _write_index(self, operations):
        page, anchors = self.index, Anchors()
        info = self.doc["info"]
        page.html = f'<p class="lead">{html.escape(info.get("summary", ""))} {sum(map(len, operations.values()))} operations, version {html.escape(info["version"])}.</p>'
        page.html += self.prose.block(info.get("description", ""), deeper=1, anchors=anchors)
        page.html += ('<p>The running program serves the same as <a href="http://127.0.0.1:8642/_sim/docs">a page on which each route can be tried</a>, '
                      'and as <code>/openapi.json</code> and <code>/openapi.yaml</code> for tools.</p>')
        for tag in self.doc["tags"]:
            anchor = anchors.add(tag["name"])
            part = self.parts[tag["name"]]
            page.headings.append((2, anchor, tag["name"]))
            page.html += heading(2, anchor, f'<a href="{page.to(part.url)}">{html.escape(tag["name"])}</a>', tag["name"])
            page.html += f"<p>{self.prose.inline(tag['description'])}</p>"
            rows = "".join(
                f'<tr><td><span class="method {method}">{method}</span></td><td><a class="mono" href="{page.to(part.url + "#" + operation["operationId"])}">'
                f'{breakable(path)}</a></td><td>{self.prose.inline(operation["summary"])}</td></tr>'
                for method, path, operation in operations[tag["name"]])
            page.html += ('<div class="table"><table class="routes"><thead><tr><th>method</th><th>path</th><th>what it does</th></tr></thead>'
                          f"<tbody>{rows}</tbody></table></div>")
        page.sections = [("", "", re.sub(r"[*`]", "", info.get("description", "")))]

    def _write_part(self, page, tag, operations):
        page.html = f'<p class="lead">{self.prose.inline(tag["description"])}</p>'
        page.sections = [("", "", tag["description"])]
        for method, path, operation in operations:
            anchor = operation["operationId"]
            name = f"{method} {path}"
            page.headings.append((2, anchor, name))
            page.html += heading(2, anchor, f'<span class="method {method}">{method}</span> <span class="mono">{breakable(path)}</span>', name)
            text = [operation["summary"], operation.get("description", "")]
            page.html += f'<p><strong>{self.prose.inline(operation["summary"])}.</strong></p>'
            page.html += self.prose.block(operation.get("description", ""), deeper=3, anchors=Anchors({anchor}))
            page.html += self._security(operation)
            page.html += self._parameters(operation, page, text)
            if "requestBody" in operation:
                body, _ = self.follow(operation["requestBody"])
                shown, words = self.content(body, page)
                page.html += f'<h3 class="quiet">Body{" <span class=needed>required</span>" if body.get("required") else ""}</h3>{shown}'
                text.append(words)
            page.html += '<h3 class="quiet">Answers</h3>'
            for status, answer in operation["responses"].items():
                page.html += self._answer(str(status), answer, page, text)
            page.sections.append((anchor, name, " ".join(text)))

    def _security(self, operation):
        schemes = self.doc["components"]["securitySchemes"]
        names = [name for one in operation.get("security", self.doc.get("security", [])) for name in one]
        if not names:
            return ""
        said = " or ".join(self.prose.inline(schemes[name].get("description", name).strip().split("\n")[0]) for name in names)
        return f'<p class="dim">Needs a token: {said}</p>'

    def _parameters(self, operation, page, text):
        rows = ""
        for one in operation.get("parameters", []):
            parameter, _ = self.follow(one)
            text += [parameter["name"], parameter.get("description", "")]
            needed = " <span class=needed>required</span>" if parameter.get("required") else ""
            rows += (f'<tr><td><code>{html.escape(parameter["name"])}</code> <span class="dim">{parameter["in"]}</span>{needed}</td>'
                     f'<td>{self.type(parameter.get("schema", {}), page)}</td>'
                     f'<td>{self.prose.inline(parameter.get("description", "").strip())}</td></tr>')
        if not rows:
            return ""
        return ('<h3 class="quiet">Parameters</h3><div class="table"><table class="c3"><thead><tr><th>parameter</th><th>type</th><th>meaning</th></tr></thead>'
                f"<tbody>{rows}</tbody></table></div>")

    def _answer(self, status, answer, page, text):
        node, name = self.follow(answer)
        described = self.prose.inline(node["description"].strip())
        if name:
            return f'<p class="answer"><a class="status" href="{page.to(f"{self.errors.url}#{name}")}">{status}<span class="visually-hidden"> {html.escape(name)}</span></a> {described}</p>'
        shown, words = self.content(node, page)
        text += [status, node["description"], words, *node.get("headers", {})]
        shown = self._headers(node) + shown
        if not shown:
            return f'<p class="answer"><span class="status">{status}</span> {described}</p>'
        return f'<details class="answer"><summary><span class="status">{status}</span> {described}</summary>{shown}</details>'

    def _headers(self, node):
        said = []
        for name, one in node.get("headers", {}).items():
            header, _ = self.follow(one)
            said.append(f"<p><code>{html.escape(name)}</code> {self.prose.inline(header.get('description', '').strip())}</p>")
        return "".join(said)

    def _write_shapes(self):
        page = self.shapes
        page.html = '<p class="lead">What bodies are made of, by name. Routes link here.</p>'
        page.sections = [("", "", "")]
        for name, schema in self.doc["components"]["schemas"].items():
            page.headings.append((2, name, name))
            page.html += heading(2, name, html.escape(name), name)
            described = schema.get("description", "")
            page.html += self.prose.block(described, deeper=3, anchors=Anchors({name}))
            table = self.member_table(schema, page)
            page.html += table or f"<p>{self.type(schema, page)}</p>"
            if table and ("anyOf" in schema or "oneOf" in schema):
                page.html += f"<p>One of: {self.type(schema, page)}</p>"
            words = [described] + [f"{row[1]} {row[4]}" for row in self.members(schema, page)]
            words += [str(value) for value in schema.get("enum", [])]
            page.sections.append((name, name, " ".join(words)))

    def _write_errors(self):
        page = self.errors
        page.html = '<p class="lead">Answers that several routes give. What each error means, and how to get it: <a href="errors.html">Errors</a>.</p>'
        page.sections = [("", "", "")]
        statuses = {}
        for item in self.doc["paths"].values():
            for method in METHODS:
                for status, answer in item.get(method, {}).get("responses", {}).items():
                    if "$ref" in answer:
                        statuses.setdefault(answer["$ref"].rsplit("/", 1)[1], set()).add(str(status))
        for name, answer in self.doc["components"]["responses"].items():
            shown = f"{' '.join(sorted(statuses.get(name, [])))} {name}".strip()
            page.headings.append((2, name, shown))
            page.html += heading(2, name, html.escape(shown), shown)
            content, words = self.content(answer, page)
            page.html += f"<p>{self.prose.inline(answer['description'].strip())}</p>{self._headers(answer)}{content}"
            page.sections.append((name, shown, f"{answer['description']} {words}"))
