"""Checks the collections that packaging/collection.py writes, and sends each of their requests.

    python3 -B Tests/Recipes/collection.py --binary PROGRAM [--folder dist]

Without --folder they are made anew. The Postman file must have the structure that Postman's documentation gives for the format v2.1. Then a
runner that knows only the formats, and nothing of the program that wrote them, reads the Postman file and the .bru files of Bruno, and
sends every request to a simulator, after those of the folder "Begin here". The status must be one that the description documents for the
operation, and neither 400 nor 415 with an example as body.
"""

import argparse
import collections
import contextlib
import http.client
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "Support"))
from simulator import Client, Simulator  # noqa: E402

SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
BEGIN = "Begin here"
failures = []

# A request as it is sent: nothing of Postman or Bruno is left but {{variables}}. `answers` are pairs of a variable and a path.
Request = collections.namedtuple("Request", "folder name method url headers body answers")


def check(name, holds, text=""):
    print(("ok    " if holds else "FAIL  ") + name + ("" if holds else f"\n{text}"), flush=True)
    if not holds:
        failures.append(name)


# MARK: The structure of Postman's format


class Structure:
    """The members that the format has, with those that it requires. What is wrong is a sentence with its place."""

    def __init__(self, document):
        self.wrong = []
        self.collection(document)

    def members(self, value, place, required, optional=""):
        if not isinstance(value, dict):
            self.wrong.append(f"{place} must be an object")
            return {}
        required, optional = required.split(), optional.split()
        self.wrong += [f"{place} lacks {name}" for name in required if name not in value]
        self.wrong += [f"{place} has {name}, which the format does not have" for name in value if name not in required + optional]
        return value

    def text(self, value, place, names):
        self.wrong += [f"{place}.{name} must be a text" for name in names.split() if name in value and not isinstance(value[name], str)]

    def each(self, value, place, rule):
        if not isinstance(value, list):
            self.wrong.append(f"{place} must be a list")
            return
        for number, one in enumerate(value):
            rule(one, f"{place}[{number}]")

    def collection(self, value):
        value = self.members(value, "collection", "info item", "event variable auth protocolProfileBehavior")
        info = self.members(value.get("info", {}), "info", "name schema", "description version _postman_id")
        self.text(info, "info", "name schema description version")
        if info.get("schema") != SCHEMA:
            self.wrong.append(f"info.schema must be {SCHEMA}")
        self.each(value.get("item"), "item", self.item)
        self.each(value.get("variable", []), "variable", self.variable)

    def item(self, value, place):
        if "item" in value:
            self.members(value, place, "name item", "description event auth variable protocolProfileBehavior")
            self.each(value["item"], place + ".item", self.item)
        else:
            self.members(value, place, "request", "name id description event response variable protocolProfileBehavior")
            self.request(value.get("request", {}), place + ".request")
            self.each(value.get("event", []), place + ".event", self.event)
            self.each(value.get("response", []), place + ".response", lambda one, at: self.members(one, at, "", "name code status header body"))
        self.text(value, place, "name description")

    def request(self, value, place):
        self.members(value, place, "", "method url header body auth description proxy certificate")
        self.text(value, place, "method description")
        if not re.fullmatch("[A-Z]+", value.get("method", "")):
            self.wrong.append(f"{place}.method must be a method")
        self.each(value.get("header", []), place + ".header", self.header)
        url = self.members(value.get("url", {}), place + ".url", "raw host path", "protocol port query hash variable")
        self.text(url, place + ".url", "raw")
        for name in ("host", "path"):
            self.each(url.get(name, []), f"{place}.url.{name}", lambda one, at: self.wrong.extend([] if isinstance(one, str) else [at]))
        self.each(url.get("query", []), place + ".url.query", self.header)
        self.each(url.get("variable", []), place + ".url.variable", self.variable)
        shown = "&".join(f"{one['key']}={one['value']}" for one in url.get("query", []) if not one.get("disabled"))
        if url.get("raw") != "/".join([".".join(url.get("host", [])), *url.get("path", [])]) + (f"?{shown}" if shown else ""):
            self.wrong.append(f"{place}.url.raw is not host, path and query: {url.get('raw')}")
        auth = self.members(value.get("auth", {}), place + ".auth", "type", "apikey")
        if auth.get("type") not in ("apikey", "noauth") or (auth["type"] == "apikey") != ("apikey" in auth):
            self.wrong.append(f"{place}.auth.type is {auth.get('type')}")
        self.each(auth.get("apikey", []), place + ".auth.apikey", lambda one, at: self.members(one, at, "key", "value type"))
        if "body" in value:
            body = self.members(value["body"], place + ".body", "mode", "raw urlencoded file options disabled")
            if body.get("mode") not in ("raw", "urlencoded", "file") or body["mode"] not in body:
                self.wrong.append(f"{place}.body has the mode {body.get('mode')}, and not its content")

    def header(self, value, place):
        self.members(value, place, "key value", "disabled description type")
        self.text(value, place, "key value")

    def variable(self, value, place):
        self.members(value, place, "key", "id value type name description system disabled")

    def event(self, value, place):
        event = self.members(value, place, "listen script", "id disabled")
        if event.get("listen") not in ("test", "prerequest"):
            self.wrong.append(f"{place}.listen is {event.get('listen')}")
        script = self.members(event.get("script", {}), place + ".script", "exec", "type id src name")
        self.each(script.get("exec"), place + ".script.exec", lambda one, at: self.wrong.extend([] if isinstance(one, str) else [at]))


