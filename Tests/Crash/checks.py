"""Looks for lost and duplicated data after a server was killed and restarted."""
import collections
import contextlib
import hashlib
import pathlib
import shutil
import sqlite3
import tempfile

from clients import START_EPOCH, own_scenarios
from simulator import Client

# Queries that must find nothing in any database, at whatever moment the process died.
QUESTIONS = [
    ("SELECT capture_id FROM items WHERE capture_id IS NOT NULL GROUP BY capture_id HAVING COUNT(*) > 1",
     "capture with two items"),
    ("SELECT id FROM captures c WHERE status = 'submitted' AND NOT EXISTS"
     " (SELECT 1 FROM items i WHERE i.entrupy_id = c.entrupy_id)", "submitted capture without its item"),
    ("SELECT entrupy_id FROM items i WHERE capture_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM captures c"
     " WHERE c.entrupy_id = i.entrupy_id AND c.status = 'submitted')", "item whose capture is not submitted"),
    ("SELECT username FROM users u WHERE submissions <>"
     " (SELECT COUNT(*) FROM items i WHERE i.user_id = u.id)",
     "user with a wrong count of submissions"),
    ("SELECT id FROM signed_requests WHERE used_at IS NOT NULL GROUP BY used_at, user_id HAVING COUNT(*) <>"
     " (SELECT COUNT(*) FROM sessions s WHERE s.user_id = signed_requests.user_id"
     " AND s.created_at = used_at)", "login half done"),
    ("SELECT subject FROM events WHERE kind IN ('capture.submitted', 'capture.cancelled', 'capture.timed_out')"
     " GROUP BY subject HAVING COUNT(*) > 1", "capture that ended twice"),
    ("SELECT delivery_id FROM attempts WHERE status BETWEEN 200 AND 299 GROUP BY delivery_id HAVING COUNT(*) > 1",
     "delivery that arrived twice by its own attempts"),
    ("SELECT id FROM deliveries d WHERE attempts <> (SELECT COUNT(*) FROM attempts a WHERE a.delivery_id = d.id)",
     "delivery with a wrong count of attempts"),
    ("SELECT event_id || ' ' || subscription_id FROM deliveries GROUP BY event_id, subscription_id"
     " HAVING COUNT(*) > 1", "event that is delivered twice to one subscription"),
    ("SELECT entrupy_id FROM deliveries WHERE event = 'session.completed' GROUP BY entrupy_id, subscription_id"
     " HAVING COUNT(*) > 1", "item that was completed twice"),
    ("SELECT id FROM deliveries d WHERE status = 'retrying' AND NOT EXISTS"
     " (SELECT 1 FROM due WHERE subject = d.id)", "retry that will never be made"),
    ("SELECT entrupy_id FROM items i WHERE planned_result_id <> 'needs_review' AND result_final = 0 AND NOT EXISTS"
     " (SELECT 1 FROM due WHERE kind = 'result' AND subject = i.entrupy_id)", "result that will never come"),
]


@contextlib.contextmanager
def database(directory, name="default"):
    """A copy of a namespace's database on disk. Opening the original would write to it."""
    with tempfile.TemporaryDirectory(prefix="entrupy-sim-copy-") as copies:
        for suffix in ("", "-wal"):
            file = pathlib.Path(directory) / "namespaces" / f"{name}.sqlite{suffix}"
            if file.exists():
                shutil.copy(file, copies)
        connection = sqlite3.connect(pathlib.Path(copies) / f"{name}.sqlite")
        try:
            yield connection
        finally:
            connection.close()


