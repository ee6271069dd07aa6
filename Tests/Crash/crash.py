#!/usr/bin/env python3
"""Kills the server under load and looks for everything it had acknowledged.

    crash.py --binary .build/release/entrupy-sim [--rounds 20] [--seed N]

Each round, eight clients log in, start captures, upload, submit and flag at once until the process is killed with
SIGKILL. Then SQLite checks the database, the server starts again on the same directory, and every answer it had given
must still hold, once. Ends with a line `N passed, N failed`.
"""
import argparse
import collections
import hashlib
import http.client
import json
import pathlib
import random
import shutil
import sqlite3
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Support"))
from simulator import API_TOKEN, Client, Simulator, picture  # noqa: E402

CLIENTS = 8
REGIONS = ["front", "back", "logo", "hardware", "serial_number", "material"]


class Acknowledged:
    """What the server has said it did."""

    def __init__(self):
        self.lock = threading.Lock()
        self.sessions = {}  # token -> username
        self.captures = {}  # capture -> token
        self.images = {}  # (capture, region) -> sha256
        self.items = {}  # capture -> entrupy id
        self.flags = set()  # entrupy ids
        self.operations = collections.Counter()

    def note(self, operation, change):
        with self.lock:
            change()
            self.operations[operation] += 1


def work(server, name, acknowledged, chance):
    """Does what a user does, until the server is gone."""
    client = Client(server)
    count = 0
    try:
        while True:
            count += 1
            user = f"{name}-{count % 3}-user"
            status, signed = client.json(
                "POST", "/v2/integrations/authorize-user",
                {"sdk_authorization_request": "r", "unique_user_id": user, "email": f"{user}@example.com"},
                token=API_TOKEN)
            assert status == 200, (status, signed)
            status, login = client.json(
                "POST", "/sdk/login", {"signed_authorization_request": signed["signed_authorization_request"]})
            assert status == 200, (status, login)
            token = login["token"]
            acknowledged.note("login", lambda: acknowledged.sessions.update({token: login["username"]}))
            for number in range(chance.randint(1, 3)):
                item(client, token, f"{name}-{count}-{number}", acknowledged, chance)
    except (ConnectionError, http.client.HTTPException, OSError):
        return


def item(client, token, name, acknowledged, chance):
    status, started = client.json(
        "POST", "/sdk/captures",
        {"item": {"product_category": "luxury", "brand": "Gucci", "customer_item_id": f"sim-authentic-after-0s-{name}"}},
        token=token)
    assert status == 201, (status, started)
    capture = started["capture_id"]
    acknowledged.note("capture", lambda: acknowledged.captures.update({capture: token}))
    for region in REGIONS:
        image = picture(f"{name} {region} {chance.random()}")
        status, receipt = client.json("PUT", f"/sdk/captures/{capture}/images/{region}", image, token=token)
        assert status == 200 and receipt["sha256"] == hashlib.sha256(image).hexdigest(), (status, receipt)
        acknowledged.note("upload", lambda: acknowledged.images.update({(capture, region): receipt["sha256"]}))
    if chance.random() < 0.1:
        return
    status, result = client.json("POST", f"/sdk/captures/{capture}/submit", token=token)
    assert status == 200, (status, result)
    identifier = result["entrupy_id"]
    acknowledged.note("submit", lambda: acknowledged.items.update({capture: identifier}))
    if chance.random() < 0.5:
        status, flag = client.json("PUT", f"/sdk/results/{identifier}/flag", {"flag": True}, token=token)
        assert status == 200 and flag["id"] == "flagged", (status, flag)
        acknowledged.note("flag", lambda: acknowledged.flags.add(identifier))


