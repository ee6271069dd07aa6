"""Every HTTP call of docs/what-a-test-can-do.md works, as it stands there. `make test-python` runs it."""

import contextlib
import json
import pathlib
import re
import threading
import urllib.error
import urllib.request

import pytest

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs/what-a-test-can-do.md"
CALLS = list(dict.fromkeys(re.findall(r"`(GET|POST|PUT|PATCH|DELETE) (/[^ `]+)(?: (\{[^`]*\}))?`", PAGE.read_text(encoding="utf-8"))))
#: Calls about an item that has a flag.
ON_A_FLAG = ("/flag/resolve", '{"flag": false}')


def send(sim, method, path, body=None, token=None):
    request = urllib.request.Request(sim.url + path, method=method, data=body.encode() if body else None, headers={
        "Content-Type": "application/json", **({"Authorization": f"Token {token}"} if token else {})})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.status, answer.read()


def test_the_calls_are_found():
    assert len(CALLS) > 45
    assert {path.split("?")[0] for _, path, _ in CALLS} >= {"/sdk/results/{entrupy_id}/flag", "/_sim/authentications", "/_sim/requests/verify"}


@pytest.mark.entrupy_sim("late-result", frozen_at="2026-01-05T09:00:00Z", verify=False)
@pytest.mark.parametrize("method, path, body", CALLS, ids=[" ".join(call).strip() for call in CALLS])
def test_a_call_works(entrupy_sim, method, path, body):
    sim = entrupy_sim
    [item], [flagged] = sim.insert_items(result="authentic"), sim.insert_items(result="authentic")
    user = sim.user()
    session = user.login()
    user.flag(flagged)
    sim.snapshot("before")
    subscription = sim.subscribe("http://127.0.0.1:9/hooks", "a-secret-key")["id"]
    with contextlib.ExitStack() as ending:
        held = hold(sim, ending) if "/held/{id}" in path else None
        if path.startswith("/_sim/events"):
            sim.control("POST", "/_sim/webhooks/trigger", {"event": "session.completed", "entrupy_id": item})
            sim.clock.advance("1s")
        if path.endswith("/late-result/verify"):
            [late] = sim.insert_items(result="authentic", customer_item_id="late-1")
            for _ in range(2):
                send(sim, "GET", f"/sdk/results/{late}", token=session)
        values = {
            "name": sim.name, "entrupy_id": flagged if any(mark in path + " " + (body or "") for mark in ON_A_FLAG) else item,
            "id": held or subscription, "request_id": sim.requests(limit=1)[0]["id"], "signed_authorization_request": signed(sim)}

        def filled(text):
            return re.sub(r"\{(\w+)\}", lambda found: values[found[1]], text)
        token = sim.api_token if path.startswith("/v2/") else session if path.startswith("/sdk/results") else None
        try:
            status, _ = send(sim, method, filled(path), filled(body) if body else None, token)
        except urllib.error.HTTPError as error:
            pytest.fail(f"{error.code}: {error.read().decode()}")
        assert 200 <= status < 300


def signed(sim):
    body = {"sdk_authorization_request": "from-the-app", "unique_user_id": "sim-test-user", "email": "sim-test-user@example.com"}
    return json.loads(send(sim, "POST", "/v2/integrations/authorize-user", json.dumps(body), sim.api_token)[1])["signed_authorization_request"]


def hold(sim, ending):
    """The id of a request that a fault holds."""
    sim.fault({"hold": True}, route="/sdk/config", times=1)

    def ask():
        with contextlib.suppress(urllib.error.HTTPError):
            urllib.request.urlopen(f"{sim.url}/sdk/config", timeout=60).close()
    client = threading.Thread(target=ask)
    client.start()
    ending.callback(client.join)
    sim.wait("request:held", within=30)
    return sim.held()[0]["id"]