def check_files(directory, *prefixes):
    """Problems in the database files, found by SQLite's own check and by `QUESTIONS`."""
    problems = []
    for file in sorted(pathlib.Path(directory, "namespaces").glob("*.sqlite")):
        if prefixes and not file.name.startswith(prefixes):
            continue
        with database(directory, file.stem) as opened:
            try:
                problems += [f"{file.stem}: {row[0]}" for row in opened.execute("PRAGMA integrity_check") if row[0] != "ok"]
                for question, what in QUESTIONS:
                    problems += [f"{file.stem}: {what}: {row[0]}" for row in opened.execute(question)]
            except sqlite3.Error as problem:
                problems.append(f"{file.stem}: {problem}")
    for file in sorted(pathlib.Path(directory, "snapshots").glob("*/*.sqlite")):
        # A snapshot's file does not change after it gets its name.
        try:
            opened = sqlite3.connect(f"file:{file}?immutable=1", uri=True)
            problems += [f"the snapshot {file.stem}: {row[0]}" for row in opened.execute("PRAGMA integrity_check")
                         if row[0] != "ok"]
            opened.close()
        except sqlite3.Error as problem:
            problems.append(f"the snapshot {file.stem}: {problem}")
    return problems


def delivered(directory, *names):
    """The events with a recorded delivery in some namespaces."""
    found = set()
    for name in names:
        with database(directory, name) as opened:
            found |= {row[0] for row in opened.execute(
                "SELECT event_id FROM deliveries d JOIN attempts a ON a.delivery_id = d.id"
                " WHERE a.status BETWEEN 200 AND 299")}
    return found