def check_database(directory):
    """What is wrong with the database file, as SQLite and counting see it."""
    file = pathlib.Path(directory) / "namespaces" / "default.sqlite"
    database = sqlite3.connect(file)
    try:
        problems = [row[0] for row in database.execute("PRAGMA integrity_check") if row[0] != "ok"]
        for question, what in [
            ("SELECT capture_id FROM items GROUP BY capture_id HAVING COUNT(*) > 1", "capture with two items"),
            ("SELECT id FROM captures c WHERE status = 'submitted' AND NOT EXISTS"
             " (SELECT 1 FROM items i WHERE i.entrupy_id = c.entrupy_id)", "submitted capture without its item"),
            ("SELECT entrupy_id FROM items i WHERE NOT EXISTS (SELECT 1 FROM captures c"
             " WHERE c.entrupy_id = i.entrupy_id AND c.status = 'submitted')", "item whose capture is not submitted"),
            ("SELECT username FROM users u WHERE submissions <>"
             " (SELECT COUNT(*) FROM items i WHERE i.user_id = u.id)", "user with a wrong count of submissions"),
            ("SELECT id FROM signed_requests WHERE used_at IS NOT NULL GROUP BY used_at, user_id HAVING COUNT(*) <>"
             " (SELECT COUNT(*) FROM sessions s WHERE s.user_id = signed_requests.user_id"
             " AND s.created_at = used_at)", "login half done"),
        ]:
            problems += [f"{what}: {row[0]}" for row in database.execute(question)]
        return problems
    finally:
        database.close()


def check_answers(server, acknowledged):
    """What the server, alive again, no longer says."""
    client = Client(server)
    problems = []

    def expect(holds, what):
        if not holds:
            problems.append(what)

    for token, username in acknowledged.sessions.items():
        status, session = client.json("GET", "/sdk/session", token=token)
        expect(status == 200 and session["username"] == username, f"session {token}: {status}")
    for capture, token in acknowledged.captures.items():
        status, shown = client.json("GET", f"/sdk/captures/{capture}", token=token)
        expect(status == 200, f"capture {capture}: {status}")
        uploaded = {step["region_id"] for step in (shown or {}).get("steps", []) if step["uploaded"]}
        wanted = {region for (owner, region) in acknowledged.images if owner == capture}
        expect(wanted <= uploaded, f"capture {capture} lost the images {wanted - uploaded}")
        if capture not in acknowledged.items:
            continue
        identifier = acknowledged.items[capture]
        expect(shown["status"] == "submitted" and shown["entrupy_id"] == identifier, f"capture {capture}: {shown}")
        status, result = client.json("GET", f"/sdk/results/{identifier}", token=token)
        expect(status == 200 and result["status"]["result"]["id"] == "authentic", f"item {identifier}: {status}")
        flag = result["status"]["flag"]["id"]
        expect(identifier not in acknowledged.flags or flag == "flagged", f"item {identifier}: flag {flag}")
        status, again = client.json("POST", f"/sdk/captures/{capture}/submit", token=token)
        expect(status == 409 and again["entrupy_id"] == identifier, f"capture {capture} submitted again: {status}")
    for sha256 in acknowledged.images.values():
        status, data = client("GET", f"/images/{sha256}/original")
        expect(status == 200 and hashlib.sha256(data).hexdigest() == sha256, f"image {sha256}: {status}")
    return problems


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--binary", required=True)
    options.add_argument("--rounds", type=int, default=20)
    options.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = options.parse_args()
    print(f"crash test: {options.rounds} rounds, seed {options.seed}")
    chance = random.Random(options.seed)
    directory = tempfile.mkdtemp(prefix="entrupy-sim-crash-")
    flags = ["--data-dir", directory, "--rate-limits", "off", "--random-seed", "1"]
    passed = failed = 0
    total = collections.Counter()
    try:
        for number in range(options.rounds):
            acknowledged = Acknowledged()
            server = Simulator(options.binary, *flags)
            crashes = []
            threads = [
                threading.Thread(
                    target=work,
                    args=(server, f"r{number}c{client}", acknowledged, random.Random(chance.random())))
                for client in range(CLIENTS)]
            threading.excepthook = lambda problem: crashes.append(str(problem.exc_value))
            for thread in threads:
                thread.start()
            time.sleep(chance.uniform(0.2, 1.5))
            server.kill()
            for thread in threads:
                thread.join()
            problems = crashes + check_database(directory)
            server = Simulator(options.binary, *flags)
            problems += check_answers(server, acknowledged)
            server.stop()
            problems += check_database(directory)
            if not acknowledged.operations:
                problems.append("nothing was acknowledged")
            total += acknowledged.operations
            for problem in problems[:20]:
                print(f"round {number}: {problem}")
            passed, failed = (passed, failed + 1) if problems else (passed + 1, failed)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    print("acknowledged: " + ", ".join(f"{count} {name}s" for name, count in sorted(total.items())))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
