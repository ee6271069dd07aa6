"""The map of fidelity: what the vendor documents, what was decided here, and what is missing, by part of the program.

- *Documented*: a rule whose comment or text in the code names a document of the vendor, `[S]` or `[P]`.
- *Decided*: a row of docs/fidelity.md. It is open if something at the real platform would settle it, else the simulator's own.
- *Missing*: a path in the row `not-simulated`.

The text of docs/fidelity.md, and its tables other than that of the decisions, stand above the map as they are.
"""
import html
import re

from frame import Page
from prose import Anchors, Prose, heading

HEADER = ["decision", "rule", "where it lives", "what would settle it"]
#: The row whose paths the platform has and the simulator lacks.
MISSING = "not-simulated"
KINDS = [
    ("documented", "Documented", "the vendor's documents say so"),
    ("open", "Decided", "the documents are silent; the real platform would settle it"),
    ("own", "Decided, our own", "the platform has no such thing"),
    ("missing", "Missing", "the platform has it, and it is not simulated"),
]
AREAS = {
    "Server": "HTTP, routes, webhooks that are sent", "Simulation": "Clock, namespaces, rules, journal", "AppComponents": "App Components",
    "Storage": "Storage", "Evidence": "Explain, audit, coverage", "EntrupySDK": "EntrupySDK, the library", "FourthlineSDK": "FourthlineSDK, the library",
    "EntrupySimTesting": "EntrupySimTesting, the library", "seed-data": "Seed data", "Console": "Console", "entrupy-sim": "Command line",
}
#: `[S]`, `[P shape]`, `[S, P]` or `[P, D name]`. FidelityTests counts the same marks.
MARK = re.compile(r"\[((?:[SP](?: [a-z0-9]+)?(?:, )?)+)(?:D[^\]]*)?\]")


class Mistake(Exception):
    """Something in docs/fidelity.md that the map cannot read: one sentence."""


def area_of(path):
    """The part of the program that a file belongs to, in words."""
    parts = path.split("/")
    if parts[0] == "seed-data":
        return AREAS["seed-data"]
    module = parts[1].removesuffix("API").removesuffix("Storage") or parts[1] if parts[0] == "Sources" else parts[0]
    if module == "Entrupy":
        if parts[1] != "Entrupy" or len(parts) == 3:
            return "Entrupy: bodies and records" if parts[1] != "Entrupy" else "Entrupy: the platform"
        return "Entrupy: " + re.sub(r"(?<=[a-z])(?=[A-Z])", " ", parts[2]).lower()
    return AREAS.get(module, module)


def decisions(text):
    """The rows of the table of decisions, and the text without them."""
    rows, kept, inside = [], [], False
    for number, line in enumerate(text.split("\n"), 1):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] if line.startswith("|") else []
        if cells == HEADER:
            inside = True
        elif inside and cells and set("".join(cells)) <= set("-: "):
            continue
        elif inside and cells:
            if len(cells) != 4 or not all(cells):
                raise Mistake(f"docs/fidelity.md:{number}: a decision has four cells ({', '.join(HEADER)}), got {len(cells)}")
            rows.append((cells[0], cells[1], cells[2].strip("`"), cells[3]))
        else:
            inside = False
            kept.append(line)
    if not rows:
        raise Mistake(f"docs/fidelity.md has no table of decisions: its header is | {' | '.join(HEADER)} |")
    return rows, "\n".join(kept)


def documented(root):
    """The rules that name a document of the vendor: (path, line, sentence, marks)."""
    found = []
    for folder, ends in (("Sources", (".swift",)), ("seed-data", (".yaml",))):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in ends or path.is_symlink() or not path.is_file():
                continue
            found += marks(path.read_text(encoding="utf-8"), path.relative_to(root).as_posix())
    return found


def origins(match):
    """The letters of a mark: "S", "P" or "S, P"."""
    return ", ".join(word[0] for word in match.group(1).strip(", ").split(", "))


def marks(text, name):
    sign = "#" if name.endswith(".yaml") else "//"
    lines, found, start, block = text.split("\n"), [], 0, []

    def end():
        comment = re.sub(r"\s+", " ", " ".join(block)).strip()
        for match in MARK.finditer(comment):
            # The sentence that the mark closes.
            before = comment[:match.start()].rstrip()
            begin = max((m.end() for m in re.finditer(r"(?:[.!?:]|\])\.? (?=[A-Z`\[])", before)), default=0)
            sentence = before[begin:].strip(" .;")
            if sentence:
                found.append((name, start + 1, re.sub(r"``?([^`]+)``?", r"`\1`", sentence), origins(match)))

    for number, line in enumerate(lines):
        own = re.match(rf"\s*{sign}+/? ?(.*)", line)
        if own:
            if not block:
                start = number
            block.append(own.group(1).removeprefix("- "))
            continue
        if block:
            end()
            block = []
        trailing = re.search(rf"\s{sign} (.*)", line)
        if trailing and MARK.search(trailing.group(1)):
            start, block = number, [trailing.group(1)]
            end()
            block = []
            continue
        for literal in re.findall(r'"([^"]*)"', line):
            for match in MARK.finditer(literal):
                said = f"{literal[:match.start()].rstrip()} {literal[match.end():].lstrip()}".strip(" :")
                found.append((name, number + 1, re.sub(r" ([:,])", r"\1", said), origins(match)))
    if block:
        end()
    return found


