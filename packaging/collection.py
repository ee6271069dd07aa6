#!/usr/bin/env python3
"""Writes the API's requests as a collection for Postman and one for Bruno, from the description that the program serves.

    packaging/collection.py PROGRAM FOLDER

FOLDER gets entrupy-sim-postman.json (the format v2.1) and entrupy-sim-bruno.zip (a folder of .bru files, with the picture and the video
that the uploads send). The same description makes the same bytes. An operation has a request for each example of its body; folders are
the description's tags, after one whose requests log in and make an item.
"""

import json
import pathlib
import re
import subprocess
import sys
import urllib.request
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
METHODS = ("get", "put", "post", "patch", "delete")
FILES = {"image/jpeg": "sneaker.jpg", "video/mp4": "clip.mp4"}
# Which variable holds the token of a security scheme, and what stands before it.
SCHEMES = {"apiToken": "Token ", "sessionToken": "Token ", "partnerToken": "Token ", "controlToken": ""}
# Tags whose operations need the control token where the server has one.
CONTROL_TAGS = {"Control", "Server"}

# Path parameters whose values come from answers: (parameter, beginning of the path) to the variable's name. The first that fits.
PATH_VARIABLES = [
    ("entrupy_id", "/", "entrupyId"), ("certificate_id", "/", "entrupyId"), ("sha256", "/", "imageSha256"),
    ("id", "/sdk/captures/", "captureId"), ("id", "/v1/webhooks/", "webhookId"), ("id", "/v2/webhooks/", "webhookId"),
    ("id", "/_sim/webhooks/", "webhookId"), ("id", "/_sim/webhook-deliveries/", "deliveryId"), ("id", "/components/sessions/", "workflowSessionId"),
    ("id", "/_sim/sessions/", "sessionId"), ("id", "/_sim/requests/", "requestId"), ("id", "/_sim/outcomes/", "outcomeId"),
    ("id", "/_sim/faults/", "faultId"), ("id", "/_sim/held/", "heldId"),
]
# What an answer of an operation sets: variable to the place in its JSON.
ANSWERS = {
    "authorizeUserV1": {"signedRequest": "signed_authorization_request", "username": "username"},
    "authorizeUserV2": {"signedRequest": "signed_authorization_request", "username": "username"},
    "partnerAuthorize": {"signedRequest": "signed_authorization_request"},
    "login": {"sessionToken": "token"}, "loginByGuide": {"sessionToken": "token"}, "partnerLogin": {"partnerToken": "token"},
    "startCapture": {"captureId": "capture_id"}, "uploadImage": {"imageSha256": "sha256"}, "submitCapture": {"entrupyId": "entrupy_id"},
    "createWebhookV1": {"webhookId": "id"}, "createWebhookV2": {"webhookId": "id"}, "subscribe": {"webhookId": "id"},
    "generateItems": {"entrupyId": "entrupy_ids.0"}, "listWebhookDeliveries": {"deliveryId": "deliveries.0.id"},
    "startWorkflowSession": {"workflowSessionId": "session_id"}, "listSessions": {"sessionId": "sessions.0.id"},
    "listRequests": {"requestId": "requests.0.id"}, "addOutcome": {"outcomeId": "id"}, "addFault": {"faultId": "id"},
    "listHeld": {"heldId": "held.0.id"},
}
# Members of examples that come from answers.
BODY_VARIABLES = {"signed_authorization_request": "signedRequest", "entrupy_id": "entrupyId", "token": "controlToken"}
# The folder that comes first: operation, name, and members that its body gets.
BEGIN = [
    ("authorizeUserV2", "1 Register a user and sign the login request", {}),
    ("login", "2 Log in as the app", {}),
    ("partnerLogin", "3 Log in to the sample apps' backend", {}),
    ("generateItems", "4 Make an item of the user", {"result": "authentic", "customer_item_id": "sku-xyz", "username": "{{username}}"}),
    ("startCapture", "5 Start a capture", {}),
    ("uploadImage", "6 Upload a picture to it", {}),
]
# The first values of the variables.
VARIABLES = {
    "baseUrl": ("http://127.0.0.1:8642", "The server."),
    "namespace": ("default", "The namespace."),
    "apiToken": ("demo-api-token", "An organization's API token."),
    "sessionToken": ("", "A user's session token. \"2 Log in as the app\" sets it."),
    "partnerToken": ("", "The token of the sample apps' backend. \"3 Log in to the sample apps' backend\" sets it."),
    "controlToken": ("", "The server's control token, if it has one."),
    "username": ("DemoOrg-example-user-id", "The user's name. \"1 Register a user and sign the login request\" sets it."),
    "signedRequest": ("", "The signed login request. \"1 Register a user and sign the login request\" sets it."),
}


