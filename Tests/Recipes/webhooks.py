"""Tries the functions of recipes/webhooks, in each language that this machine has, with real deliveries of the simulator.

    python3 -B Tests/Recipes/webhooks.py --binary PROGRAM [--only go,java] [--build FOLDER]

Each function checks deliveries in every form of signature and of body, then what it must refuse without an exception: changed bodies,
another secret, no header, upper-case digits, garbage. `entrupy-sim webhooks probe` judges each too. A language that is not installed is
skipped, with a sentence. Swift needs the modules of swift-crypto that a build of this package leaves in .build.
"""

import argparse
import base64
import contextlib
import hashlib
import hmac
import http.client
import http.server
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "Support"))
from simulator import API_TOKEN, Client, Simulator  # noqa: E402

RECIPES = ROOT / "recipes" / "webhooks"
FORMS = ("sha256-base64", "sha256-hex", "hex")
# Every character of a secret counts, and its bytes are UTF-8.
SECRET = "whsec ü✓ \"'\\ $(x)"
failures = []


def check(name, holds, text=""):
    print(("ok    " if holds else "FAIL  ") + name + ("" if holds else f"\n{text}"), flush=True)
    if not holds:
        failures.append(name)


class Process:
    """A receiver in a process of its own, as a reader of the recipe starts it."""

    def __init__(self, command, form):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=self.errors, text=True, env=environment(form))
        line = self.process.stdout.readline()
        found = re.fullmatch(r"listening on http://127\.0\.0\.1:(\d+)\n", line)
        if not found:
            self.close()
            raise SystemExit(f"{command[0]} did not say where it listens: {line!r} {self.said}")
        self.port = int(found.group(1))

    def close(self):
        """Ends the process, and keeps what it said of errors. `died` tells whether it had ended before."""
        self.died = self.process.poll() is not None
        self.process.terminate()
        self.process.communicate(timeout=20)
        self.errors.seek(0)
        self.said = self.errors.read()


class Function:
    """A receiver here, which asks a program on a pipe: the function alone is the other language's."""

    def __init__(self, command, form):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.said, self.lock = "", threading.Lock()
        word = lambda data: base64.b64encode(data).decode()  # noqa: E731

        def verify(body, signature):
            header = "-" if signature is None else word(signature.encode("latin-1"))
            with self.lock:
                self.process.stdin.write(f"{word(SECRET.encode())} {word(body)} {header} {form}\n")
                self.process.stdin.flush()
                return {"true\n": True, "false\n": False}[self.process.stdout.readline()]

        self.server = serve(lambda path, headers, body: 204 if verify(body, headers.get("Entrupy-Signature")) else 401)
        self.port = self.server.server_port

    def close(self):
        self.died = self.process.poll() is not None
        self.server.shutdown()
        self.server.server_close()
        self.said = self.process.communicate(timeout=20)[1]