# MARK: Readers


def answers(lines, root, setter):
    """What a script sets. It may have no other lines than these."""
    found = []
    assignment = re.compile(rf'\s*if \(({root}\S*)\) {re.escape(setter)}\("(\w+)", ({root}\S*)\);')
    for line in lines:
        if one := assignment.fullmatch(line):
            careful, variable, plain = one.groups()
            if careful.replace("?.", ".").replace(".[", "[") != plain:
                raise SystemExit(f"a script looks at one place and takes another: {line}")
            found.append((variable, re.findall(r"\w+", plain[len(root):])))
        elif not re.fullmatch(r"if \((pm\.response\.code|res\.status) < 300\) \{|    const answer = pm\.response\.json\(\);|\}", line):
            raise SystemExit(f"a script has a line that this test does not know: {line}")
    return found


def postman_requests(document):
    for folder in document["item"]:
        for item in folder["item"]:
            request = item["request"]
            url = request["url"]["raw"]
            for one in request["url"].get("variable", []):
                url = url.replace(f"/:{one['key']}", f"/{one['value']}")
            headers = [(one["key"], one["value"]) for one in request["header"] if not one.get("disabled")]
            if request["auth"]["type"] == "apikey":
                auth = {one["key"]: one["value"] for one in request["auth"]["apikey"]}
                if auth["in"] != "header":
                    raise SystemExit(f"{item['name']}: the token is not in a header")
                headers.append((auth["key"], auth["value"]))
            body = request.get("body")
            content = None
            if body:
                content = {"raw": lambda: body["raw"], "file": lambda: ("file", body["file"]["src"]), "urlencoded": lambda: (
                    "form", tuple((one["key"], one["value"]) for one in body["urlencoded"]))}[body["mode"]]()
            script = [line for event in item.get("event", []) for line in event["script"]["exec"]]
            yield Request(folder["name"], item["name"], request["method"], url, headers, content, answers(script, "answer", "pm.collectionVariables.set"))


def bru_blocks(text):
    """The blocks of a .bru file by their names. A block begins with `name {` and ends with the first line that is a brace alone."""
    found, name, lines = {}, None, []
    for line in text.splitlines():
        if name is None:
            if begin := re.fullmatch(r"([a-z][a-z:-]*) \{", line):
                name, lines = begin.group(1), []
            elif line:
                raise SystemExit(f"a line outside of a block: {line}")
        elif line == "}":
            if name in found:
                raise SystemExit(f"the block {name} is there twice")
            found[name], name = lines, None
        elif line and not line.startswith("  "):
            raise SystemExit(f"a line of {name} is not indented: {line}")
        else:
            lines.append(line[2:])
    if name is not None:
        raise SystemExit(f"the block {name} has no end")
    return found


