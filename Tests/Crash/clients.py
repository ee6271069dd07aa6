"""Clients that work until the server is gone. Each records its requests and their acknowledgements."""
import hashlib
import http.client
import pathlib
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Support"))
from simulator import API_TOKEN, Client, picture  # noqa: E402

REGIONS = ["front", "back", "logo", "hardware", "serial_number", "material"]
START = "2026-01-05T09:00:00Z"
START_EPOCH = 1767603600
# Magic customer_item_ids and their results; `None` if the item stays under review.
RESULTS = [("sim-authentic-after-0s", "authentic"), ("sim-unknown-after-1s", "unknown"),
           ("sim-invalid-after-0.3s", "invalid"), ("sim-needs_review", None)]


class Refused(Exception):
    """The server answered 503: it did not do the operation."""


class Stopping(Exception):
    """The server was asked to stop and answered 503: it did not do the operation."""


class Work:
    """The clients of one round. With `tolerant`, 503 is allowed, as while the disk is broken."""

    def __init__(self, server, operations, chance, receiver, name, tolerant=False):
        self.server, self.operations, self.chance = server, operations, chance
        self.receiver, self.name, self.tolerant = receiver, name, tolerant
        self.refusals = []
        self.problems = []
        self.threads = []
        # Whether the server has been asked to stop. From then on it may refuse requests.
        self.is_ending = False

    def prepare(self):
        """Makes the namespaces of the round before anything can break."""
        client = Client(self.server)
        client.must("PATCH", "/_sim/settings", {"webhooks": {"retries": ["0.2s", "0.5s", "1s", "1s", "1s"]}})
        subscribe(client, self.receiver, "default")
        client.must("PUT", f"/_sim/namespaces/keeper-{self.name}", {})
        client.must("PUT", f"/_sim/namespaces/clock-{self.name}", {"clock": {"freeze": START}})
        client.base = f"/ns/clock-{self.name}"
        client.must("PATCH", "/_sim/settings", {"webhooks": {"retries": ["1m", "10m"]}})
        subscribe(client, self.receiver, f"clock-{self.name}")
        client.close()

    def start(self, users=5):
        jobs = [(self.user, f"{self.name}u{number}") for number in range(users)]
        jobs += [(self.keeper, None), (self.clock, None), (self.namespaces, None)]
        for job, argument in jobs:
            thread = threading.Thread(target=self.guarded, args=(job, argument))
            self.threads.append(thread)
            thread.start()

    def join(self):
        for thread in self.threads:
            thread.join()

    def guarded(self, job, argument):
        """Runs a client until the server is gone. A wrong answer is a problem."""
        chance = type(self.chance)(self.chance.random())
        try:
            client = Client(self.server)
            job(*(value for value in (client, chance, argument) if value is not None))
        except (ConnectionError, http.client.HTTPException, OSError, Stopping):
            return
        except Exception as problem:  # an error in a thread would go unnoticed
            self.problems.append(f"{job.__name__}: {type(problem).__name__}: {problem}")

    def ask(self, client, wanted, *arguments, **options):
        """Sends a request and returns the answer, which must have one of the wanted statuses."""
        status, answer = client.json(*arguments, **options)
        if status == 503 and self.is_ending:
            raise Stopping()
        if status == 503 and self.tolerant:
            self.refusals.append((*arguments[:2], answer.get("error")))
            raise Refused()
        if status not in wanted:
            raise AssertionError(f"{arguments[:2]}: {status} {answer}")
        return answer

    def again(self, turn, look=lambda: None):
        """Repeats a client's turn. After a refusal it reads the state again, because part of the turn may have been done."""
        is_refused = False
        while True:
            try:
                if is_refused:
                    look()
                is_refused = False
                turn()
            except Refused:
                is_refused = True

    def user(self, client, chance, name):
        """Logs in and takes items from capture to flag."""
        count = 0

        def turn():
            nonlocal count
            count += 1
            token = self.log_in(client, f"{name}-{count % 3}-user")
            for number in range(chance.randint(1, 3)):
                self.item(client, token, f"{name}-{count}-{number}", chance)

        self.again(turn)

    def log_in(self, client, user):
        signed = self.ask(
            client, [200], "POST", "/v2/integrations/authorize-user",
            {"sdk_authorization_request": "r", "unique_user_id": user, "email": f"{user}@example.com"},
            token=API_TOKEN)
        with self.operations.begin("login") as operation:
            login = self.ask(client, [200], "POST", "/sdk/login",
                             {"signed_authorization_request": signed["signed_authorization_request"]})
            operation.acknowledge(login["token"], username=login["username"])
        return login["token"]

    def item(self, client, token, name, chance, results=RESULTS):
        magic, result = chance.choice(results)
        facts = {"token": token, "namespace": client.base}
        with self.operations.begin("capture", **facts) as operation:
            started = self.ask(client, [201], "POST", "/sdk/captures", {"item": {
                "product_category": "luxury", "brand": "Gucci", "customer_item_id": f"{magic}-{name}"}}, token=token)
            capture = started["capture_id"]
            operation.acknowledge(capture)
        for region in REGIONS:
            image = picture(f"{name} {region} {chance.random()}")
            digest = hashlib.sha256(image).hexdigest()
            with self.operations.begin("upload", (capture, region), sha256=digest, **facts) as operation:
                receipt = self.ask(client, [200], "PUT", f"/sdk/captures/{capture}/images/{region}", image, token=token)
                assert receipt["sha256"] == digest, receipt
                operation.acknowledge()
        if chance.random() < 0.1:
            with self.operations.begin("cancel", capture, **facts) as operation:
                self.ask(client, [200], "POST", f"/sdk/captures/{capture}/cancel", token=token)
                operation.acknowledge()
            return
        with self.operations.begin("submit", capture, result=result, **facts) as operation:
            answer = self.ask(client, [200], "POST", f"/sdk/captures/{capture}/submit", token=token)
            identifier = answer["entrupy_id"]
            operation.acknowledge(item=identifier)
        if result == "authentic" and not client.base and chance.random() < 0.5:
            # The result is due, and every request does due work first.
            for flag in (True, False) if chance.random() < 0.3 else (True,):
                with self.operations.begin("flag", identifier, flag=flag, **facts) as operation:
                    shown = self.ask(client, [200], "PUT", f"/sdk/results/{identifier}/flag", {"flag": flag}, token=token)
                    assert shown["id"] == ("flagged" if flag else "none"), shown
                    operation.acknowledge()

    def keeper(self, client, chance):
        """Makes items, saves and restores snapshots, and resets. `facts["after"]` is the state after the operation."""
        client.base = f"/ns/keeper-{self.name}"
        items, snapshots, scenarios, count = frozenset(), {}, frozenset(), 0

        def turn():
            nonlocal items, snapshots, scenarios, count
            count += 1
            step = chance.choices(["item", "save", "restore", "delete", "reset", "scenario"], [6, 3, 3, 1, 1, 1])[0]
            known = sorted(name for name, content in snapshots.items() if content is not None)
            name = f"s{count}" if step in ("save", "scenario") else chance.choice(known or [None])
            if step in ("restore", "delete") and name is None:
                return
            new = (items, snapshots, scenarios)
            if step == "save":
                new = (items, {**snapshots, name: items}, scenarios)
                request = ([201], "PUT", f"/_sim/snapshots/{name}")
            elif step == "restore":
                new = (snapshots[name], snapshots, scenarios)
                request = ([200], "POST", f"/_sim/snapshots/{name}/restore")
            elif step == "delete":
                new = (items, {key: value for key, value in snapshots.items() if key != name}, scenarios)
                request = ([204], "DELETE", f"/_sim/snapshots/{name}")
            elif step == "reset":
                new = (frozenset(), snapshots, scenarios)
                request = ([200], "POST", "/_sim/reset")
            elif step == "scenario":
                new = (items, snapshots, scenarios | {name})
                request = ([200, 201], "PUT", f"/_sim/scenarios/{name}",
                           f"name: {name}\ndescription: d\nexpect: []\n".encode())
            else:
                request = ([201], "POST", "/_sim/authentications", {"template": {"brand": "Gucci"}})
            with self.operations.begin("keeper", step, after=None if step == "item" else new) as operation:
                answer = self.ask(client, *request)
                if step == "item":
                    new = (items | set(answer["entrupy_ids"]), snapshots, scenarios)
                operation.acknowledge(after=new)
            items, snapshots, scenarios = new

        def look():
            nonlocal items, snapshots, scenarios
            shown = self.ask(client, [200], "GET", "/_sim/authentications?limit=1000")["authentications"]
            saved = self.ask(client, [200], "GET", "/_sim/snapshots")["snapshots"]
            listed = self.ask(client, [200], "GET", "/_sim/scenarios")["scenarios"]
            items = frozenset(item["entrupy_id"] for item in shown)
            # The content of a snapshot is unknown if saving it was refused.
            snapshots = {one["name"]: snapshots.get(one["name"]) for one in saved}
            scenarios = own_scenarios(listed)
            with self.operations.begin("keeper", "look", after=(items, snapshots, scenarios)) as operation:
                operation.acknowledge()

        self.again(turn, look)

    def clock(self, client, chance):
        """Submits items and moves a frozen clock."""
        client.base = f"/ns/clock-{self.name}"
        now, count = 0, 0

        def turn():
            nonlocal now, count
            count += 1
            token = self.log_in(client, f"{self.name}-clock-user-{count}")
            for number in range(2):
                self.item(client, token, f"{self.name}-c{count}-{number}", chance,
                          [("sim-unknown-after-30m", "unknown"), ("sim-authentic-after-2h", "authentic")])
            with self.operations.begin("advance", before=now, after=now + 1800) as operation:
                self.ask(client, [200], "POST", "/_sim/clock/advance", {"by": "30m"})
                operation.acknowledge()
            now += 1800

        def look():
            nonlocal now
            now = self.ask(client, [200], "GET", "/_sim/clock")["epoch"] - START_EPOCH
            with self.operations.begin("advance", before=now, after=now) as operation:
                operation.acknowledge()

        self.again(turn, look)

    def namespaces(self, client, chance):
        """Makes and deletes namespaces."""
        names, count = frozenset(), 0

        def turn():
            nonlocal names, count
            count += 1
            if names and chance.random() < 0.4:
                name = chance.choice(sorted(names))
                new, request = names - {name}, ([204], "DELETE", f"/_sim/namespaces/{name}")
            else:
                name = f"made-{self.name}-{count}"
                new, request = names | {name}, ([201], "PUT", f"/_sim/namespaces/{name}", {})
            with self.operations.begin("namespace", name, after=new) as operation:
                self.ask(client, *request)
                operation.acknowledge()
            names = new

        def look():
            nonlocal names
            listed = self.ask(client, [200], "GET", "/_sim/namespaces")["namespaces"]
            names = frozenset(one["name"] for one in listed if one["name"].startswith(f"made-{self.name}-"))
            with self.operations.begin("namespace", "look", after=names) as operation:
                operation.acknowledge()

        self.again(turn, look)


def own_scenarios(listed):
    """The names of the scenarios that the keeper stored. The list also has the shipped ones."""
    return frozenset(one["name"] for one in listed if one["name"][:1] == "s" and one["name"][1:].isdigit())


def subscribe(client, receiver, name):
    """Replaces a namespace's subscriptions with one."""
    for old in client.must("GET", "/_sim/webhooks")["webhooks"]:
        client.must("DELETE", f"/v2/webhooks/{old['id']}", token=API_TOKEN)
    client.must("POST", "/v2/webhooks", {"url": f"{receiver.url}/{name}", "secret_key": "s"}, API_TOKEN)