def serve(answer):
    """Starts an HTTP server that answers POST with the status that `answer(path, headers, body)` returns."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(answer(self.path, self.headers, body))
            self.end_headers()

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def environment(form, **changes):
    return {**os.environ, "LC_ALL": "C.UTF-8", "PORT": "0", "WEBHOOK_SECRET": SECRET, "WEBHOOK_SIGNATURE": form, **changes}


# MARK: Languages


def python(_):
    return Process, [sys.executable, "-B", str(RECIPES / "entrupy_webhook.py")]


def node(_):
    if not shutil.which("node"):
        return "no node"
    return Process, ["node", str(RECIPES / "entrupy-webhook.mjs")]


def java(folder):
    if not shutil.which("javac"):
        return "no javac, which a JDK has"
    version = int(re.search(r"\d+", subprocess.run(["javac", "-version"], capture_output=True, text=True).stdout).group())
    if version < 17:
        return f"javac is version {version}, and the recipe needs 17"
    subprocess.run(["javac", "-Xlint:all", "-Werror", "-d", str(folder), str(RECIPES / "EntrupyWebhook.java")], check=True)
    return Process, ["java", "-cp", str(folder), "EntrupyWebhook"]


def go(folder):
    if not shutil.which("go"):
        return "no go"
    program = folder / "receiver"
    subprocess.run(["go", "vet", str(RECIPES / "entrupy_webhook.go")], check=True, cwd=folder)
    subprocess.run(["go", "build", "-o", str(program), str(RECIPES / "entrupy_webhook.go")], check=True, cwd=folder)
    return Process, [str(program)]


def swift(folder):
    if not shutil.which("swiftc"):
        return "no swiftc"
    program = folder / "driver"
    command = ["swiftc", "-O", "-o", str(program), str(RECIPES / "EntrupyWebhook.swift"), str(ROOT / "Tests/Recipes/webhook-driver.swift"),
               "-module-name", "Driver", "-parse-as-library"]
    if platform.system() != "Darwin":
        parts = ["Crypto", "CryptoBoringWrapper", "CCryptoBoringSSL", "CCryptoBoringSSLShims", "CXKCP", "CXKCPShims"]
        sources = BUILD
        headers = sources / "checkouts/swift-crypto/Sources"
        # The release build first: a debug build may be under way.
        built = [sources / name for name in ("release", "debug") if (sources / name / "Modules/Crypto.swiftmodule").exists()
                 and all(any((sources / name / f"{part}.build").rglob("*.o")) for part in parts)]
        if not built or not headers.is_dir():
            return "no built swift-crypto in .build, which make build leaves there"
        objects = [str(path) for part in parts for path in (built[0] / f"{part}.build").rglob("*.o")]
        includes = [flag for part in parts[2:] for flag in ("-I", str(headers / part / "include"))]
        # What is built in release contains Swift's libraries, and its objects name them so.
        libraries = ["-static-stdlib"] if built[0].name == "release" else []
        command += ["-I", str(built[0] / "Modules"), *includes, *objects, *libraries, "-lstdc++"]
    done = subprocess.run(command, capture_output=True, text=True)
    if "cannot be imported by" in done.stderr:
        return "the swift-crypto in .build is of another version of Swift"
    if done.returncode:
        raise SystemExit(f"recipes/webhooks/EntrupyWebhook.swift does not compile:\n{done.stderr[-3000:]}")
    return Function, [str(program)]


LANGUAGES = {"python": python, "node": node, "swift": swift, "java": java, "go": go}


# MARK: Deliveries


class World:
    """A simulator with an item, and real deliveries in each form that a recorder took."""

    def __init__(self, binary):
        self.binary = binary
        self.simulator = Simulator(binary, "--in-memory", "--rate-limits", "off")
        self.client = Client(self.simulator)
        self.recorded, self.by_path = {}, {}
        lock = threading.Lock()

        def record(form):
            def answer(path, headers, body):
                with lock:
                    self.recorded.setdefault(form, []).append((body, headers["Entrupy-Signature"]))
                    self.by_path.setdefault((form, path), []).append(body)
                return 204
            return serve(answer)

        recorders = {form: record(form) for form in FORMS}
        self.item = self.client.must("POST", "/_sim/authentications", {"brand": "Nike", "customer_item_id": "sku-ü-✓"})["entrupy_ids"][0]
        made = [self.subscribe(recorders[form].server_port, form) for form in FORMS]
        self.happen()
        self.client.must("POST", "/_sim/settle", {"within": "20s"})
        for ids in made:
            self.unsubscribe(ids)
        for recorder in recorders.values():
            recorder.shutdown()
            recorder.server_close()

    def subscribe(self, port, form):
        """Subscribes a receiver to every form of body and every version of the item."""
        made = []
        for version in ("1.3", "1.4", "v2"):
            for format in ("items", "event"):
                body = {"url": f"http://127.0.0.1:{port}/hooks/{version}/{format}", "secret_key": SECRET, "format": format, "signature": form}
                connection = http.client.HTTPConnection(self.simulator.host, self.simulator.port, timeout=30)
                connection.request("POST", "/v2/webhooks" if version == "v2" else "/v1/webhooks", json.dumps(body), {
                    "Authorization": f"Token {API_TOKEN}", "Content-Type": "application/json",
                    **({} if version == "v2" else {"Api-Version": version})})
                answer = connection.getresponse()
                made.append(json.loads(answer.read())["id"])
                connection.close()
                if answer.status != 201:
                    raise SystemExit(f"subscription {body}: {answer.status}")
        return made

    def unsubscribe(self, ids):
        for name in ids:
            self.client.must("DELETE", f"/v2/webhooks/{name}", token=API_TOKEN)

    def happen(self):
        """Each event is sent once, and flag and answer of support with their words."""
        for event in ("session.completed", "session.updated", "support.message", "certificate.transfer"):
            self.client.must("POST", "/_sim/webhooks/trigger", {"event": event, "entrupy_id": self.item})
        self.client.must("POST", f"/v2/authentications/{self.item}/flag", {"reason": "Stitching looks off ✂"}, API_TOKEN)
        self.client.must("DELETE", f"/v2/authentications/{self.item}/flag", token=API_TOKEN)

    def deliveries(self):
        return self.client.must("GET", "/_sim/webhook-deliveries?limit=100")["deliveries"]

    def close(self):
        self.client.close()
        self.simulator.stop()


def signature(body, form, secret=SECRET):
    """What the documents say of a signature, said once more: the recipes are not asked."""
    code = hmac.new(secret.encode(), body, hashlib.sha256).digest()
    return {"sha256-base64": "SHA256:" + base64.b64encode(code).decode(), "sha256-hex": "SHA256:" + code.hex(), "hex": code.hex()}[form]


def bad(body, right, form):
    """What must be refused: a name, a body, and a header or None."""
    code = right.removeprefix("SHA256:")
    mark = right[:len(right) - len(code)]
    flipped = bytearray(body)
    flipped[len(body) // 2] ^= 1
    yield "one bit of the body changed", bytes(flipped), right
    yield "a line break after the body", body + b"\n", right
    yield "the last byte missing", body[:-1], right
    yield "no body", b"", right
    yield "the same JSON, written anew", json.dumps(json.loads(body)).encode(), right
    yield "another secret", body, signature(body, form, "another")
    yield "the secret with a line break", body, signature(body, form, SECRET + "\n")
    yield "no header", body, None
    yield "an empty header", body, ""
    yield "upper-case code", body, mark + code.upper()
    yield "lower-case code" if form == "sha256-base64" else "one upper-case digit", body, mark + (
        code.lower() if form == "sha256-base64" else re.sub("[a-f]", lambda found: found.group().upper(), code, count=1))
    yield "a lower-case mark", body, "sha256:" + code
    for other in FORMS:
        if other != form:
            yield f"right in the form {other}", body, signature(body, other)
    yield "the mark alone", body, "SHA256:"
    yield "the mark twice", body, "SHA256:SHA256:" + code
    yield "a space after the mark", body, "SHA256: " + code
    yield "all but the last character", body, right[:-1]
    yield "one character more", body, right + "="
    yield "right twice", body, f"{right}, {right}"
    yield "a code of zeros", body, mark + ("A" * 43 + "=" if form == "sha256-base64" else "0" * 64)
    yield "a code in other bits of the last character", body, mark + code[:-2] + chr(ord(code[-2]) + 1) + code[-1]
    yield "what is not ASCII", body, "SHA256:ü" + "é" * 63
    yield "as long, and not ASCII", body, "\xff" * len(right)
    yield "what is not UTF-8", body, "SHA256:\xc3\x28\xa0\xff"
    yield "4,000 characters", body, "SHA256:" + "A" * 3993
    yield "null", body, "null"
    yield "a tab within", body, right[:10] + "\t" + right[11:]
    yield "percent signs", body, "%53HA256:%00%0A"


def send(port, body, header):
    """Sends a delivery. Returns the status, or a text if there was no answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.putrequest("POST", "/hooks")
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", str(len(body)))
        if header is not None:
            connection.putheader("Entrupy-Signature", header.encode("latin-1"))
        connection.endheaders(body)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        return f"no answer: {error!r}"
    finally:
        connection.close()


