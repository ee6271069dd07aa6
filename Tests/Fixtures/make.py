#!/usr/bin/env python3
"""Makes the files of a release that later releases must still open: run it with that release's binary, once.

    make.py --binary entrupy-sim --out Tests/Fixtures/0.1

Writes
- data.tar.gz        a data directory, left by SIGKILL: captures, items, flags, retakes, rules, a scenario, webhooks being retried
- snapshot.tar.gz    a snapshot of its namespace, as `snapshot export` writes it
- bundle.tar.gz      a bundle of it
- requests.json      reading requests to that namespace, each with the answer this release gave
- serial.recording, parallel.recording   recordings of the same kind of work by one client, and by four at once
- seed.yaml, export.yaml   a user's seed file, and what `GET /_sim/export` says of it

The clock is frozen and the random seed fixed, so that every release can be expected to answer the same.
"""
import argparse
import gzip
import json
import pathlib
import shutil
import sys
import tarfile
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Support"))
from simulator import API_TOKEN, Client, Simulator, log_in, picture  # noqa: E402

FLAGS = ["--random-seed", "17", "--public-url", "http://simulator.example", "--rate-limits", "off"]
NAMESPACE = "fixture"
BASE = f"/ns/{NAMESPACE}"
MORNING = "2026-01-05T09:00:00Z"
# No receiver listens there: every attempt fails at once.
CLOSED = "http://127.0.0.1:1/hook"
SEED = """\
# A seed file as a user of this release wrote it: part of the standard one, and more.
organizations:
  - name: Fjord
    api_tokens: [fjord-token]
    bundles: [com.example.fjord]
    users:
      - {unique_user_id: fjord-user, email: ann@example.com, first_name: Ann, last_name: "Ås"}
    partner_users:
      - {username: ann, password: ann, unique_user_id: fjord-user, email: ann@example.com}
"""
SCENARIO = """\
name: disputed
description: A late result is disputed.
clock: {freeze: 2026-01-05T09:00:00Z}
outcomes:
  - {match: {customer_item_id: "late-*"}, result: unknown, after: 3h}
faults:
  - {match: {route: /sdk/search}, effect: {status: 503}, times: 2}
items:
  - {count: 3, template: {brand: Nike, customer_item_id: "made-{n}"}}
timeline:
  - at: 4h
    resolve_flag: {customer_item_id: made-1, note: Seen again, result: unknown}
expect:
  - {route: /sdk/login, times: 1}
"""


def opened(server):
    """A client of the namespace that all files are about, which it makes with its clock frozen."""
    Client(server).must("PUT", f"/_sim/namespaces/{NAMESPACE}", {"random_seed": 17, "clock": {"freeze": MORNING}})
    return Client(server, BASE)


def ask(client, log, method, path, body=None, token=None):
    """One request, and its answer as it was."""
    status, data = client(method, path, body, token)
    if log is not None:
        log.append({"method": method, "path": path, "token": token, "status": status, "body": data.decode()})
    return json.loads(data) if data[:1] in (b"{", b"[") else data


def item(client, session, name, category="sneakers", **members):
    """An item from its capture to its submission."""
    members = {"product_category": category, "brand": "Nike" if category == "sneakers" else "Gucci",
               "customer_item_id": name, **members}
    if category == "sneakers":
        members.setdefault("style_name", "Air Jordan 1")
    capture = client.must("POST", "/sdk/captures", {"item": members}, session)
    for step in capture["steps"]:
        client.must("PUT", f"/sdk/captures/{capture['capture_id']}/images/{step['region_id']}",
                    picture(f"{name} {step['region_id']}", 200), session)
    return client.must("POST", f"/sdk/captures/{capture['capture_id']}/submit", None, session)["entrupy_id"]


def work(client, user):
    """Something of everything, in one namespace."""
    session = log_in(client, user)
    client.must("POST", "/v2/webhooks", {"url": CLOSED, "secret_key": "top secret"}, API_TOKEN)
    client("POST", "/v1/webhooks", {"url": CLOSED, "secret_key": "s", "events": ["session.completed"]}, API_TOKEN)
    client.must("POST", "/_sim/outcomes", {"match": {"customer_item_id": "slow-*"}, "result": "unknown", "after": "1d"})
    client.must("POST", "/_sim/faults", {"match": {"route": "/v2/config/*"}, "effect": {"status": 502}, "times": 1})
    flagged = item(client, session, f"sim-authentic-after-0s-{user}")
    client.must("PUT", f"/sdk/results/{flagged}/flag", {"flag": True}, session)
    item(client, session, f"slow-{user}", "luxury")
    retaken = item(client, session, f"sim-needs_review-{user}", "apparel", item_type="shirt")
    client.must("POST", f"/_sim/authentications/{retaken}/retake", {"regions": ["front"], "message": "Sharper, please"})
    client.must("POST", "/sdk/captures", {"item": {"brand": "Nike", "style_name": "Dunk"}}, session)
    client("POST", "/sdk/captures", {"item": {"brand": 7}}, session)
    client("GET", "/sdk/nowhere", None, session)
    client("GET", "/sdk/session", None, "not-a-token")
    client("POST", "/v2/config/authentications", {}, API_TOKEN)
    client.must("POST", "/_sim/authentications", {"count": 12, "template": {"brand": "Adidas", "username": f"DemoOrg-{user}"}})
    client.must("POST", "/_sim/clock/advance", {"by": "90s"})
    client.must("POST", "/sdk/search", {}, session)
    client.must("POST", "/v2/search/authentications", {"limit": 5}, API_TOKEN)
    client.must("PUT", "/_sim/snapshots/noon", None)
    client.must("POST", "/_sim/clock/advance", {"by": "3h"})
    client.must("POST", "/_sim/snapshots/noon/restore", None)
    return session