def fail(text):
    sys.exit(f"collection: {text}")


def description(program):
    """The description, as a server of the program answers it."""
    process = subprocess.Popen(
        [program, "serve", "--in-memory", "--port", "0", "--ready-json", "--exit-with-parent"], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        line = process.stdout.readline()
        if not line:
            fail(f"{program} does not serve")
        with urllib.request.urlopen(json.loads(line)["url"] + "/openapi.json", timeout=60) as answer:
            return json.load(answer)
    finally:
        process.terminate()
        process.wait(timeout=60)


class Description:
    def __init__(self, document):
        self.document = document
        self.operations = [
            (path, method, operation, entry.get("parameters", []))
            for path, entry in document["paths"].items() for method, operation in entry.items() if method in METHODS]
        self.ids = {operation["operationId"] for _, _, operation, _ in self.operations}
        for name in [*ANSWERS, *(one for one, _, _ in BEGIN)]:
            if name not in self.ids:
                fail(f"the description has no operation {name}, which ANSWERS or BEGIN of this script names")

    def resolved(self, value):
        while isinstance(value, dict) and "$ref" in value:
            place = self.document
            for part in value["$ref"].removeprefix("#/").split("/"):
                place = place[part]
            value = place
        return value

    def scheme(self, operation):
        """The name of the security scheme of an operation; None if it needs no token."""
        if "security" in operation:
            names = [name for one in operation["security"] for name in one]
            if unknown := set(names) - set(SCHEMES):
                fail(f"{operation['operationId']} has the security scheme {', '.join(unknown)}, which SCHEMES does not have")
            return names[0] if names else None
        return "controlToken" if CONTROL_TAGS & set(operation["tags"]) else None

    def header_of(self, scheme):
        one = self.document["components"]["securitySchemes"][scheme]
        if (one["type"], one["in"]) != ("apiKey", "header"):
            fail(f"the security scheme {scheme} is not a header")
        return one["name"]

    def bodies(self, operation):
        """Pairs of a media type and an example; one pair for each example, or one whose example is None for a file or nothing."""
        body = self.resolved(operation.get("requestBody"))
        if not body:
            return [(None, None, None)]
        found = []
        for media, content in body["content"].items():
            examples = {"": content["example"]} if "example" in content else {
                name: self.resolved(one)["value"] for name, one in content.get("examples", {}).items()}
            found.append((media, examples))
        # JSON, if there is an example of it; then what else has one; then a file that the collection brings.
        found.sort(key=lambda one: (not one[1], one[0] != "application/json"))
        media, examples = found[0]
        if examples:
            return [(media, name if len(examples) > 1 else "", value) for name, value in examples.items()]
        media = next((one for one, _ in found if one in FILES), None)
        if media is None:
            fail(f"{operation['operationId']} has a body without an example, and FILES has no file of its types")
        return [(media, "", None)]


def with_variables(value):
    if isinstance(value, dict):
        return {key: "{{" + BODY_VARIABLES[key] + "}}" if key in BODY_VARIABLES and isinstance(one, str) else with_variables(one)
                for key, one in value.items()}
    return [with_variables(one) for one in value] if isinstance(value, list) else value


def words(name):
    """`never_arrived` and `neverArrived` as words."""
    return re.sub(r"([a-z])([A-Z])", lambda found: f"{found[1]} {found[2].lower()}", name).replace("_", " ")


def requests_of(described, path, method, operation, shared):
    """The requests of an operation, one for each example of its body."""
    parameters = [described.resolved(one) for one in [*shared, *operation.get("parameters", [])]]
    values, queries, headers = [], [], []
    for one in parameters:
        value = one.get("example", one["schema"].get("default", one["schema"].get("enum", [""])[0]))
        text = json.dumps(value) if isinstance(value, (bool, int, float)) else str(value)
        if one["in"] == "path":
            variable = next((name for key, begin, name in PATH_VARIABLES if key == one["name"] and path.startswith(begin)), None)
            if variable:
                VARIABLES.setdefault(variable, (text, f"The value of `{one['name']}`. Answers set it."))
            values.append((one["name"], "{{" + variable + "}}" if variable else text))
        else:
            (queries if one["in"] == "query" else headers).append((one["name"], text, one.get("required", False)))
    scheme = described.scheme(operation)
    prefix = "{{baseUrl}}" if operation["tags"][0] == "Server" else "{{baseUrl}}/ns/{{namespace}}"
    for media, example, value in described.bodies(operation):
        content = None
        if media is not None and value is None:
            content = ("file", FILES[media])
        elif media == "application/x-www-form-urlencoded":
            content = ("form", list(with_variables(value).items()))
        elif media is not None:
            # YAML takes JSON too.
            content = ("text", json.dumps(with_variables(value), indent=2, ensure_ascii=False))
        yield {
            "id": operation["operationId"], "name": operation["summary"] + (f": {words(example)}" if example else ""),
            "text": operation.get("description", operation["summary"]).strip(), "method": method.upper(), "prefix": prefix,
            "path": re.sub(r"\{(\w+)\}", r":\1", path), "values": values, "queries": queries,
            "headers": [*([("Content-Type", media, True)] if media else []), *headers],
            "auth": scheme and (described.header_of(scheme), SCHEMES[scheme] + "{{" + scheme + "}}"),
            "body": content, "answers": ANSWERS.get(operation["operationId"], {})}


def end_of_something(one):
    """What ends or deletes something comes last, and all after one: a folder can be run from its first request to its last."""
    if one["method"] == "DELETE":
        return 4 if "/:" in one["path"] else 5
    return {"finish": 1, "cancel": 2, "logout": 3}.get(one["path"].split("/")[-1], 0)


def folders(described):
    """Names, descriptions and requests of the folders, in their order."""
    all_requests = {}
    texts = {tag["name"]: tag["description"] for tag in described.document["tags"]}
    by_tag = {name: [] for name in texts}
    for path, method, operation, shared in described.operations:
        made = list(requests_of(described, path, method, operation, shared))
        all_requests[operation["operationId"]] = made[0]
        by_tag[operation["tags"][0]] += made
    begin = []
    for name, title, members in BEGIN:
        one = {**all_requests[name], "name": title}
        if members:
            one["body"] = ("text", json.dumps({**json.loads(one["body"][1]), **members}, indent=2))
        begin.append(one)
    yield "Begin here", "Logs a user in and makes an item. Run the requests in their order; they set the variables of the others.", begin
    for name, made in by_tag.items():
        made.sort(key=end_of_something)
        seen = {}
        for one in made:
            seen.setdefault(one["name"], []).append(one)
        for some in seen.values():
            # Equal names are told apart by v1 and v2, or by their paths.
            versions = [one["path"].split("/")[1] for one in some]
            if len(some) > 1:
                for one, version in zip(some, versions):
                    one["name"] += f" ({version if len(set(versions)) == len(some) else one['path']})"
        yield name, texts[name], made


def place_in(root, place):
    """A place in an answer as JavaScript, and the same where a part may be missing."""
    parts = [f"[{part}]" if part.isdigit() else f".{part}" for part in place.split(".")]
    return root + "".join(parts), root + "".join("?." + part.lstrip(".") for part in parts)


# MARK: Postman


def postman(described, all_folders):
    document = described.document
    return {
        "info": {
            "name": "entrupy-sim", "version": document["info"]["version"], "description": document["info"]["description"].strip(),
            "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
        "item": [{"name": name, "description": text, "item": [postman_item(one) for one in made]} for name, text, made in all_folders],
        "variable": [{"key": key, "value": value, "type": "string", "description": text} for key, (value, text) in VARIABLES.items()]}


def postman_item(one):
    shown = "&".join(f"{key}={value}" for key, value, enabled in one["queries"] if enabled)
    host, *before = one["prefix"].split("/")
    item = {"name": one["name"], "request": {
        "method": one["method"], "description": one["text"],
        "header": [{"key": key, "value": value, **({} if enabled else {"disabled": True})} for key, value, enabled in one["headers"]],
        "url": {
            "raw": one["prefix"] + one["path"] + (f"?{shown}" if shown else ""), "host": [host],
            "path": [*before, *one["path"].removeprefix("/").split("/")],
            **({"query": [{"key": key, "value": value, **({} if enabled else {"disabled": True})} for key, value, enabled in one["queries"]]}
               if one["queries"] else {}),
            **({"variable": [{"key": key, "value": value} for key, value in one["values"]]} if one["values"] else {})},
        "auth": {"type": "noauth"}}}
    if one["auth"]:
        key, value = one["auth"]
        item["request"]["auth"] = {"type": "apikey", "apikey": [
            {"key": name, "value": text, "type": "string"} for name, text in (("key", key), ("value", value), ("in", "header"))]}
    if one["body"]:
        kind, content = one["body"]
        item["request"]["body"] = {
            "text": lambda: {"mode": "raw", "raw": content, "options": {"raw": {"language": "json"}}},
            "form": lambda: {"mode": "urlencoded", "urlencoded": [{"key": key, "value": value} for key, value in content]},
            "file": lambda: {"mode": "file", "file": {"src": content}}}[kind]()
    if one["answers"]:
        lines = ["if (pm.response.code < 300) {", "    const answer = pm.response.json();"]
        for variable, place in one["answers"].items():
            plain, careful = place_in("answer", place)
            lines.append(f'    if ({careful}) pm.collectionVariables.set("{variable}", {plain});')
        item["event"] = [{"listen": "test", "script": {"type": "text/javascript", "exec": [*lines, "}"]}}]
    item["response"] = []
    return item


# MARK: Bruno


def block(name, lines):
    return f"{name} {{\n" + "".join(f"  {line}\n" if line else "\n" for line in lines) + "}\n" if lines else ""


def pairs(found):
    return [("" if enabled else "~") + f"{key}: {value}".rstrip() for key, value, enabled in found]


def bruno_request(one, number):
    shown = "&".join(f"{key}={value}" for key, value, enabled in one["queries"] if enabled)
    kind, content = one["body"] or ("none", None)
    is_json = any(key == "Content-Type" and value == "application/json" for key, value, _ in one["headers"])
    mode = {"text": "json" if is_json else "text", "form": "formUrlEncoded"}.get(kind, kind)
    parts = [
        block("meta", [f"name: {one['name']}", "type: http", f"seq: {number}"]),
        block(one["method"].lower(), [
            f"url: {one['prefix']}{one['path']}{'?' + shown if shown else ''}", f"body: {mode}", f"auth: {'apikey' if one['auth'] else 'none'}"]),
        block("params:query", pairs(one["queries"])),
        block("params:path", pairs([(key, value, True) for key, value in one["values"]])),
        block("headers", pairs(one["headers"]))]
    if one["auth"]:
        parts.append(block("auth:apikey", [f"key: {one['auth'][0]}", f"value: {one['auth'][1]}", "placement: header"]))
    if kind == "text":
        parts.append(block(f"body:{mode}", content.split("\n")))
    elif kind == "form":
        parts.append(block("body:form-urlencoded", [f"{key}: {value}" for key, value in content]))
    elif kind == "file":
        media = next(value for key, value, _ in one["headers"] if key == "Content-Type")
        parts.append(block("body:file", [f"file: @file({content}) @contentType({media})"]))
    if one["answers"]:
        lines = ["if (res.status < 300) {"]
        for variable, place in one["answers"].items():
            plain, careful = place_in("res.body", place)
            lines.append(f'  if ({careful}) bru.setVar("{variable}", {plain});')
        parts.append(block("script:post-response", [*lines, "}"]))
    parts.append(block("docs", one["text"].split("\n")))
    return "\n".join(part for part in parts if part)


def bruno(described, all_folders):
    """Names and contents of the files of the collection."""
    yield "bruno.json", json.dumps({"version": "1", "name": "entrupy-sim", "type": "collection", "ignore": ["node_modules", ".git"]}, indent=2) + "\n"
    text = described.document["info"]["description"].strip()
    yield "collection.bru", "\n".join([
        block("vars:pre-request", [f"{key}: {value}".rstrip() for key, (value, _) in VARIABLES.items()]), block("docs", text.split("\n"))])
    for number, (name, folder_text, made) in enumerate(all_folders, 1):
        yield f"{name}/folder.bru", "\n".join([block("meta", [f"name: {name}", f"seq: {number}"]), block("docs", folder_text.split("\n"))])
        names = set()
        for index, one in enumerate(made, 1):
            # A name of a file for every system.
            file = re.sub(r"[^A-Za-z0-9.' ()-]+", " ", one["name"].replace(": ", " - "))
            file = re.sub(r" +", " ", file)[:100].strip(" .")
            if file.lower() in names or file == "folder":
                fail(f"two requests of {name} would be the file {file}.bru")
            names.add(file.lower())
            yield f"{name}/{file}.bru", bruno_request(one, index)
    for file in sorted(set(FILES.values())):
        yield file, (ROOT / "demo" / file).read_bytes()


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: packaging/collection.py PROGRAM FOLDER")
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    described = Description(description(program))
    made = list(folders(described))
    (folder / "entrupy-sim-postman.json").write_text(json.dumps(postman(described, made), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    with zipfile.ZipFile(folder / "entrupy-sim-bruno.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in bruno(described, made):
            # The time is the oldest that the format knows, so equal contents are equal bytes.
            entry = zipfile.ZipInfo(f"entrupy-sim/{name}", (1980, 1, 1, 0, 0, 0))
            entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, 0o644 << 16, 3
            archive.writestr(entry, content if isinstance(content, bytes) else content.encode())
    print(f"{sum(len(one) for _, _, one in made)} requests of {len(described.operations)} operations in the collections for Postman and Bruno")


main()