# MARK: Checks


def check_form(language, kind, command, world, form):
    with contextlib.closing(kind(command, form)) as receiver:
        made = world.subscribe(receiver.port, form)
        world.happen()
        world.client.must("POST", "/_sim/settle", {"within": "20s"})
        seen = [one for one in world.deliveries() if one["subscription_id"] in made]
        states = {one["status"] for one in seen}
        # Four events, a flag and its end; three versions, two formats.
        check(f"{language} {form}: takes real deliveries in six forms of the body", len(seen) == 36 and states == {"delivered"},
              f"{len(seen)} deliveries: {states}")
        again = world.client.must("POST", f"/_sim/webhook-deliveries/{seen[0]['id']}/redeliver")
        world.client.must("POST", "/_sim/settle", {"within": "20s"})
        check(f"{language} {form}: takes a delivery again",
              any(one["id"] == again["id"] and one["status"] == "delivered" for one in world.deliveries()), str(again))
        world.unsubscribe(made)
        wrong = []
        for body, right in world.recorded[form]:
            if (status := send(receiver.port, body, right)) != 204:
                wrong.append(f"a right delivery: {status}")
        tried = 0
        for body, right in world.recorded[form][:2]:
            for name, changed, header in bad(body, right, form):
                tried += 1
                if (status := send(receiver.port, changed, header)) != 401:
                    wrong.append(f"{name}: {status}")
        # It still works after all of them.
        if (status := send(receiver.port, *world.recorded[form][0])) != 204:
            wrong.append(f"a right delivery after the wrong ones: {status}")
        check(f"{language} {form}: refuses {tried} wrong deliveries with 401", tried > 50 and not wrong, "\n".join(wrong))
        done = subprocess.run(
            [world.binary, "webhooks", "probe", f"http://127.0.0.1:{receiver.port}/hooks", "--secret", SECRET, "--signature", form],
            capture_output=True, text=True, timeout=60)
        check(f"{language} {form}: webhooks probe finds nothing", done.returncode == 0 and "ok: refused" in done.stdout, done.stdout + done.stderr)
    check(f"{language} {form}: no exception", not receiver.died and not receiver.said.strip(), receiver.said[-2000:])