def readings(client, session):
    """Requests that change nothing, and what is answered now."""
    log = []
    found = ask(client, log, "GET", "/_sim/authentications?limit=100")["authentications"]
    for one in found[-3:] + found[:2]:
        name = one["entrupy_id"]
        for path, token in [(f"/_sim/authentications/{name}", None), (f"/sdk/results/{name}", session),
                            (f"/sdk/results/{name}/flag", session), (f"/v2/authentications/{name}", API_TOKEN),
                            (f"/v2/authentications/{name}?include_images=true&include_catalog=true", API_TOKEN)]:
            ask(client, log, "GET", path, None, token)
    ask(client, log, "POST", "/sdk/search", {"pagination_limit": 10}, session)
    ask(client, log, "POST", "/v2/search/authentications", {"limit": 25}, API_TOKEN)
    ask(client, log, "GET", "/sdk/session", None, session)
    for path in ["/v2/webhooks", "/_sim/webhooks", "/_sim/webhook-deliveries", "/_sim/users", "/_sim/captures", "/_sim/outcomes",
                 "/_sim/faults", "/_sim/settings", "/_sim/clock", "/_sim/due", "/_sim/sessions", "/_sim/export"]:
        ask(client, log, "GET", path, None, API_TOKEN if path.startswith("/v2") else None)
    return log


def pack(folder, target):
    """A data directory as an archive."""
    with tarfile.open(target, "w:gz") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "templates" not in path.parts and path.name != "lock":
                archive.add(path, path.relative_to(folder))


def database(binary, out, folder):
    data = folder / "data"
    server = Simulator(binary, "--data-dir", str(data), *FLAGS)
    client = opened(server)
    client.must("PATCH", "/_sim/settings", {"result": {"delay": "30s"}, "webhooks": {"retries": ["1m", "1h"]}})
    session = work(client, "fixture-user")
    client.must("PUT", "/_sim/scenarios/disputed", SCENARIO.encode())
    client.must("POST", "/_sim/scenarios/disputed/start", {"namespace": "qa"})
    # Attempts in flight end first; on a frozen clock this answers 409, since retries are due later.
    client("POST", "/_sim/settle", {"within": "20s"})
    (out / "requests.json").write_text(json.dumps(
        {"session": session, "requests": readings(client, session)}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for name, path in [("snapshot", "/_sim/snapshots/last"), ("bundle", "/_sim/bundle")]:
        if name == "snapshot":
            client.must("PUT", path, None)
        _, archive = client("GET", path)
        (out / f"{name}.tar.gz").write_bytes(gzip.compress(archive, mtime=0))
    client.must("DELETE", "/_sim/snapshots/last", None)
    server.kill()
    pack(data, out / "data.tar.gz")


def recordings(binary, out, folder):
    def record(name, clients):
        path = folder / f"{name}.recording"
        server = Simulator(binary, "--in-memory", "--record", str(path), *FLAGS)
        opened(server)
        threads = [threading.Thread(target=part, args=(server,)) for part in clients]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        server.stop()
        shutil.copy(path, out / path.name)

    def user(name):
        def run(server):
            client = Client(server, BASE)
            session = log_in(client, name)
            for number in range(2):
                item(client, session, f"sim-authentic-after-0s-{name}-{number}")
                client.must("POST", "/sdk/search", {}, session)
                client.must("POST", "/v2/search/authentications", {"limit": 3}, API_TOKEN)
                client("GET", f"/sdk/results/{name}", None, session)
        return run

    record("serial", [lambda server: work(Client(server, BASE), "recorded-user")])
    record("parallel", [user(f"parallel-user-{number}") for number in range(4)])


def seed(binary, out, folder):
    (out / "seed.yaml").write_text(SEED, encoding="utf-8")
    server = Simulator(binary, "--in-memory", *FLAGS)
    client = Client(server)
    client.must("POST", "/_sim/seed", SEED.encode())
    status, export = client("GET", "/_sim/export")
    (out / "export.yaml").write_bytes(export)
    server.stop()


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--binary", required=True)
    options.add_argument("--out", required=True, type=pathlib.Path)
    options = options.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="entrupy-sim-fixtures-"))
    try:
        for part in (database, recordings, seed):
            part(options.binary, options.out, folder)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