class Checks:
    """Checks a restarted server. With `before`, only operations acknowledged before that time count."""

    def __init__(self, server, operations, name, before=None):
        self.client = Client(server)
        self.operations, self.name, self.before = operations, name, before
        self.problems = []

    def expect(self, holds, what):
        if not holds:
            self.problems.append(what)

    def acknowledged(self, kind):
        return self.operations.acknowledged(kind, self.before)

    def uncertain(self, kind):
        return self.operations.uncertain(kind, self.before)

    def run(self):
        """Runs all checks and returns the problems."""
        self.sessions()
        self.captures()
        self.keeper()
        self.clock()
        self.namespaces()
        return self.problems

    def ask(self, operation, method, path, **options):
        """Sends a request to an operation's namespace. Returns the status and the answer."""
        self.client.base = operation.facts["namespace"] if "namespace" in operation.facts else ""
        return self.client.json(method, path, **options)

    def sessions(self):
        self.client.base = ""
        for login in self.acknowledged("login"):
            if "clock" in login.facts["username"]:
                continue
            status, session = self.client.json("GET", "/sdk/session", token=login.key)
            self.expect(status == 200 and session["username"] == login.facts["username"], f"session {login.key}: {status}")

    def captures(self):
        """Checks captures, their images, their items and the items' flags."""
        images = collections.defaultdict(dict)
        for upload in self.acknowledged("upload"):
            images[upload.key[0]][upload.key[1]] = upload.facts["sha256"]
        submitted = {submit.key: submit for submit in self.acknowledged("submit")}
        cancelled = {cancel.key for cancel in self.acknowledged("cancel")}
        open_ends = {operation.key for kind in ("submit", "cancel") for operation in self.uncertain(kind)}
        # A capture that is cancelled or times out releases its images.
        gone = cancelled | {operation.key for operation in self.uncertain("cancel")}
        for capture in self.acknowledged("capture"):
            status, shown = self.ask(capture, "GET", f"/sdk/captures/{capture.key}", token=capture.facts["token"])
            if status != 200:
                self.problems.append(f"capture {capture.key}: {status}")
                continue
            if shown["status"] == "timed_out":
                gone.add(capture.key)
            has = {step["region_id"] for step in shown["steps"] if step["uploaded"]}
            self.expect(set(images[capture.key]) <= has or capture.key in gone, f"capture {capture.key} lost {set(images[capture.key]) - has}")
            wanted = "submitted" if capture.key in submitted else "cancelled" if capture.key in cancelled else "started"
            self.expect(shown["status"] == wanted or capture.key in open_ends or shown["status"] == "timed_out"
                        and wanted == "started", f"capture {capture.key}: {shown['status']} instead of {wanted}")
            if capture.key in submitted:
                self.item(capture, shown, submitted[capture.key])
        for upload in self.acknowledged("upload"):
            if upload.key[0] not in gone:
                self.client.base, digest = upload.facts["namespace"], upload.facts["sha256"]
                status, data = self.client("GET", f"/images/{digest}/original")
                self.expect(status == 200 and hashlib.sha256(data).hexdigest() == digest, f"image {digest}: {status}")

    def item(self, capture, shown, submit):
        identifier, token = submit.facts["item"], capture.facts["token"]
        self.expect(shown["entrupy_id"] == identifier, f"capture {capture.key}: {shown['entrupy_id']}")
        status, again = self.ask(capture, "POST", f"/sdk/captures/{capture.key}/submit", token=token)
        self.expect(status == 409 and again.get("entrupy_id") == identifier,
                    f"capture {capture.key} submitted again: {status}")
        status, result = self.ask(capture, "GET", f"/sdk/results/{identifier}", token=token)
        if status != 200:
            return self.problems.append(f"item {identifier}: {status}")
        flags = [flag.facts["flag"] for flag in self.acknowledged("flag") if flag.key == identifier][-1:] or [False]
        flags += [flag.facts["flag"] for flag in self.uncertain("flag") if flag.key == identifier]
        found = result["status"]["flag"]["id"]
        self.expect(found in {"flagged" if flag else "none" for flag in flags}, f"item {identifier}: flag {found}")

    def keeper(self):
        """Items, snapshots and scenarios are as after the last acknowledged change, or after one that was in progress."""
        self.client.base = f"/ns/keeper-{self.name}"
        done = self.acknowledged("keeper")
        state = done[-1].facts["after"] if done else (frozenset(), {}, frozenset())
        last = done[-1].start if done else 0
        under_way = [operation for operation in self.uncertain("keeper") if operation.start > last]
        allowed = [state] + [operation.facts["after"] for operation in under_way if operation.facts["after"]]
        # A failed commit may have reached the log and be found at restart. The 503 leaves this open.
        extra = sum(operation.key == "item" for operation in self.uncertain("keeper"))
        shown = self.client.must("GET", "/_sim/authentications?limit=1000")["authentications"]
        items = frozenset(item["entrupy_id"] for item in shown)
        snapshots = {snapshot["name"] for snapshot in self.client.must("GET", "/_sim/snapshots")["snapshots"]}
        listed = self.client.must("GET", "/_sim/scenarios")["scenarios"]
        scenarios = own_scenarios(listed)
        self.expect(len(shown) == len(items), "the keeper has an item twice")
        self.expect(
            any(items >= one[0] and len(items) <= len(one[0]) + extra
                and snapshots == set(one[1]) and scenarios == one[2] for one in allowed),
            f"the keeper has {len(items)} items, {sorted(snapshots)}, {sorted(scenarios)}; after "
            f"{[operation.key for operation in done[-3:]]} it should have one of "
            f"{[(len(one[0]), sorted(one[1]), sorted(one[2])) for one in allowed]}")
        for name in sorted(snapshots & {name for name, content in state[1].items() if content is not None})[:2]:
            self.client.must("POST", f"/_sim/snapshots/{name}/restore")
            shown = self.client.must("GET", "/_sim/authentications?limit=1000")["authentications"]
            self.expect({item["entrupy_id"] for item in shown} == state[1][name], f"the snapshot {name} has other items")

    def clock(self):
        """A frozen clock has kept its time. Work due before it is done, and later work still comes."""
        self.client.base = f"/ns/clock-{self.name}"
        done, under_way = self.acknowledged("advance"), self.uncertain("advance")
        least = done[-1].facts["after"] if done else 0
        most = max([least] + [operation.facts["after"] for operation in under_way])
        shown = self.client.must("GET", "/_sim/clock")
        now = round(shown["epoch"] - START_EPOCH)
        self.expect(shown["mode"] == "frozen" and least <= now <= most,
                    f"the clock is {shown['mode']} at {now} s, not at {least} to {most} s")
        submits = [submit for submit in self.acknowledged("submit") if "clock-" in submit.facts["namespace"]]

        def results():
            listed = self.client.must("GET", "/_sim/authentications?limit=1000")["authentications"]
            return {item["entrupy_id"]: item for item in listed}

        def due(item):
            wait = 1800 if item["customer_item_id"].startswith("sim-unknown") else 7200
            return item["submitted_at"] - START_EPOCH + wait

        found = results()
        for submit in submits:
            item = found.get(submit.facts["item"])
            self.expect(item is not None, f"the clock's item {submit.facts['item']} is lost")
            if item and round(shown["epoch"] - START_EPOCH, 6) >= due(item):
                self.expect(item["result"]["id"] == submit.facts["result"], f"the clock's item {item} is not done")
        self.client.must("POST", "/_sim/clock/advance", {"by": "3h"})
        found = results()
        for submit in submits:
            item = found.get(submit.facts["item"])
            self.expect(item is not None and item["result"]["id"] == submit.facts["result"],
                        f"the clock's item {submit.facts['item']} has no result after three hours: {item}")

    def namespaces(self):
        self.client.base = ""
        done = self.acknowledged("namespace")
        wanted = done[-1].facts["after"] if done else frozenset()
        last = done[-1].start if done else 0
        allowed = [wanted] + [operation.facts["after"] for operation in self.uncertain("namespace")
                              if operation.start > last]
        listed = {info["name"] for info in self.client.must("GET", "/_sim/namespaces")["namespaces"]}
        found = {name for name in listed if name.startswith(f"made-{self.name}-")}
        self.expect(found in allowed, f"the namespaces {sorted(found)} instead of {sorted(wanted)}")

    def results(self):
        """After the server has settled, every item has its requested result."""
        self.client.base = ""
        status, settled = self.client.json("POST", "/_sim/settle", {"within": "60s"})
        self.expect(status == 200 and settled["settled"], f"the server does not settle: {settled}")
        for submit in self.acknowledged("submit"):
            if submit.facts["namespace"]:
                continue
            status, shown = self.client.json("GET", f"/sdk/results/{submit.facts['item']}", token=submit.facts["token"])
            found = shown["status"]["result"]["id"] if status == 200 else status
            self.expect(found == (submit.facts["result"] or "needs_review"), f"item {submit.facts['item']}: {found}")
        return self.problems