def check_settings(language, command):
    """A receiver that lacks what it needs says so in a line."""
    for name, changes, words in (("no secret", {"WEBHOOK_SECRET": ""}, "WEBHOOK_SECRET must be the secret_key"),
                                 ("an unknown form", {"WEBHOOK_SIGNATURE": "md5"}, "WEBHOOK_SIGNATURE must be one of sha256-base64, ")):
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, env=environment("hex", **changes))
        check(f"{language}: {name} is said in one line",
              done.returncode == 1 and words in done.stderr and done.stderr.count("\n") == 1, f"{done.returncode} {done.stderr}")


def check_documents(world):
    """The statements of recipes/webhooks/README.md on what deliveries are."""
    for form in FORMS:
        check(f"{form}: recorded signatures are those of the documents",
              len(world.recorded[form]) == 36 and all(right == signature(body, form) for body, right in world.recorded[form]),
              str(world.recorded[form][:1]))
    completed, *_, flagged, cleared = world.by_path["hex", "/hooks/v2/items"]
    check("items: two events have the same bytes, with another one between them", completed == cleared != flagged, str((completed, flagged, cleared)))
    events = [[json.loads(body)["event_id"] for body in world.by_path[form, "/hooks/v2/event"]] for form in FORMS]
    check("event: six events have six ids, the same in each subscription", len(set(events[0])) == 6 and events.count(events[0]) == 3, str(events))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--build", default=ROOT / ".build", help="the folder of a build of this package, which has swift-crypto")
    parser.add_argument("--only", default=",".join(LANGUAGES), help="names of languages, separated by commas")
    given = parser.parse_args()
    global BUILD
    BUILD = pathlib.Path(given.build).resolve()
    names = given.only.split(",")
    if unknown := set(names) - set(LANGUAGES):
        parser.error(f"--only has {', '.join(sorted(unknown))}; there are {', '.join(LANGUAGES)}")
    with contextlib.closing(World(str(pathlib.Path(given.binary).resolve()))) as world, tempfile.TemporaryDirectory() as folder:
        check_documents(world)
        for language in names:
            place = pathlib.Path(folder, language)
            place.mkdir()
            made = LANGUAGES[language](place)
            if isinstance(made, str):
                print(f"skipped: {made}", flush=True)
                continue
            kind, command = made
            if kind is Process:
                check_settings(language, command)
            for form in FORMS:
                check_form(language, kind, command, world, form)
    sys.exit(f"{len(failures)} checks failed" if failures else 0)


main()