def pairs(lines):
    """The enabled pairs of a dictionary."""
    made = []
    for line in lines:
        key, separator, value = line.partition(":")
        if not separator or not re.fullmatch(r"~?[A-Za-z0-9_-]+", key):
            raise SystemExit(f"not a pair: {line}")
        if not key.startswith("~"):
            made.append((key, value.strip()))
    return made


def bruno_requests(folder):
    """The requests of a collection's folder, in the order of its folders and of their numbers."""
    folders = []
    for place in folder.iterdir():
        if place.is_dir():
            meta = dict(pairs(bru_blocks((place / "folder.bru").read_text())["meta"]))
            folders.append((int(meta["seq"]), meta["name"], place))
    for _, name, place in sorted(folders):
        found = []
        for path in place.glob("*.bru"):
            if path.name != "folder.bru":
                blocks = bru_blocks(path.read_text())
                found.append((int(dict(pairs(blocks["meta"]))["seq"]), blocks))
        if [number for number, _ in sorted(found, key=lambda one: one[0])] != list(range(1, len(found) + 1)):
            raise SystemExit(f"the numbers of the requests of {name} are not 1 to {len(found)}")
        for _, blocks in sorted(found, key=lambda one: one[0]):
            yield bruno_request(name, blocks)


def bruno_request(folder, blocks):
    meta = dict(pairs(blocks["meta"]))
    (method,) = [name for name in blocks if name in ("get", "put", "post", "patch", "delete")]
    request = dict(pairs(blocks[method]))
    url = request["url"]
    for key, value in pairs(blocks.get("params:path", [])):
        url = url.replace(f"/:{key}", f"/{value}")
    if urllib.parse.parse_qsl(url.partition("?")[2]) != pairs(blocks.get("params:query", [])):
        raise SystemExit(f"{meta['name']}: the query of the URL is not that of its block: {url}")
    headers = pairs(blocks.get("headers", []))
    if request["auth"] == "apikey":
        auth = dict(pairs(blocks["auth:apikey"]))
        if auth["placement"] != "header":
            raise SystemExit(f"{meta['name']}: the token is not in a header")
        headers.append((auth["key"], auth["value"]))
    elif request["auth"] != "none" or "auth:apikey" in blocks:
        raise SystemExit(f"{meta['name']}: auth is {request['auth']}")
    mode, content = request["body"], None
    if mode in ("json", "text"):
        content = "\n".join(blocks[f"body:{mode}"])
    elif mode == "formUrlEncoded":
        content = ("form", tuple(pairs(blocks["body:form-urlencoded"])))
    elif mode == "file":
        found = re.fullmatch(r"@file\((.+)\) @contentType\((.+)\)", dict(pairs(blocks["body:file"]))["file"])
        content = ("file", found.group(1))
        if ("Content-Type", found.group(2)) not in headers:
            raise SystemExit(f"{meta['name']}: the file has another type than the header")
    elif mode != "none":
        raise SystemExit(f"{meta['name']}: the body {mode} is not one of Bruno's")
    if mode == "none" and any(name.startswith("body") for name in blocks):
        raise SystemExit(f"{meta['name']}: a body that is not sent")
    script = answers(blocks.get("script:post-response", []), "res.body", "bru.setVar")
    return Request(folder, meta["name"], method.upper(), url, headers, content, script)


# MARK: The runner


