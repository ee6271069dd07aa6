#!/usr/bin/env python3
"""Checks what builds the site (site/build.py): broken links and anchors, missing images, hostile names, the map, the API, DocC's pages.

It works on small checkouts of its own, and takes seconds. The virtual environment is that of `make site`.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "site" / "build.py"
PYTHON = ROOT / ".build" / "site" / "bin" / "python3"
CHECK = ROOT / "site" / "check.py"
DECISIONS = """# Decisions

Our answers.

| decision | rule | where it lives | what would settle it |
|---|---|---|---|
| late | A result may be `late`. | `Sources/Entrupy/Results/Late.swift` | a late result |
| clock | A clock of its own. | `Sources/Simulation/Clock.swift` | nothing: the platform has no such thing |
| not-simulated | `/v2/one` and `/v2/two` are known by name. | `Sources/Entrupy/Platform.swift` | their answers |
"""
PAGE = '<!doctype html><html lang="en"><head><title>a</title></head><body><h1>a</h1>{}</body></html>'


class Checkout(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name) / "repository"
        self.out = pathlib.Path(folder.name) / "out"
        self.write("VERSION", "1.2.3\n")
        self.write("README.md", "# Start\n\nSee [more](docs/more.md#second-part).\n")
        self.write("docs/more.md", "# More\n\n## Second part\n\nText.\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def build(self, *words):
        ended = subprocess.run(
            [PYTHON, "-B", str(BUILD), "--root", str(self.root), "--out", str(self.out), *words], capture_output=True, text=True,
            env={**os.environ, "ENTRUPY_SIM_SITE": "1"})
        self.assertNotIn("Traceback", ended.stderr)
        return ended.returncode, ended.stdout + ended.stderr

    def page(self, name):
        return (self.out / name).read_text(encoding="utf-8")

    def builds(self, *words):
        status, said = self.build(*words)
        self.assertEqual(status, 0, said)
        return said

    def refuses(self, problem, *words):
        status, said = self.build(*words)
        self.assertEqual(status, 1, said)
        self.assertIn(problem, said)


class LinkTest(Checkout):
    def test_a_site_that_is_right(self):
        said = self.builds()
        self.assertIn("2 pages", said)
        self.assertIn('<a href="more.html#second-part">more</a>', self.page("index.html"))
        self.assertIn('<h2 id="second-part">Second part', self.page("more.html"))

    def test_a_broken_link_is_named_with_its_document(self):
        self.write("docs/more.md", "# More\n\n[a](mroe.md)\n\n[b](../../outside.md)\n")
        self.refuses("docs/more.md: the link 'mroe.md' leads nowhere: the repository has no docs/mroe.md")
        self.refuses("docs/more.md: the link '../../outside.md' leads nowhere")

    def test_a_broken_anchor_is_named_with_the_nearest(self):
        self.write("README.md", "# Start\n\n[a](docs/more.md#secnd-part) and [b](#gone)\n")
        self.refuses("names an anchor that more.html does not have; the nearest is #second-part")
        self.refuses("the link '#gone' names an anchor that index.html does not have")

    def test_a_missing_image_is_named(self):
        self.write("README.md", "# Start\n\n![a picture](docs/images/a.png)\n")
        self.refuses("README.md: the image 'docs/images/a.png' leads nowhere")
        self.write("docs/images/a.png", "a")
        self.builds()
        self.assertTrue((self.out / "files/docs/images/a.png").exists())

    def test_an_image_says_what_it_shows(self):
        self.write("docs/images/a.png", "a")
        self.write("README.md", "# Start\n\n![](docs/images/a.png)\n")
        self.refuses("has no text that stands for it")

    def test_a_document_without_a_title_is_refused(self):
        self.write("docs/more.md", "## Second part\n")
        self.refuses("docs/more.md: it has no heading of level 1")

    def test_files_and_folders_have_pages(self):
        self.write("demo/a.py", "print('<script>')\n")
        self.write("README.md", "# Start\n\n[a](demo/a.py), [b](demo), [c](docs)\n")
        self.write("docs/README.md", "# All\n")
        self.builds()
        self.assertIn("print(&#x27;&lt;script&gt;&#x27;)", self.page("files/demo/a.py.html"))
        self.assertIn('href="demo/a.py.html"', self.page("files/demo.html"))
        self.assertIn('href="documents.html">c', self.page("index.html"))

    def test_other_hosts_are_listed_and_not_asked(self):
        self.write("README.md", "# Start\n\n[a](https://example.invalid/x) [b](http://127.0.0.1:8642/)\n")
        said = self.builds("--external")
        self.assertIn("https://example.invalid/x (first in index.html)", said)
        self.assertIn("1 to other hosts", said)
        self.assertNotIn("8642", said)

    def test_a_page_that_no_group_names_is_listed(self):
        self.write("docs/brand-new.md", "# Brand new\n")
        self.builds()
        self.assertIn('href="brand-new.html">Brand new</a>', self.page("index.html"))


class HostileTest(Checkout):
    def test_a_heading_is_text(self):
        self.write("docs/more.md", "# `<script>alert(1)</script>` & \"more\"\n\n## `<img src=x onerror=a>` in <b>bold</b>\n\n## Second part\n")
        self.builds()
        page = self.page("more.html")
        scripts = re.findall(r"<script[^>]*>", page)
        self.assertEqual(scripts, ['<script src="site.js" defer>'])
        self.assertNotIn("<img", page)
        self.assertNotIn("<b>", page)
        self.assertIn("<code>&lt;script&gt;alert(1)&lt;/script&gt;</code>", page)
        # In the list of pages, the list of headings and the title too.
        self.assertIn("&lt;img src=x onerror=a&gt;", page)
        self.assertIn("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;more&quot; · entrupy-sim</title>", page)
        self.assertNotIn("</script>", self.page("search-index.js"))

    def test_names_with_signs_lead_somewhere(self):
        self.write("docs/c#-and 50%.md", "# C# and F#\n\n## C# & F#: 50% ü?\n\n## C# & F#: 50% ü?\n")
        self.write("README.md", "# Start\n\n[a](<docs/c%23-and 50%25.md>) [b](docs/c%23-and%2050%25.md#c--f-50-ü-1)\n")
        self.builds()
        page = self.page("c#-and 50%.html")
        self.assertIn('<h2 id="c--f-50-ü">', page)
        self.assertIn('<h2 id="c--f-50-ü-1">', page)
        self.assertIn('href="c%23-and%2050%25.html#c--f-50-%C3%BC-1"', self.page("index.html"))

    def test_an_anchor_of_the_frame_is_not_taken(self):
        self.write("docs/more.md", "# More\n\n## Main\n\n## Find\n\n## Second part\n\n## Second part\n")
        self.builds()
        self.assertIn('<h2 id="main-1">', self.page("more.html"))
        self.assertIn('<h2 id="second-part-1">', self.page("more.html"))

    def test_comments_are_left_out(self):
        self.write("README.md", "# Start\n\n<!-- not run: a reason -->\n```sh\na <!-- stays -->\n```\n")
        self.builds()
        self.assertNotIn("a reason", self.page("index.html"))
        self.assertIn("a &lt;!-- stays --&gt;", self.page("index.html"))

    def test_a_link_that_runs_a_script_is_refused(self):
        self.write("README.md", "# Start\n\n[a](vbs:b)\n")
        self.refuses("is of the scheme 'vbs'")


class CheckTest(unittest.TestCase):
    """site/check.py, on pages that were made by hand."""

    def check(self, *pages):
        with tempfile.TemporaryDirectory() as folder:
            for number, text in enumerate(pages):
                pathlib.Path(folder, f"{number}.html").write_text(text, encoding="utf-8")
            ended = subprocess.run([sys.executable, "-B", str(CHECK), folder], capture_output=True, text=True)
        return ended.returncode, ended.stdout

    def test_what_is_right(self):
        self.assertEqual(self.check(PAGE.format('<p id="b"></p><a href="#b">b</a><a href="1.html#b">c</a>'), PAGE.format('<i id="b">b</i>'))[0], 0)

    def test_what_is_wrong(self):
        for body, problem in [
                ('<p id="b"></p><p id="b"></p>', "the anchor 'b' is there twice"), ('<a href="1.html">b</a>', "leads nowhere"),
                ('<a href="#c">b</a>', "names an anchor"), ('<img src="b.png" alt="b">', "the file 'b.png' leads nowhere"),
                ('<a href="/b">b</a>', "begins with a slash"), ('<script src="https://cdn.example/a.js"></script>', "loads nothing from elsewhere"),
                ('<img src="//b/c.png" alt="b">', "loads nothing from elsewhere"), ('<a href="javascript:a()">b</a>', "scheme 'javascript'"),
                ('<p onclick="a()">b</p>', "has the attribute onclick"), ("<h1>b</h1>", "2 headings of level 1")]:
            status, said = self.check(PAGE.format(body))
            self.assertEqual(status, 1, body)
            self.assertIn(problem, said)
        self.assertIn("no title", self.check(PAGE.format("").replace("<title>a</title>", ""))[1])
        self.assertIn("language", self.check(PAGE.format("").replace(' lang="en"', ""))[1])


class MapTest(Checkout):
    def setUp(self):
        super().setUp()
        self.write("docs/fidelity.md", DECISIONS)
        self.write("Sources/Entrupy/Results/Late.swift",
                   "/// First. A result has `status.final` [S]. Later it has more [D late].\nlet a = 1  // In v2 it is absent [P].\n/// No rule.\nlet b = 2\n")

    def test_the_kinds_are_counted(self):
        self.builds()
        page = self.page("fidelity.html")
        self.assertEqual(re.findall(r"<strong>(\d+)</strong> <span>([^<]+)</span>", page),
                         [("2", "Documented"), ("1", "Decided"), ("1", "Decided, our own"), ("2", "Missing")])
        self.assertIn("A result has <code>status.final</code>", page)
        self.assertNotIn("First. A result", page)
        self.assertIn("In v2 it is absent", page)
        self.assertIn("would settle it: a late result", page)
        self.assertIn('class="edge missing" href="#v2one">/v2/one', page)
        self.assertIn("Sources/Entrupy/Results/Late.swift:2", page)

    def test_every_form_of_a_mark_is_counted(self):
        self.write("Sources/Entrupy/Results/Forms.swift",
                   '/// A shape [P shape]. Its initials [S 003]. A form [P, D late]. A limit [S, P].\nlet a = [P]()\n'
                   'let b = rule(source: "Guide, 13. Cleanup [S]: log out")\nlet c = "[P]: it is repeated"\n')
        self.builds()
        page = self.page("fidelity.html")
        self.assertEqual(re.search(r"<strong>(\d+)</strong> <span>Documented", page).group(1), "8")
        self.assertIn("Guide, 13. Cleanup: log out</p>", page)
        self.assertIn("it is repeated</p>", page)
        self.assertIn("A limit</p><p class=\"dim\">the SDK's and Fourthline's documents and the public API reference", page)

    def test_the_first_screen_stands_above_the_map(self):
        self.write("docs/fidelity.md", DECISIONS.replace("Our answers.", "Two rules.\n\n## Proven\n\nA page.\n\n## The decisions"))
        self.builds()
        page = self.page("fidelity.html")
        self.assertLess(page.index("Two rules."), page.index('class="tiles"'))
        self.assertIn('<li class="h2"><a href="#proven">Proven</a></li>', page)
        self.assertLess(page.index('href="#proven"'), page.index('href="#clock-namespaces-rules-journal"'))

    def test_a_row_without_its_cells_is_named_by_its_line(self):
        self.write("docs/fidelity.md", DECISIONS.replace(" | a late result |", " |"))
        self.refuses("docs/fidelity.md:7: a decision has four cells")

    def test_a_file_without_the_table_is_refused(self):
        self.write("docs/fidelity.md", "# Decisions\n")
        self.refuses("docs/fidelity.md has no table of decisions")

    def test_other_tables_stay(self):
        self.write("docs/fidelity.md", DECISIONS + "\n## Numbers\n\n| a | b |\n|---|---|\n| one | two |\n")
        self.builds()
        self.assertIn('<td data-label="b">two</td>', self.page("fidelity.html"))


#: A server's page of the routes: what the site takes, and around it what it leaves out.
ROUTES = """<!doctype html><html lang="en"><head><style>p { color: red }</style></head><body>
<nav><section><h2>Door</h2><a href="#open">menu</a></section></nav>
<main><h1>All</h1><section><div class="lead"><p>What <b>all</b> do.</p></div></section>
<section><h2>Door &amp; key</h2><div class="lead"><p>Doors.</p></div>
<article id="open" data-method="GET" data-path="/a&lt;b"><h3><span class="method GET">GET</span> <a class="path" href="#open">/a&lt;b</a></h3>
<p><strong>Opens it.</strong></p><h4>Parameters</h4><table><tr><td>width</td> <td><a href="#shape-Key">Key</a></td> <td>&#39;x&#39;</td></tr></table>
<table></table><p class="error"><a class="status" href="#answer-Gone">410</a> Went <code>away</code>.</p>
<details><summary>200</summary><pre>{"a": "&lt;script&gt;"}</pre></details>
<details class="tool"><summary>Try it</summary><details><summary>in it</summary></details><form><button>Send</button></form></details></article></section>
<section><h2>Errors</h2><article id="answer-Gone"><h3><a class="path" href="#answer-Gone">410 Gone</a></h3><p>It went.</p></article></section>
<section><h2>Shapes</h2><article id="shape-Key"><h3><a class="path" href="#shape-Key">Key</a></h3><p>See <a href="#open">open</a>.</p></article></section>
</main><script>send()</script></body></html>
"""
PROGRAM = """#!%s
import http.server
class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *words): pass
    def do_GET(self):
        body = open(%r, "rb").read() if self.path == "/_sim/docs" else b""
        self.send_response(200 if body else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
server = http.server.HTTPServer(("127.0.0.1", 0), Page)
print("is open on http://127.0.0.1:%%d" %% server.server_port, flush=True)
server.serve_forever()
"""


class ApiTest(Checkout):
    """The pages of the API, from a program that serves a small page of routes."""

    def setUp(self):
        super().setUp()
        self.write("docs/errors.md", "# Errors\n")
        self.write("routes.html", ROUTES)
        self.write("program", PROGRAM % (sys.executable, str(self.root / "routes.html")))
        self.program = self.root / "program"
        self.program.chmod(0o755)

    def test_the_servers_page_is_cut_into_parts(self):
        said = self.builds("--program", str(self.program))
        self.assertNotIn("without the API", said)
        page = self.page("api-door--key.html")
        self.assertIn('<h2 id="open"><span class="method GET">GET</span> <span class="mono">/a&lt;b</span>', page)
        self.assertIn('<td><a href="api-shapes.html#shape-Key">Key</a></td>', page)
        self.assertIn('<p class="answer"><a class="status" href="api-errors.html#answer-Gone">410</a> Went <code>away</code>.</p>', page)
        self.assertIn("<pre>{\"a\": \"&lt;script&gt;\"}</pre>", page)
        self.assertEqual(page.count("<table"), 1, "a table without rows is left out")
        self.assertIn('See <a href="api-door--key.html#open">open</a>.', self.page("api-shapes.html"))
        index = self.page("api.html")
        self.assertIn('<a href="api-door--key.html">Door &amp; key</a>', index)
        self.assertIn('href="api-door--key.html#open">/<wbr>a&lt;b</a></td><td>Opens it</td>', index)
        self.assertIn("<p>What <b>all</b> do.</p>", index)

    def test_what_needs_a_server_is_left_out(self):
        self.builds("--program", str(self.program))
        for page in self.out.glob("api*.html"):
            text = page.read_text(encoding="utf-8")
            for word in ("Try it", "in it", "Send", "send()", "color: red", "menu"):
                self.assertNotIn(word, text, page.name)

    def test_the_search_knows_routes_and_their_words(self):
        self.builds("--program", str(self.program))
        found = json.loads((self.out / "search-index.js").read_text(encoding="utf-8").removeprefix("window.siteIndex = ").rstrip(";\n"))
        names = {name: text for _, _, name, text in found["sections"]}
        self.assertIn("width Key 'x'", re.sub(r"\s+", " ", names["GET /a<b"]))
        self.assertNotIn("Went away", names["GET /a<b"], "what routes share is found once")
        self.assertIn("It went.", names["410 Gone"])

    def test_without_a_program_its_pages_are_missing_and_that_is_said(self):
        self.assertIn("without the API", self.builds())
        self.assertFalse((self.out / "api.html").exists())

    def test_a_wrong_program_or_page_is_refused(self):
        self.refuses("is no program; run make build", "--program", str(self.root / "nothing"))
        self.write("routes.html", "<html><body><main><h1>Other</h1></main></body></html>")
        self.refuses("has no parts: site/api.py does not fit Sources/Server/Documentation/page.mustache", "--program", str(self.program))
        self.write("routes.html", ROUTES.replace("</form></details></article>", "</form></details>"))
        self.refuses("does not end open", "--program", str(self.program))
        self.write("routes.html", ROUTES.replace("<strong>Opens it.</strong>", "Opens it."))
        self.refuses("has no path or summary for open", "--program", str(self.program))


class SwiftTest(Checkout):
    """DocC's pages, of a library with a type that has a member, and of a module that is not ours."""

    def symbol(self, path, title, kind, name, **more):
        data = {"identifier": {"url": f"doc://x/documentation/{path}"}, "kind": "symbol",
                "metadata": {"title": title, "role": "symbol", "symbolKind": kind, "externalID": name}, **more}
        self.write(f"docc/data/documentation/{path.lower()}.json", json.dumps(data, separators=(",", ":")))

    def setUp(self):
        super().setUp()
        self.write("Sources/Kit/a.swift", "")
        reference = {"doc://x/Kit/Door": {"url": "/documentation/kit/door", "title": "Door", "kind": "symbol"}}
        self.symbol("Kit", "Kit", "module", "Kit", abstract=[{"type": "text", "text": "A kit <b>."}], references=reference,
                    primaryContentSections=[{"kind": "content", "content": [
                        {"type": "heading", "level": 2, "text": "Overview"},
                        {"type": "paragraph", "inlineContent": [{"type": "reference", "identifier": "doc://x/Kit/Door"}]},
                        {"type": "codeListing", "code": ["let a = \"<i>\""]}]}])
        tokens = [{"kind": "keyword", "text": "func "}, {"kind": "typeIdentifier", "text": "Door", "identifier": "doc://x/Kit/Door"}]
        self.symbol("Kit/Door", "Door", "struct", "s:3Kit4DoorV", references={})
        self.symbol("Kit/Door/open()", "open()", "method", "s:3Kit4DoorV4openyyF", references=reference,
                    primaryContentSections=[{"kind": "declarations", "declarations": [{"tokens": tokens}]}])
        self.symbol("Kit/Door/!=(_:_:)", "!=", "op", "s:SQsE2neoiySbx_xtFZ::SYNTHESIZED::s:3Kit4DoorV")
        self.symbol("Kit/Data", "Data", "struct", "s:10Foundation4DataV")

    def test_types_have_pages_with_their_members(self):
        self.builds("--docc", str(self.root / "docc"))
        names = sorted(path.relative_to(self.out).as_posix() for path in (self.out / "swift").rglob("*.html"))
        self.assertEqual(names, ["swift/kit/door.html", "swift/kit/index.html"])
        self.assertIn('<a href="door.html"><code>Door</code></a>', self.page("swift/kit/index.html"))
        self.assertIn("A kit &lt;b&gt;.", self.page("swift/kit/index.html"))
        self.assertIn('<h3 id="open">', self.page("swift/kit/door.html"))
        self.assertIn('href="swift/kit/index.html">Kit</a>', self.page("index.html"))

    def test_what_is_not_known_is_named(self):
        self.symbol("Kit", "Kit", "module", "Kit", primaryContentSections=[{"kind": "content", "content": [{"type": "hologram"}]}])
        self.refuses("has a block of the type 'hologram'", "--docc", str(self.root / "docc"))

    def test_a_folder_without_documentation_is_refused(self):
        self.refuses("run make docs", "--docc", str(self.root))


if __name__ == "__main__":
    # Makes the virtual environment, once.
    subprocess.run([sys.executable, "-B", str(BUILD), "--help"], check=True, stdout=subprocess.DEVNULL)
    unittest.main()
