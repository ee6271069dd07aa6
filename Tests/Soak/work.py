"""The clients of the soak test."""
import collections
import http.client
import json
import random
import sys
import threading
import time
import traceback

from simulator import API_TOKEN, Client, log_in, picture

REGIONS = ["front", "back", "logo", "hardware", "serial_number", "material"]
# The pause between two requests of a client, in seconds. It keeps the machine busy but not overloaded.
PAUSE = 0.01
# The interval between resets of the users' namespace, in seconds.
RESET_INTERVAL = 30


class TimedClient(Client):
    """A client whose requests are counted and timed."""

    def __init__(self, simulator, load, base=""):
        super().__init__(simulator, base)
        self.load = load

    def __call__(self, *arguments, **options):
        time.sleep(PAUSE)
        start = time.monotonic()
        answer = super().__call__(*arguments, **options)
        self.load.durations.append(time.monotonic() - start)
        return answer


class Load:
    """All clients of one server."""

    def __init__(self, server, receiver):
        self.server, self.receiver = server, receiver
        self.durations = collections.deque()
        self.problems = []
        self.is_over = threading.Event()
        self.lock = threading.Lock()
        self.expected_webhooks = self.runs = 0

    def prepare(self):
        """Makes the journal small, so that it is full before anything is compared."""
        Client(self.server).must("PATCH", "/_sim/settings", {"journal": {"entries": 1000}})

    def stop(self):
        self.is_over.set()

    def take_durations(self):
        """The durations since the last call."""
        taken = []
        while self.durations:
            taken.append(self.durations.popleft())
        return taken

    def guarded(self, turn):
        """Repeats a turn until the time is over. A wrong answer ends it."""
        while not self.is_over.is_set() and not self.problems:
            try:
                turn()
            except (Exception, SystemExit) as problem:  # any error fails the test
                traceback.print_exc(file=sys.stderr)
                self.problems.append(f"{type(problem).__name__}: {problem}")

    def test_runs(self, number):
        chance = random.Random(number)
        client = TimedClient(self.server, self)
        self.guarded(lambda: self.test_run(client, chance))

    def test_run(self, client, chance):
        """Does one test run in its own namespace."""
        client.base = ""
        made = client.must("POST", "/_sim/namespaces", {
            "prefix": "run", "ttl": "10m", "clock": {"freeze": "2026-01-05T09:00:00Z"}})
        client.base = "/ns/" + made["name"]
        client.must("POST", "/v2/webhooks", {"url": f"{self.receiver.url}/{made['name']}", "secret_key": "s",
                                             "events": ["session.completed"]}, API_TOKEN)
        token = log_in(client, "the-same-user")
        items = [self.item(client, token, f"{made['name']}-{number}", chance) for number in range(2)]
        client.must("PUT", "/_sim/snapshots/before")
        client.must("POST", "/_sim/clock/advance", {"by": "5s"})
        for item in items:
            self.check(client.must("GET", f"/sdk/results/{item}", token=token)["status"]["result"]["id"], "authentic")
        # An advance ends after its webhooks were sent.
        with self.lock:
            self.expected_webhooks += len(items)
        self.check(client.must("POST", "/sdk/search", {"limit": 25}, token)["item_count"], len(items))
        self.check(len(client.must("GET", "/_sim/requests?limit=50")["requests"]) > 10, True)
        if chance.random() < 0.3:
            client.must("GET", "/_sim/requests?format=har")
        if chance.random() < 0.3:
            client.must("GET", "/_sim/snapshots/before")
        fork = f"{made['name']}-fork"
        client.must("POST", "/_sim/snapshots/before/fork", {"namespace": fork})
        client.must("POST", "/_sim/snapshots/before/restore")
        result = client.must("GET", f"/sdk/results/{items[0]}", token=token)
        self.check(result["status"]["result"]["id"], "needs_review")
        client.base = ""
        for name in (fork, made["name"]):
            client.must("DELETE", f"/_sim/namespaces/{name}")
        with self.lock:
            self.runs += 1

    def users(self, number):
        """The users of the permanent namespace, which is reset now and then."""
        chance = random.Random(1000 + number)
        client = TimedClient(self.server, self)
        last = time.monotonic()

        def turn():
            nonlocal last
            if number == 0 and time.monotonic() - last > RESET_INTERVAL:
                last = time.monotonic()
                client.must("POST", "/_sim/reset")
                client.must("PATCH", "/_sim/settings", {"journal": {"entries": 1000}})
            user = f"user-{number}-{chance.randrange(5)}"
            signed = client.must("POST", "/v2/integrations/authorize-user", {
                "sdk_authorization_request": "r", "unique_user_id": user, "email": f"{user}@example.com"}, API_TOKEN)
            status, login = client.json(
                "POST", "/sdk/login", {"signed_authorization_request": signed["signed_authorization_request"]})
            if status != 200:
                return  # the namespace was reset in between
            for request in [("GET", "/sdk/session"), ("GET", "/sdk/config?config_type=production"),
                            ("POST", "/sdk/search", {"limit": 25}), ("GET", "/sdk/captures?limit=5")] * 3:
                status, _ = client.json(*request, token=login["token"])
                self.check(status in (200, 401), True)

        self.guarded(turn)

    def item(self, client, token, name, chance):
        """Takes an item from capture to submission and returns its id."""
        capture = client.must("POST", "/sdk/captures", {"item": {
            "brand": "Chanel", "product_category": "luxury", "customer_item_id": name}}, token)["capture_id"]
        for region in REGIONS:
            image = picture(f"{name} {region} {chance.random()}")
            client.must("PUT", f"/sdk/captures/{capture}/images/{region}", image, token)
        return client.must("POST", f"/sdk/captures/{capture}/submit", {}, token)["entrupy_id"]

    @staticmethod
    def check(found, wanted):
        if found != wanted:
            raise AssertionError(f"{found!r} instead of {wanted!r}")

    def check_webhooks(self):
        """Every expected result came by webhook, except those of an interrupted run."""
        missing = self.expected_webhooks - self.receiver.total
        return [f"{missing} of {self.expected_webhooks} webhooks never came"] if missing > 0 else []

    def count_namespaces(self):
        return len(Client(self.server).must("GET", "/_sim/namespaces")["namespaces"])


class EventListener:
    """Reads the event stream of the namespace `default` until it ends."""

    def __init__(self, server):
        self.count = 0
        self.end = None
        self.connection = http.client.HTTPConnection(server.host, server.port)
        self.connection.request("GET", "/_sim/events")
        self.answer = self.connection.getresponse()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        try:
            for line in self.answer:
                if line.startswith(b"data:"):
                    json.loads(line[5:])
                    self.count += 1
            self.end = "the stream of events ended"
        except (OSError, http.client.HTTPException, ValueError) as problem:
            self.end = f"the stream of events broke off: {problem}"

    def problems(self):
        """The problems. Those after the server was stopped do not count."""
        return [problem for problem in [self.end, None if self.count else "no event was heard"] if problem]