class Runner:
    """Sends requests, as Postman and Bruno would: variables are filled in, and answers set them."""

    def __init__(self, simulator, variables, files, document):
        self.simulator, self.files = simulator, files
        self.variables = {**variables, "baseUrl": simulator.url}
        self.document = document
        self.paths = [(re.compile(re.sub(r"\{[^}]+\}", "[^/]+", re.sub(r"[.]", r"\\.", path)) + "$"), path) for path in document["paths"]]
        # A path without parameters is meant before one with them.
        self.paths.sort(key=lambda one: one[1].count("{"))

    def filled(self, text):
        def value(found):
            if found.group(1) not in self.variables:
                raise SystemExit(f"the variable {found.group(1)} is not one of the collection")
            return self.variables[found.group(1)]
        return re.sub(r"\{\{(\w+)\}\}", value, text)

    def send(self, request):
        """Returns the status and the operation's documented ones."""
        url = urllib.parse.urlsplit(self.filled(request.url))
        body = request.body
        if isinstance(body, tuple):
            kind, content = body
            body = (self.files / content).read_bytes() if kind == "file" else urllib.parse.urlencode(
                [(key, self.filled(value)) for key, value in content]).encode()
        elif body is not None:
            body = self.filled(body).encode()
        connection = http.client.HTTPConnection(url.hostname, url.port, timeout=60)
        try:
            connection.request(request.method, url.path + (f"?{url.query}" if url.query else ""), body,
                               {key: self.filled(value) for key, value in request.headers})
            answer = connection.getresponse()
            # A stream of events does not end.
            data = b"" if answer.getheader("Content-Type", "").startswith("text/event-stream") else answer.read()
        finally:
            connection.close()
        if answer.status < 300 and request.answers:
            found = json.loads(data)
            for variable, place in request.answers:
                value = found
                for part in place:
                    value = (value[int(part)] if int(part) < len(value) else None) if isinstance(value, list) else (value or {}).get(part)
                if value:
                    self.variables[variable] = value
        plain = re.sub(r"^/ns/[^/]+", "", url.path)
        for pattern, path in self.paths:
            if pattern.match(plain) and request.method.lower() in self.document["paths"][path]:
                operation = self.document["paths"][path][request.method.lower()]
                return answer.status, operation, data
        raise SystemExit(f"{request.method} {plain} is not in the description")

    def send_all(self, name, requests):
        """Sends each request, after those of the folder that comes first. Each folder has a namespace of its own."""
        begin = [one for one in requests if one.folder == BEGIN]
        control = [(key, value) for key, value in [("X-Sim-Control-Token", "{{controlToken}}"), ("Content-Type", "application/json")]]
        wrong, counts = [], collections.Counter()
        operations = set()
        namespace = None
        for request in requests:
            if namespace != request.folder:
                namespace = request.folder
                self.variables["namespace"] = "c-" + re.sub("[^a-z]+", "-", f"{name} {namespace}".lower())
                made = Request("", "", "PUT", "{{baseUrl}}/_sim/namespaces/{{namespace}}", control, "{}", [])
                if (status := self.send(made)[0]) != 201:
                    raise SystemExit(f"a namespace: {status}")
            if request.folder != BEGIN:
                # What an earlier request has set does not stop the login.
                self.send(Request("", "", "PATCH", "{{baseUrl}}/ns/{{namespace}}/_sim/settings", control, '{"rate_limits": "off"}', []))
                for one in begin:
                    if (status := self.send(one)[0]) >= 300:
                        wrong.append(f"{one.name}, before {request.name}: {status}")
            status, operation, data = self.send(request)
            operations.add(operation["operationId"])
            documented = set(operation["responses"])
            counts[str(status)[0] + "xx"] += 1
            said = f"{request.folder} / {request.name}: {status} {data[:200]!r}"
            if str(status) not in documented:
                wrong.append(f"{said}, and documented are {', '.join(sorted(documented))}")
            # A variable without a value is not an example.
            named = re.findall(r"\{\{(\w+)\}\}", str(request.body))
            if status in (400, 415) and request.body is not None and all(self.variables[one] for one in named):
                wrong.append(f"{said}, to an example")
            if status == 401 or request.folder == BEGIN and status >= 300:
                wrong.append(said)
            if self.shows:
                print(f"      {said if status >= 300 else said[:100]}")
        check(f"{name}: {len(requests)} requests are answered as documented ({', '.join(f'{n} {key}' for key, n in sorted(counts.items()))})",
              not wrong, "\n".join(wrong))
        check(f"{name}: three of four succeed", counts["2xx"] * 4 >= len(requests) * 3, str(counts))
        every = {operation["operationId"] for entry in self.document["paths"].values() for key, operation in entry.items()
                 if key in ("get", "put", "post", "patch", "delete")}
        check(f"{name}: all {len(every)} operations are sent", operations == every, str(every - operations))

    shows = False