def entries(root):
    """All entries of the map: dicts with kind, name, area, text, where, settles. And what is left of docs/fidelity.md."""
    rows, rest = decisions((root / "docs/fidelity.md").read_text(encoding="utf-8"))
    made = []
    for name, rule, where, settles in rows:
        if name == MISSING:
            paths = re.findall(r"`(/[^`]*)`", rule)
            if not paths:
                raise Mistake(f"docs/fidelity.md: the row {MISSING} names no path in backticks")
            made += [{"kind": "missing", "name": path, "area": area_of(where), "text": rule, "where": where, "settles": settles} for path in paths]
            continue
        made.append({"kind": "own" if settles.startswith("nothing") else "open", "name": name, "area": area_of(where), "text": rule,
                     "where": where, "settles": "" if settles == "nothing" else settles})
    for path, line, sentence, sources in documented(root):
        made.append({"kind": "documented", "name": "", "area": area_of(path), "text": sentence, "where": f"{path}:{line}", "settles": "",
                     "sources": sources})
    return made, rest


def page(root, resolve):
    """The page of the map."""
    made, rest = entries(root)
    map_page = Page("fidelity.html", "Fidelity", "docs/fidelity.md", short="Fidelity: what is the vendor's")
    prose, anchors = Prose(), Anchors({"main", "find", "hits", "said", "filter", "shown"})
    above = prose.render(rest, resolve(map_page), anchors)
    map_page.headings, map_page.sections = list(above.headings), list(above.sections)
    map_page.title = "Fidelity"
    map_page.title_html = "Fidelity: documented, decided, missing"
    counts = {kind: sum(entry["kind"] == kind for entry in made) for kind, _, _ in KINDS}
    parts = [above.html, '<ul class="tiles">']
    for kind, name, meaning in KINDS:
        parts.append(f'<li class="tile {kind}"><strong>{counts[kind]}</strong> <span>{name}</span><small>{meaning}</small></li>')
    parts.append("</ul>")
    buttons = "".join(f'<button type="button" data-kind="{kind}" aria-pressed="false"><span class="swatch {kind}"></span> {name} <span class="dim">{counts[kind]}</span></button>'
                      for kind, name, _ in KINDS)
    parts.append(f"""<form class="filter script" role="search" aria-label="Filter the rules">
<input id="filter" type="search" placeholder="Filter: webhook, 409, capture …" aria-label="Filter by words of the rule" autocomplete="off" spellcheck="false">
<div class="kinds">{buttons}</div>
<p id="shown" role="status" class="dim"></p>
</form>""")
    areas = {}
    for entry in made:
        areas.setdefault(entry["area"], []).append(entry)
    order = [kind for kind, _, _ in KINDS]
    sections, number = [], 0
    for name, inside in sorted(areas.items(), key=lambda item: (not item[0].startswith("Entrupy"), item[0].lower())):
        anchor = anchors.add(name)
        map_page.headings.append((2, anchor, name))
        inside.sort(key=lambda entry: (order.index(entry["kind"]), 0 if entry["kind"] == "documented" else 1, entry["name"]))
        tiles, rows = [], []
        for entry in inside:
            number += 1
            own = anchors.add(entry["name"] or f"documented {number}")
            kind = entry["kind"]
            said = next(word for one, word, _ in KINDS if one == kind)
            label = entry["name"] or re.sub(r"[`*]", "", entry["text"])
            if entry["name"]:
                tiles.append(f'<li data-rule="{own}"><a class="edge {kind}" href="#{own}">{html.escape(label)}<span class="visually-hidden">, {said}</span></a></li>')
            else:
                tiles.append(f'<li data-rule="{own}"><a class="edge dot {kind}" href="#{own}" title="{html.escape(label)}"><span class="visually-hidden">{html.escape(label)}, {said}</span></a></li>')
            source = {"S": "the SDK's and Fourthline's documents", "P": "the public API reference"}
            origin = " and ".join(source[one] for one in entry.get("sources", "").split(", ") if one)
            facts = [f"in <code>{html.escape(entry['where'])}</code>"]
            if origin:
                facts.insert(0, origin)
            if entry["settles"] and not entry["settles"].startswith("nothing"):
                facts.insert(0, f"would settle it: {prose.inline(entry['settles'])}")
            elif entry["settles"]:
                facts.insert(0, prose.inline(entry["settles"].removeprefix("nothing: ")))
            title = f"<strong>{html.escape(entry['name'])}</strong> " if entry["name"] else ""
            rows.append(f'<li id="{own}" class="rule {kind}" data-kind="{kind}"><p><span class="swatch {kind}"></span><span class="visually-hidden">{said}: </span>{title}'
                        f'{prose.inline(entry["text"])}</p><p class="dim">{"; ".join(facts)}</p></li>')
            if kind != "documented":
                map_page.sections.append((own, entry["name"], f"{entry['text']} {entry['settles']}"))
        tally = " · ".join(f"{sum(entry['kind'] == kind for entry in inside)} {word.lower()}" for kind, word, _ in KINDS
                           if any(entry["kind"] == kind for entry in inside))
        bar = "".join(f'<span class="{kind}" style="flex-grow:{sum(entry["kind"] == kind for entry in inside)}"></span>' for kind in order
                      if any(entry["kind"] == kind for entry in inside))
        sections.append(f'<section class="area" data-area>{heading(2, anchor, html.escape(name), name)}<div class="share" aria-hidden="true">{bar}</div>'
                        f'<p class="dim tally">{tally}</p><ul class="edges">{"".join(tiles)}</ul>'
                        f'<details><summary>The rules in words</summary><ul class="rules">{"".join(rows)}</ul></details></section>')
    map_page.html = "\n".join(parts + sections)
    return map_page