def check_webhooks(directory, operations, receiver, name, recorded, restarted):
    """Every acknowledged event is delivered. None is sent again if its delivery was recorded before the restart."""
    problems = []
    came = collections.defaultdict(list)
    for reception in receiver.received():
        came[reception.event_id].append(reception)
    for event_id, receptions in came.items():
        if len({reception.digest for reception in receptions}) > 1:
            bodies = "; ".join(f"{one.time:.2f} {one.path} {one.status} {one.body.decode()}" for one in receptions)
            problems.append(f"the event {event_id} came with different bodies (restarted {restarted:.2f}): {bodies}")
        if event_id in recorded and any(reception.time > restarted for reception in receptions):
            problems.append(f"the event {event_id} was delivered, and sent again after the restart")
    for namespace in ("default", f"clock-{name}"):
        with database(directory, namespace) as opened:
            rows = opened.execute("SELECT entrupy_id, event, event_id, status FROM deliveries").fetchall()
        told = collections.defaultdict(list)
        for identifier, event, event_id, status in rows:
            told[identifier, event].append((event_id, status))
        for submit in operations.acknowledged("submit"):
            if submit.facts["result"] is None or (submit.facts["namespace"] or "/ns/default") != f"/ns/{namespace}":
                continue
            deliveries = told[submit.facts["item"], "session.completed"]
            if [status for _, status in deliveries] != ["delivered"]:
                problems.append(f"the result of {submit.facts['item']} in {namespace}: deliveries {deliveries}")
            elif not any(200 <= reception.status < 300 for reception in came[deliveries[0][0]]):
                problems.append(f"the result of {submit.facts['item']} in {namespace} never came")
    return problems