def ask(client, path, token):
    client.connection.request("GET", path, headers={"X-Sim-Control-Token": token} if token else {})
    return client.connection.getresponse().read()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--folder", help="where the collections are, for instance dist; made anew without it")
    parser.add_argument("--short", action="store_true", help="send Bruno's requests alone; Postman's are compared with them")
    parser.add_argument("--verbose", action="store_true", help="print each request with its status")
    given = parser.parse_args()
    program = str(pathlib.Path(given.binary).resolve())
    Runner.shows = given.verbose
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        folder = pathlib.Path(given.folder) if given.folder else place
        if not given.folder:
            for one in ("first", "second"):
                (place / one).mkdir()
                subprocess.run([ROOT / "packaging/collection.py", program, place / one], check=True)
            folder = place / "first"
            check("the same description makes the same bytes", all(
                (place / "first" / one).read_bytes() == (place / "second" / one).read_bytes()
                for one in ("entrupy-sim-postman.json", "entrupy-sim-bruno.zip")))
        document = json.loads((folder / "entrupy-sim-postman.json").read_text())
        structure = Structure(document)
        check("Postman: the structure of the format v2.1", not structure.wrong, "\n".join(structure.wrong[:20]))
        with zipfile.ZipFile(folder / "entrupy-sim-bruno.zip") as archive:
            check("Bruno: every file is below one folder", all(re.fullmatch(r"entrupy-sim/([^/\\]+/)?[^/\\]+", one) for one in archive.namelist()))
            archive.extractall(place / "bruno")
        collection = place / "bruno/entrupy-sim"
        check("Bruno: bruno.json", json.loads((collection / "bruno.json").read_text())["type"] == "collection")
        by_postman, by_bruno = list(postman_requests(document)), list(bruno_requests(collection))
        variables = {one["key"]: one["value"] for one in document["variable"]}
        bruno_variables = dict(pairs(bru_blocks((collection / "collection.bru").read_text())["vars:pre-request"]))
        check("both have the same variables, with base URL, tokens and namespace", variables == bruno_variables and {
            "baseUrl", "apiToken", "sessionToken", "controlToken", "namespace"} <= set(variables), f"{variables} {bruno_variables}")
        differ = [f"{one}\n{other}" for one, other in zip(by_postman, by_bruno)
                  if one._replace(headers=sorted(one.headers)) != other._replace(headers=sorted(other.headers))]
        check(f"both have the same {len(by_postman)} requests", len(by_postman) == len(by_bruno) and not differ, "\n".join(differ[:3]))
        check_scripts(document, collection, place)
        described = None
        for kind, requests, files, token in (
                ("Postman", by_postman, ROOT / "demo", ""), ("Bruno, with a control token", by_bruno, collection, "ctl-x")):
            if given.short and not token:
                continue
            simulator = Simulator(program, "--in-memory", *(["--control-token", token] if token else []))
            with contextlib.closing(Client(simulator)) as client:
                described = described or json.loads(ask(client, "/openapi.json", token))
                runner = Runner(simulator, {**(variables if not token else bruno_variables), "controlToken": token}, files, described)
                runner.send_all(kind, requests)
                if token:
                    runner.variables["controlToken"] = "wrong"
                    control = [one for one in requests if one.url.endswith("/_sim/settings")][0]
                    check("Bruno: the control token is the one that is sent", runner.send(control)[0] == 401)
            simulator.stop()
    sys.exit(f"{len(failures)} checks failed" if failures else 0)


def check_scripts(document, collection, place):
    """The scripts are JavaScript, which the runner does not run."""
    if not shutil.which("node"):
        print("skipped: no node, which reads the scripts")
        return
    scripts = [line for folder in document["item"] for item in folder["item"] for event in item.get("event", [])
               for line in ["{", *event["script"]["exec"], "}"]]
    for path in collection.rglob("*.bru"):
        scripts += ["{", *bru_blocks(path.read_text()).get("script:post-response", []), "}"]
    (place / "scripts.js").write_text("\n".join(scripts))
    done = subprocess.run(["node", "--check", place / "scripts.js"], capture_output=True, text=True)
    check(f"the scripts are JavaScript ({len(scripts)} lines)", len(scripts) > 100 and done.returncode == 0, done.stderr)


main()
