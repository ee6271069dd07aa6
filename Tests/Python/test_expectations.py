"""What the Python client proves of requests and webhooks. `make test-python` runs it."""

import decimal
import json
import re
import threading
import time
import urllib.error
import urllib.request

import pytest

from entrupy_sim import Namespace, SimulatorError, _duration, _seconds, _size, without_secrets


def send(sim, method, path, body=None, headers=None):
    """Sends a request as a back end does, and returns its status."""
    data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{sim.url}{path}", method=method, data=data, headers={
        "Authorization": f"Token {sim.api_token}", "Content-Type": "application/json", **(headers or {})})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


SEARCH = "/v2/search/authentications"


@pytest.mark.parametrize("match, name", [
    ({"username": "DemoOrg-nobdy"}, "any_user"), ({"test": "no_such_test"}, "any_test"), ({"route": "/sdk/results/ABCD2345"}, "any_item"),
    ({"route": "/sdk/captures/*/images/frnt"}, "any_region"), ({"route": SEARCH, "status": 418}, "any_status"),
])
def test_a_name_that_nobody_has_proves_no_absence(entrupy_sim, match, name):
    for more in ({}, {"body": {}}):
        with pytest.raises(SimulatorError, match=f"{name}=True in expect_request"):
            entrupy_sim.expect_request(times=0, **match, **more)
        entrupy_sim.expect_request(times=0, **match, **more, **{name: True})


def test_that_a_masked_secret_was_not_sent_is_not_known(searched):
    for token in ("Token x", f"Token {searched.api_token}"):
        with pytest.raises(SimulatorError, match="not known.*masks secrets"):
            searched.expect_request("POST", SEARCH, headers={"Authorization": token}, times=0)
    searched.expect_request("POST", SEARCH, headers={"Authorization": "Bearer x"}, times=0)


@pytest.mark.parametrize("match", [
    {"headers": {"Authorization": re.compile("demo-api")}}, {"headers": {"authorization": re.compile("^Bearer ")}},
    {"headers": {"X-Api-Key": 12345}}, {"headers": {"X-Several": "demo-api-token"}},
    {"body": "abcdefgh"}, {"body": re.compile("abcd")}, {"body": {"signed_authorization_request": "abcdefgh"}},
    {"body": {"signed_authorization_request": re.compile("abcd")}}, {"body": {"secret_key": 12345}}, {"body": {"secret_key": {"a": 1}}},
    {"body": {"demo-api-token": 1}},
])
def test_a_masked_value_is_neither_there_nor_absent(entrupy_sim, match):
    body = {"signed_authorization_request": "abcdefgh", "secret_key": 12345, "demo-api-token": 1, "limit": 2}
    send(entrupy_sim, "POST", "/sdk/login", body, {"X-Api-Key": "12345", "X-Several": "demo-api-token"})
    for bounds in ({"times": 0}, {"at_most": 0}, {"times": 1}, {"at_least": 1}, {}):
        with pytest.raises(SimulatorError, match=r"not known: .*\(the journal masks secrets\)\. Ask by route, username or test"):
            entrupy_sim.expect_request("POST", "/sdk/login", **match, **bounds)
    # It changes nothing here.
    entrupy_sim.expect_request("POST", "/sdk/login", at_most=1, **match)
    # What is not masked decides.
    entrupy_sim.expect_request("POST", "/sdk/login", body={"limit": 3, **(match["body"] if isinstance(match.get("body"), dict) else {})}, times=0)
    entrupy_sim.expect_request("POST", "/sdk/login", headers={"Authorization": "Token ***"}, body={"secret_key": "***", "limit": 2}, times=1)


def test_what_a_body_masks_that_is_no_json_is_not_known(entrupy_sim):
    send(entrupy_sim, "POST", "/sdk/login", b'{"limit": 2, "a": demo-api-token}')
    with pytest.raises(SimulatorError, match=r"body is no JSON: .*\(the journal masks secrets\)"):
        entrupy_sim.expect_request("POST", "/sdk/login", body={"limit": 2}, times=0)


@pytest.mark.entrupy_sim(frozen_at="2026-01-05T09:00:00Z")
def test_a_masked_value_of_a_webhook_is_neither_there_nor_absent(told):
    told.insert_items(result="authentic", customer_item_id="demo-api-token")
    told.clock.advance("2s")
    body = {"items": [{"text_fields": {"customer_item_id": "demo-api-token"}}]}
    assert any("***" in json.dumps(delivery["body"]) for delivery in told.deliveries())
    for bounds in ({"times": 0}, {"at_least": 1}):
        with pytest.raises(SimulatorError, match=r"whether these deliveries match is not known: .*masks secrets"):
            told.expect_webhook("session.completed", status="any", body=body, **bounds)
    # The receiver's URL is known.
    told.expect_webhook("session.completed", status="any", url="http://127.0.0.1:9/one?secret=abc", times=1)


@pytest.fixture
def searched(entrupy_sim):
    send(entrupy_sim, "POST", SEARCH, {"filters": [{"id": "a", "values": [1, 2]}], "limit": 2, "deep": None, "on": True}, {"X-Shop": "one"})
    send(entrupy_sim, "POST", SEARCH, {"filters": [], "limit": 3}, {"X-Shop": "two"})
    send(entrupy_sim, "POST", SEARCH, b"no json", {"X-Shop": "three"})
    return entrupy_sim


@pytest.mark.parametrize("match, count", [
    ({"headers": {"x-shop": "one"}}, 1), ({"headers": {"X-Shop": re.compile("^t")}}, 2), ({"headers": {"X-Shop": None}}, 0),
    ({"headers": {"X-Other": None}}, 3), ({"headers": {"X-Shop": "One"}}, 0), ({"headers": {"Content-Length": 7}}, 1),
    ({"headers": {"Authorization": re.compile("^Token ")}}, 3), ({"body": {"limit": 2}}, 1), ({"body": {"on": 1}}, 0), ({"body": {"on": True}}, 1),
    ({"body": {}}, 2), ({"body": {"limit": 2.0}}, 1), ({"body": {"filters": []}}, 1), ({"body": {"deep": None}}, 1),
    ({"body": {"filters": [{"id": re.compile("a|b")}]}}, 1), ({"body": {"filters": [{"values": [2, 1]}]}}, 0),
    ({"body": {"filters": [{"values": [1]}]}}, 0), ({"body": "no json"}, 1), ({"body": re.compile('"limit": [23]')}, 2),
    ({"body": {"limit": 2}, "headers": {"X-Shop": "two"}}, 0), ({"body": [1]}, 0),
])
def test_headers_and_bodies_decide(searched, match, count):
    searched.expect_request("POST", SEARCH, times=count, **match)
    searched.expect_request("POST", SEARCH, at_least=count, at_most=count, **match)
    with pytest.raises(AssertionError, match=f"expected {count + 1} such requests, found {count}"):
        searched.expect_request("POST", SEARCH, times=count + 1, **match)
    if count:
        searched.expect_request("POST", SEARCH, **match)
        with pytest.raises(AssertionError, match=f"expected at most {count - 1} such|expected 0 such"):
            searched.expect_request("POST", SEARCH, at_most=count - 1, **match)


def problem(call):
    with pytest.raises(AssertionError) as caught:
        call()
    return str(caught.value)


def test_the_nearest_says_why_it_was_refused(entrupy_sim):
    assert send(entrupy_sim, "GET", "/v2/authentications/NONE") == 404
    with pytest.raises(AssertionError, match=r"404 \(because the namespace has no item with this id\): status is 404"):
        entrupy_sim.expect_request("GET", "/v2/authentications/*", status=200)


def test_the_differences_of_the_nearest_are_named(searched):
    text = problem(lambda: searched.expect_request(
        "POST", SEARCH, headers={"X-Shop": "two", "X-More": "1"}, body={"limit": 4, "user": {"name": "x"}}))
    assert text.startswith("POST /v2/search/authentications, headers: ")
    assert "header X-Shop is 'one', not 'two'" in text and "header X-More is absent" in text
    assert "body.limit is 3, not 4" in text and "body.user is absent" in text and "body is no JSON: 'no json'" in text
    # Where no request fits without its message, the server knows the nearest.
    text = problem(lambda: searched.expect_request("GET", "/v2/webhooks", body={"limit": 4}))
    assert "found 0; nearest:" in text and "method is POST, not GET" in text, text
    # The journal does not have what it masks.
    with pytest.raises(SimulatorError, match=r"not 'Token x' \(the journal masks secrets\)") as caught:
        searched.expect_request("POST", SEARCH, headers={"Authorization": "Token x"})
    assert searched.api_token not in str(caught.value)


def test_a_body_that_the_journal_did_not_keep_is_no_proof(entrupy_sim):
    entrupy_sim.settings(journal={"body_bytes": 100})
    send(entrupy_sim, "POST", SEARCH, {"limit": 2, "text": "x" * 200})
    for match in ({"body": {"limit": 3}}, {"body": "y"}, {"body": re.compile("y")}):
        for bounds in ({"times": 0}, {"times": 1}, {"at_least": 1}, {"at_most": 0}, {}):
            with pytest.raises(SimulatorError, match="100 characters of a body of 2.. bytes were kept.*body_bytes"):
                entrupy_sim.expect_request("POST", SEARCH, **match, **bounds)
        # It changes nothing here.
        entrupy_sim.expect_request("POST", SEARCH, at_most=1, **match)
    entrupy_sim.expect_request("POST", SEARCH, body='"limit": 2', times=1)
    # Its headers decide without the body.
    entrupy_sim.expect_request("POST", SEARCH, body={"limit": 3}, headers={"X-Shop": "one"}, times=0)
    send(entrupy_sim, "POST", SEARCH, b"\xff\xfe")
    with pytest.raises(SimulatorError, match="a body of 2 bytes is not text"):
        entrupy_sim.expect_request("POST", SEARCH, body="y", times=0)


def test_requests_that_the_journal_dropped_are_no_proof(entrupy_sim):
    entrupy_sim.settings(journal={"entries": 1})
    for limit in (1, 2):
        send(entrupy_sim, "POST", SEARCH, {"limit": limit})
    entrupy_sim.expect_request("POST", SEARCH, body={"limit": 2})
    for bounds in ({"times": 0}, {"times": 1}, {"at_most": 3}):
        with pytest.raises(SimulatorError, match="the journal has forgotten requests"):
            entrupy_sim.expect_request("POST", SEARCH, body={"limit": 1}, **bounds)


@pytest.mark.parametrize("more", [{}, {"body": {"limit": 1}}])
def test_of_requests_before_a_restore_nothing_can_be_said(entrupy_sim, more):
    entrupy_sim.snapshot("before")
    send(entrupy_sim, "POST", SEARCH, {"limit": 1})
    entrupy_sim.restore("before")
    with pytest.raises(SimulatorError, match="the journal has forgotten requests.*: since= in expect_request") as caught:
        entrupy_sim.expect_request("POST", SEARCH, times=0, **more)
    since = str(caught.value).split('"since": "')[1].split('"')[0]
    entrupy_sim.expect_request("POST", SEARCH, times=0, since=since, **more)


@pytest.mark.parametrize("lose", [
    lambda sim: sim.restore("before"), lambda sim: sim.reset(), lambda sim: sim.control("POST", "/_sim/scenarios/late-result/start", {})])
def test_of_webhooks_before_a_restore_nothing_can_be_said(entrupy_sim, lose):
    entrupy_sim.subscribe("http://127.0.0.1:9/x", "a-secret-key")
    entrupy_sim.snapshot("before")
    entrupy_sim.insert_items()
    # The journal has no deliveries.
    entrupy_sim.control("DELETE", "/_sim/requests")
    entrupy_sim.expect_webhook(status="any", at_least=1, at_most=9)
    lose(entrupy_sim)
    for bounds in ({"times": 0}, {"times": 1}, {"at_most": 3}):
        with pytest.raises(SimulatorError, match="deliveries before POST .* are forgotten.*: since=.* in expect_webhook") as caught:
            entrupy_sim.expect_webhook(status="any", **bounds)
        with pytest.raises(SimulatorError, match="are forgotten"):
            entrupy_sim.expect_webhook(status="any", since="2020-01-01T00:00:00Z", **bounds)
    since = str(caught.value).split('since="')[1].split('"')[0]
    entrupy_sim.expect_webhook(status="any", times=0, since=since)
    # What is there is there.
    entrupy_sim.subscribe("http://127.0.0.1:9/x", "a-secret-key")
    entrupy_sim.insert_items()
    entrupy_sim.expect_webhook(status="any")
    assert "found" in problem(lambda: entrupy_sim.expect_webhook(status="any", times=0, since=since))


def test_of_webhooks_before_a_restore_by_another_program_nothing_can_be_said(entrupy_sim):
    entrupy_sim.subscribe("http://127.0.0.1:9/x", "a-secret-key")
    entrupy_sim.snapshot("before")
    entrupy_sim.insert_items()
    assert send(entrupy_sim, "POST", "/_sim/snapshots/before/restore") == 200
    with pytest.raises(SimulatorError, match="deliveries before the namespace was restored are forgotten.*: since=[0-9.]+ in expect_webhook"):
        entrupy_sim.expect_webhook(status="any", times=0)
    entrupy_sim.expect_webhook(status="any", times=0, since=entrupy_sim.clock.state()["epoch"])


def test_a_restore_before_any_webhook_forgets_none(entrupy_sim):
    entrupy_sim.reset()
    entrupy_sim.expect_webhook(status="any", times=0)
    entrupy_sim.subscribe("http://127.0.0.1:9/x", "a-secret-key")
    entrupy_sim.insert_items()
    with pytest.raises(SimulatorError, match="^since lies in the future, so that no delivery can match: .* is after the namespace's time, 20"):
        entrupy_sim.expect_webhook(status="any", times=0, since=entrupy_sim.clock.state()["epoch"] + 60)
    for since in ("2026-01-05", "2026-01-05T09:00:00", "soon", True):
        with pytest.raises(SimulatorError, match="since must be ISO 8601 with an offset"):
            entrupy_sim.expect_webhook(since=since)


def test_a_status_counts_delivered_answers_alone_with_a_body_too(entrupy_sim):
    entrupy_sim.fault({"drop_connection": True}, route=SEARCH, times=1)
    with pytest.raises(OSError):
        send(entrupy_sim, "POST", SEARCH, {"limit": 2})
    send(entrupy_sim, "POST", SEARCH, {"limit": 2})
    entrupy_sim.expect_request("POST", SEARCH, body={"limit": 2}, times=2)
    entrupy_sim.expect_request("POST", SEARCH, 200, body={"limit": 2}, times=1)
    entrupy_sim.expect_request("POST", SEARCH, delivered=False, body={"limit": 2}, times=1)
    entrupy_sim.expect_request("POST", SEARCH, 200, delivered="any", body={"limit": 2}, times=2)


@pytest.mark.entrupy_sim(frozen_at="2026-01-05T09:00:00Z")
def test_requests_are_expected_in_an_order_and_with_gaps(entrupy_sim):
    entrupy_sim.fault({"status": 429}, route=SEARCH, times=1)
    for _ in range(2):
        send(entrupy_sim, "POST", SEARCH, {"limit": 2})
    steps = [("POST", SEARCH, 429), {"method": "POST", "route": SEARCH, "status": 200}]
    entrupy_sim.expect_requests(steps, max_gap=600)
    text = problem(lambda: entrupy_sim.expect_requests(steps, min_gap="1h"))
    assert text.startswith(f"sequence[1] (POST {SEARCH} -> 200) followed sequence[0], but not with the expected gap (min_gap 1h)"), text
    assert "after the previous step (request 1), min_gap is 1h" in text, text
    text = problem(lambda: entrupy_sim.expect_requests(list(reversed(steps))))
    assert "did not follow sequence[0]" in text and "nearest:" in text, text
    entrupy_sim.clock.advance("1h")
    send(entrupy_sim, "POST", SEARCH, {"limit": 2})
    entrupy_sim.expect_requests(steps, min_gap="1h")
    [last] = entrupy_sim.requests(SEARCH)[:1]
    assert last["started_real"] <= last["ended_real"]


@pytest.mark.parametrize("steps, text", [
    ([], "1 to 100 steps"), ([()], "a step must be"), ([{"headers": {}}], "a step must be"), (["POST"], "a step must be"),
    ([("POST", "sdk")], "matches no request"), ([("POST", "/sdk/serch")], "any_route=True in expect_requests"),
    ([("POST", SEARCH, 700)], "must be a status"),
])
def test_wrong_sequences_are_errors(entrupy_sim, steps, text):
    with pytest.raises(SimulatorError, match=text):
        entrupy_sim.expect_requests(steps)


@pytest.mark.parametrize("bounds, text", [
    ({"times": -1}, "times must be a whole number"), ({"times": True}, "times must be a whole number"),
    ({"at_most": "2"}, "at_most must be a whole number"), ({"times": 1, "at_least": 1}, "times excludes at_least and at_most"),
    ({"at_least": 2, "at_most": 1}, "at_least must be at most at_most, got 2 and 1"),
    ({"at_least": 0}, "at_least=0 matches whatever happened: give at_most too, or times"),
])
def test_wrong_numbers_are_errors(entrupy_sim, bounds, text):
    with pytest.raises(SimulatorError, match=text):
        entrupy_sim.expect_request("POST", SEARCH, body={}, **bounds)
    with pytest.raises(SimulatorError, match=text):
        entrupy_sim.expect_request("POST", SEARCH, **bounds)
    with pytest.raises(SimulatorError, match=text):
        entrupy_sim.expect_webhook(**bounds)


def test_a_route_that_the_platforms_do_not_have_is_refused_with_a_body_too(entrupy_sim):
    with pytest.raises(SimulatorError, match="the nearest is POST /sdk/search.*any_route=True in expect_request"):
        entrupy_sim.expect_request("POST", "/sdk/serch", body={}, times=0)
    entrupy_sim.expect_request("POST", "/sdk/serch", body={}, times=0, any_route=True)


@pytest.fixture
def told(entrupy_sim):
    """An item whose webhook a receiver refuses, and a second subscription to which a fault loses it."""
    for path in ("one?secret=abc", "two"):
        entrupy_sim.subscribe(f"http://127.0.0.1:9/{path}", "a-secret-key", events=["session.completed"])
    return entrupy_sim


def test_a_request_is_held_until_it_is_released(entrupy_sim):
    entrupy_sim.fault({"hold": {"for": "1m"}}, route=SEARCH, times=3)
    answers = []

    def ask():
        thread = threading.Thread(target=lambda: answers.append(send(entrupy_sim, "POST", SEARCH, {})))
        thread.start()
        while not entrupy_sim.held():
            pass
        return thread

    thread = ask()
    entrupy_sim.wait("request:held")
    held = entrupy_sim.held()
    assert [(h["request"]["path"], h["when"]) for h in held] == [(SEARCH, "before")]
    number = held[0]["request"]["sequence"]
    with pytest.raises(SimulatorError, match="request:held did not happen within 100ms"):
        entrupy_sim.wait("request:held", after=number, within=0.1)
    entrupy_sim.wait("request:held", after=number - 1)
    entrupy_sim.release(held[0])
    thread.join()
    with pytest.raises(SimulatorError, match="it was released already"):
        entrupy_sim.release(held[0]["id"])
    thread = ask()
    entrupy_sim.wait("request:held", after=number)
    entrupy_sim.release(entrupy_sim.held()[0], status=503, body={"a": 1})
    thread.join()
    thread = ask()
    entrupy_sim.release()
    thread.join()
    assert answers == [200, 503, 200] and entrupy_sim.held() == []
    with pytest.raises(SimulatorError, match="are for one held request"):
        entrupy_sim.release(status=503)


def test_a_subscription_is_made_and_deleted(entrupy_sim):
    made = entrupy_sim.subscribe("http://127.0.0.1:9/hooks", "a-secret-key", organization="OtherOrg", signature="hex")
    assert made["organization"] == "OtherOrg" and made["signature"] == "hex" and len(made["events"]) == 4
    assert entrupy_sim.control("GET", "/_sim/webhooks")["webhooks"] == [made]
    entrupy_sim.unsubscribe(made["id"])
    assert entrupy_sim.control("GET", "/_sim/webhooks")["webhooks"] == []
    with pytest.raises(SimulatorError, match="has no webhook"):
        entrupy_sim.unsubscribe(made["id"])
    with pytest.raises(SimulatorError, match="organization must be one of DemoOrg, OtherOrg"):
        entrupy_sim.subscribe("http://127.0.0.1:9/hooks", "a-secret-key", organization="nobody")


@pytest.mark.entrupy_sim(frozen_at="2026-01-05T09:00:00Z")
def test_webhooks_are_expected(told):
    text = problem(lambda: told.expect_webhook())
    assert text == "webhook delivered: expected at least 1 such deliveries, found 0", text
    [item] = told.insert_items(result="unknown")
    told.clock.advance("2s")
    told.expect_webhook("session.completed", entrupy_id=item, status="retrying", times=2, attempts=2)
    told.expect_webhook(status="any", url=re.compile("/two$"), times=1)
    told.expect_webhook(status="any", url="http://127.0.0.1:9/two", body={"items": [{"entrupy_id": item}]}, times=1)
    told.expect_webhook(status="any", body={"items": [{"status": {"result": {"id": "authentic"}}}]}, times=0)
    told.expect_webhook("session.updated", times=0)
    told.expect_webhook("session.updated", entrupy_id=item, times=0)
    with pytest.raises(SimulatorError, match="no item"):
        told.expect_webhook("session.updated", entrupy_id="NOITEM00", times=0)
    text = problem(lambda: told.expect_webhook("session.completed", body={"items": [{"status": {"result": {"id": "no"}}}]}))
    assert "body.items[0].status.result.id is 'unknown', not 'no'" in text and "status is retrying, not delivered" in text
    assert "connection refused" in text and "secret=***" in text and "abc" not in text
    with pytest.raises(SimulatorError, match="there is no event 'session.complete': use one of session.completed, "):
        told.expect_webhook("session.complete", times=0)
    with pytest.raises(SimulatorError, match="status must be waiting, sending.* or any, got 'lost'"):
        told.expect_webhook(status="lost", times=0)


NAN = float("nan")


@pytest.mark.parametrize("match, text", [
    *(({"headers": headers}, "headers must be a dictionary that is not empty") for headers in ({}, [], 0, "", "X-Shop", ["X-Shop"])),
    *(({"headers": {name: None}}, "is not the name of a header") for name in ("", "X Shop", "X-Shop:", 5)),
    *(({"headers": {"X-Shop": value}}, "X-Shop must be a text, a number, a compiled pattern of text or None")
      for value in ({}, ["one"], True, NAN, b"one", re.compile(b"one"))),
    ({"headers": {"X-Shop": "one "}}, "no X-Shop can be 'one '"), ({"headers": {"X-Shop": "a\nb"}}, r"no X-Shop can be 'a\\nb'"),
    ({"body": {"limit": re.compile("2")}}, "body.limit is 2, which is not a text, and a pattern is found in texts alone: expect the value"),
    ({"route": 5}, "the route 5 matches no request"),
])
def test_what_no_request_can_be_is_an_error(searched, match, text):
    for bounds in ({}, {"times": 0}):
        with pytest.raises(SimulatorError, match=text):
            searched.expect_request(**{"route": SEARCH, **match, **bounds})


@pytest.mark.parametrize("body, text", [
    *((body, "body must be a dictionary, a list, a text or a compiled pattern of text") for body in (5, True, NAN, b"x", {2}, re.compile(b"x"))),
    *((body, "body is an empty text, which every body contains") for body in ("", re.compile(""))),
    *(({"filters": [{"limit": value}]}, r"body\.filters\[0\]\.limit must be a value that JSON has, or a compiled pattern")
      for value in (NAN, float("inf"), {2}, b"2", decimal.Decimal(2), time, re.compile(b"2"))),
    ({"filters": [{2: 2}]}, r"body\.filters\[0\] has the name 2: names in JSON are texts"),
])
def test_what_no_body_can_be_is_an_error(searched, body, text):
    for bounds in ({}, {"times": 0}):
        with pytest.raises(SimulatorError, match=f"^expect_request: {text}"):
            searched.expect_request("POST", SEARCH, body=body, **bounds)
        with pytest.raises(SimulatorError, match=f"^expect_webhook: {text}"):
            searched.expect_webhook(status="any", body=body, **bounds)


@pytest.mark.parametrize("match, text", [
    *(({"url": url}, "url must be the text of a receiver's URL, or a compiled pattern of text") for url in ("", 5, [], b"http://a", re.compile(b"a"))),
    *(({"attempts": attempts}, "attempts must be a whole number of at least 0") for attempts in ("2", -1, 2.5, True)),
    ({"attempts": 0, "status": "delivered"}, "attempts must be at least 1 where the status is delivered, as without one"),
    *(({"within": within}, "within must be a duration such as 5s, or a number of seconds, and not negative") for within in (-1, NAN, float("inf"), True)),
    ({"any_url": "no"}, "any_url must be True or False"),
])
def test_what_no_webhook_can_be_is_an_error(entrupy_sim, match, text):
    for bounds in ({}, {"times": 0}):
        with pytest.raises(SimulatorError, match=f"^expect_webhook: {text}"):
            entrupy_sim.expect_webhook(**{"status": "any", **match, **bounds})
    with pytest.raises(TypeError, match="^expect_webhook: within is None"):
        entrupy_sim.expect_webhook(within=None)
    for since in (NAN, float("inf")):
        with pytest.raises(SimulatorError, match="^since must be ISO 8601 with an offset"):
            entrupy_sim.expect_webhook(since=since, times=0)


def test_other_arguments_that_are_not_what_they_look_like_are_errors(searched, entrupy_simulator):
    with pytest.raises(SimulatorError, match="^requests: any_route must be True or False, got 'no'"):
        searched.requests("/sdk/serch", any_route="no")
    with pytest.raises(SimulatorError, match="a set has no order"):
        searched.expect_requests({("POST", SEARCH)})
    with pytest.raises(ValueError, match="^ignore must be a dictionary of rules and reasons"):
        searched.expect_no_misuse(ignore=["no-retry"])
    for name in ("scenario", "seed", "frozen_at"):
        with pytest.raises(SimulatorError, match=f"^{name} must not be empty"):
            entrupy_simulator.make_namespace(**{name: ""})
    # A moment that Python takes for nothing.
    old = entrupy_simulator.make_namespace(frozen_at=0)
    assert old.clock.state()["now"].startswith("1970-01-01T00:00:00")
    old.delete()


@pytest.mark.entrupy_sim(frozen_at="2026-01-05T09:00:00Z")
def test_a_receiver_that_no_subscription_has_proves_no_absence(entrupy_sim):
    one = "http://127.0.0.1:9/one?secret=abc"
    for bounds in ({"times": 0}, {"at_most": 2}):
        with pytest.raises(SimulatorError, match=r"^no subscription has the url http://127\.0\.0\.1:9/one\?secret=\*\*\*: there is none\. If it is meant: any_url=True"):
            entrupy_sim.expect_webhook(status="any", url=one, **bounds)
    entrupy_sim.expect_webhook(status="any", url=one, times=0, any_url=True)
    made = entrupy_sim.subscribe(one, "a-secret-key", events=["session.completed"])
    entrupy_sim.subscribe("http://127.0.0.1:9/a-third-hook", "a-secret-key", events=["session.completed"])
    entrupy_sim.expect_webhook(status="any", url=one, times=0)
    entrupy_sim.insert_items(result="unknown")
    entrupy_sim.clock.advance("2s")
    for url in ("http://127.0.0.1:9/onee", re.compile("/fourth$"), made["id"]):
        with pytest.raises(SimulatorError, match=r"^no subscription has the url .*; subscriptions have .*\. If it is meant") as caught:
            entrupy_sim.expect_webhook(status="any", url=url, times=0)
        text = str(caught.value)
        assert "http://127.0.0.1:9/a-third-hook" in text and "/one?secret=***" in text and "abc" not in text
        entrupy_sim.expect_webhook(status="any", url=url, times=0, any_url=True)
        # That it came is not so, and the failure says why.
        text = problem(lambda: entrupy_sim.expect_webhook(status="any", url=url))
        assert "found 0; no subscription has the url " in text and "; nearest:\n  session.completed" in text, text
    with pytest.raises(SimulatorError, match=r"/one\?secret=\*\*\*, http://127\.0\.0\.1:9/a-third-hook, the nearest first\. "):
        entrupy_sim.expect_webhook(status="any", url="http://127.0.0.1:9/onee", times=0)
    with pytest.raises(SimulatorError, match=r"; the values behind \*\*\* differ\. "):
        entrupy_sim.expect_webhook(url="http://127.0.0.1:9/one?secret=abd", times=0)
    # A subscription that was deleted is known, with its deliveries.
    entrupy_sim.unsubscribe(made)
    entrupy_sim.expect_webhook(status="any", url=one, times=1)
    assert "expected 0 such deliveries, found 1" in problem(lambda: entrupy_sim.expect_webhook(status="any", url=one, times=0))


@pytest.mark.entrupy_sim(frozen_at="2026-01-05T09:00:00Z")
def test_the_receiver_of_a_deleted_subscription_that_is_not_known_is_neither_one_nor_none(entrupy_sim):
    hook = "http://127.0.0.1:9/one"
    assert send(entrupy_sim, "POST", "/v2/webhooks", {"url": hook, "secret_key": "a-secret-key", "events": ["session.completed"]}) == 201
    entrupy_sim.insert_items(result="unknown")
    assert send(entrupy_sim, "DELETE", f"/v2/webhooks/{entrupy_sim.deliveries()[0]['subscription_id']}") == 204
    for bounds in ({"times": 0}, {"times": 1}, {}):
        with pytest.raises(SimulatorError, match=r"not known: its url is not known \(its subscription was deleted\)\. Ask without url$"):
            entrupy_sim.expect_webhook(status="any", url=hook, **bounds)
    entrupy_sim.expect_webhook(status="any", times=1)


@pytest.mark.parametrize("is_strict", [False, True])
def test_that_no_webhook_comes_where_none_can_is_a_note(entrupy_simulator, is_strict):
    notes = []
    sim = entrupy_simulator.make_namespace(strict=is_strict, on_note=notes.append)

    def none(event):
        if not is_strict:
            sim.expect_webhook(event, times=0)
            return notes.pop()
        with pytest.raises(SimulatorError) as caught:
            sim.expect_webhook(event, times=0)
        return str(caught.value)

    assert none("session.completed") == (
        "webhook session.completed delivered: that none came proves nothing, since there is no subscription: make one with subscribe()")
    made = sim.subscribe("http://127.0.0.1:9/x", "a-secret-key", events=["session.completed"])
    assert none("session.updated").endswith(", since no subscription has the event session.updated")
    sim.expect_webhook("session.completed", times=0)
    # Where one was deleted, none is expected.
    sim.unsubscribe(made)
    sim.expect_webhook("session.completed", times=0)
    assert notes == []
    sim.delete()


@pytest.mark.entrupy_sim(frozen_at="2026-01-05T09:00:00Z")
def test_a_missing_webhook_says_what_keeps_it(entrupy_sim):
    assert "there is no subscription: make one" in problem(lambda: entrupy_sim.expect_webhook("session.completed"))
    send(entrupy_sim, "POST", "/v2/webhooks", {
        "url": "http://127.0.0.1:9", "secret_key": "a-secret-key", "events": ["session.updated"]})
    entrupy_sim.control("POST", "/components/sessions", {"validationCode": "IDV", "networkEnvironment": "mock"})
    assert "the clock is frozen at 2026-01-05T09:00:00.000000Z and something is due: advance it" in problem(
        lambda: entrupy_sim.expect_webhook("session.completed"))


@pytest.mark.parametrize("text, seconds", [
    ("90s", 90), ("1h30m", 5400), ("1h59m59s", 7199), ("300ms", 0.3), ("1.5d", 129_600), ("1m0.5s", 60.5), (2.5, 2.5)])
def test_a_duration_is_read(text, seconds):
    assert _seconds(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "90", "soon", "30m1h", "1h1h", "1.5h30m", "1h 30m", "-1s", "300us", ".5s"])
def test_another_text_is_not_a_duration(text):
    with pytest.raises(SimulatorError, match="is not a duration such as 90s, 1h30m, 300ms"):
        _seconds(text)


# The same pairs as in DurationRuleTests and SizeTextTests: one duration and one size have one text everywhere.
@pytest.mark.parametrize("duration, text", [
    (0, "0s"), (0.3, "300ms"), ("0.05s", "50ms"), (0.0005, "0.0005s"), (1, "1s"), (60.5, "1m0.5s"), ("90m", "1h30m"), (86_400, "1d"),
    (1 / 3, "0.333333s"), (-90, "-1m30s")])
def test_a_duration_has_one_text(duration, text):
    assert _duration(duration) == text


@pytest.mark.parametrize("count, text", [
    (0, "0 B"), (999, "999 B"), (1000, "1 kB"), (1536, "1.5 kB"), (999_949, "999.9 kB"), (999_950, "1 MB"), (64_000_000, "64 MB"),
    (12_345_678, "12.3 MB"), (17_179_869_184, "17.2 GB"), (2_000_000_000_000, "2 TB")])
def test_a_size_has_one_text(count, text):
    assert _size(count) == text


def test_a_webhook_is_waited_for(told):
    told.insert_items(result="unknown")
    told.expect_webhook("session.completed", status="retrying", times=2, within=20)
    # One too many is known at once, and one too few at the end.
    assert "found 2" in problem(lambda: told.expect_webhook(status="retrying", times=1, within=600))
    assert "found 2" in problem(lambda: told.expect_webhook(status="retrying", times=3, within=0.2))


def test_an_upper_bound_of_webhooks_waits_for_all_of_its_time(entrupy_sim):
    entrupy_sim.subscribe("http://127.0.0.1:9/x", "a-secret-key", events=["session.completed"])
    for bounds in ({"times": 0}, {"at_most": 0}):
        begin = time.monotonic()
        entrupy_sim.expect_webhook("session.completed", status="any", within=0.3, **bounds)
        assert time.monotonic() - begin >= 0.3
    # One that comes while it waits counts, and is known at once.
    threading.Timer(0.2, lambda: entrupy_sim.insert_items(result="unknown")).start()
    text = problem(lambda: entrupy_sim.expect_webhook("session.completed", status="any", times=0, within="10m"))
    assert "expected 0 such deliveries, found 1" in text
    begin = time.monotonic()
    entrupy_sim.expect_webhook("session.completed", status="any", times=1, within=0.3)
    assert time.monotonic() - begin >= 0.3
    entrupy_sim.expect_webhook("session.completed", status="any", at_least=1, within="10m")
    # Without a time it judges at once.
    entrupy_sim.expect_webhook("session.completed", status="any", times=1)


@pytest.mark.parametrize("call, name", [
    (lambda sim: sim.expect_request("POST", None), "expect_request: route"),
    (lambda sim: sim.expect_request(None, SEARCH), "expect_request: method"),
    (lambda sim: sim.expect_request("POST", SEARCH, status=None), "expect_request: status"),
    (lambda sim: sim.expect_request("POST", SEARCH, times=None), "expect_request: times"),
    (lambda sim: sim.expect_request("POST", SEARCH, body=None), "expect_request: body"),
    (lambda sim: sim.expect_request("POST", SEARCH, headers=None), "expect_request: headers"),
    (lambda sim: sim.expect_requests([("POST", None)]), "a step: route"),
    (lambda sim: sim.expect_requests([{"route": SEARCH, "status": None}]), "a step: status"),
    (lambda sim: sim.expect_requests([("POST", SEARCH)], min_gap=None), "expect_requests: min_gap"),
    (lambda sim: sim.expect_webhook(None), "expect_webhook: event"),
    (lambda sim: sim.expect_webhook(entrupy_id=None, times=0), "expect_webhook: entrupy_id"),
    (lambda sim: sim.requests(None), "requests: route"),
    (lambda sim: sim.fault({"status": 503}, route=None), "fault: route"),
    (lambda sim: sim.outcome("unknown", brand=None), "outcome: brand"),
    (lambda sim: sim.wait("request:held", after=None), "wait: after"),
])
def test_none_does_not_match_everything(searched, call, name):
    with pytest.raises(TypeError, match=f"^{re.escape(name)} is None: leave it out"):
        call(searched)
    searched.expect_request("POST", times=3)
    searched.expect_request(route=SEARCH, body={"deep": None}, times=1)
    searched.expect_requests([{"route": SEARCH}])


@pytest.mark.parametrize("url, shown", [
    ("http://a:b@127.0.0.1:9/x?k=v&w#f", "http://***@127.0.0.1:9/x?k=***&***"), ("http://[::1", "***"),
    ("http://127.0.0.1:9/x", "http://127.0.0.1:9/x"), ("", ""),
])
def test_urls_of_receivers_are_shown_without_secrets(url, shown):
    assert without_secrets(url) == shown


def test_the_environment_of_a_process_names_the_namespace_and_the_test(entrupy_sim, entrupy_simulator):
    name = "test_expectations.py::test_the_environment_of_a_process_names_the_namespace_and_the_test"
    found = entrupy_sim.environment
    assert found.pop("ENTRUPY_SIM_TEST").endswith(name)
    assert found == {
        "ENTRUPY_SIM_URL": entrupy_sim.url, "ENTRUPY_SIM_SERVER": entrupy_simulator.url, "ENTRUPY_SIM_NAMESPACE": entrupy_sim.name,
        "ENTRUPY_SIM_API_TOKEN": "demo-api-token", "ENTRUPY_SIM_TOKEN": "demo-api-token"}
    assert Namespace("a", "http://127.0.0.1:9", "ctl").environment["ENTRUPY_SIM_CONTROL_TOKEN"] == "ctl"


def test_misuse_fails_with_the_requests(entrupy_sim):
    entrupy_sim.expect_no_misuse(failing_at="warning")
    send(entrupy_sim, "GET", "/v1/health", headers={"Api-Version": "1.0"})
    entrupy_sim.expect_no_misuse()
    text = problem(lambda: entrupy_sim.expect_no_misuse(failing_at="warning"))
    assert "warning deprecated-version: GET /v1/health asks for version 1.0 (requests 1)" in text
    entrupy_sim.expect_no_misuse(failing_at="warning", ignore={"deprecated-version": "an old client"})
    assert [finding["count"] for finding in entrupy_sim.audit(rule="deprecated-version")["findings"]] == [1]
    assert entrupy_sim.audit(level="error")["findings"] == []


def test_what_is_forgotten_since_a_request_is_known(entrupy_sim):
    for _ in range(2):
        send(entrupy_sim, "POST", SEARCH, {"limit": 1})
    last = entrupy_sim.requests()[0]["sequence"]
    assert not entrupy_sim._has_forgotten(last - 1)
    entrupy_sim.control("DELETE", "/_sim/requests")
    assert entrupy_sim._has_forgotten(last - 1) and not entrupy_sim._has_forgotten(last)
    send(entrupy_sim, "POST", SEARCH, {"limit": 1})
    assert not entrupy_sim._has_forgotten(last)


def test_what_the_journal_has_forgotten_was_not_judged(entrupy_sim):
    send(entrupy_sim, "GET", "/v1/health")
    entrupy_sim.control("DELETE", "/_sim/requests")
    with pytest.raises(SimulatorError, match="^retry-too-soon could not judge everything: the journal has forgotten requests.*ignore has"):
        entrupy_sim.expect_no_misuse()
    entrupy_sim.expect_no_misuse(ignore={"forgotten": "this test empties the journal"})
    rules = {rule["id"]: "not asked about" for rule in entrupy_sim.audit(level="error")["rules"]}
    entrupy_sim.expect_no_misuse(ignore=rules)
    with pytest.raises(SimulatorError, match="could not judge everything"):
        entrupy_sim.expect_no_misuse(failing_at="warning", ignore=rules)
    # What was found counts all the same.
    send(entrupy_sim, "GET", "/v1/health?token=0123456789")
    assert "token-in-url" in problem(entrupy_sim.expect_no_misuse)


def test_what_could_not_be_judged_otherwise_is_a_note(entrupy_simulator):
    notes = []
    sim = entrupy_simulator.make_namespace(on_note=notes.append)
    sim.settings(journal={"body_bytes": 10})
    send(sim, "POST", SEARCH, {"limit": 2, "text": "x" * 200})
    sim.expect_no_misuse(failing_at="warning")
    assert [note.split(" ")[0] for note in notes] == ["unread-member"] and "their bodies were not kept whole" in notes[0], notes
    sim.expect_no_misuse()
    sim.expect_no_misuse(failing_at="warning", ignore={"unread-member": "bodies are long here"})
    assert len(notes) == 1
    sim.strict = True
    with pytest.raises(SimulatorError, match="^unread-member could not judge everything: .*; if that is meant, ignore has the rule$"):
        sim.expect_no_misuse(failing_at="warning")
    sim.expect_no_misuse(failing_at="warning", ignore={"unread-member": "bodies are long here"})
    sim.delete()


def test_a_scenario_that_was_not_started_is_an_error(entrupy_sim):
    for name in ("no-such", "late-result"):
        with pytest.raises(SimulatorError, match="no scenario was started in this namespace"):
            entrupy_sim.verify_scenario(name)


def test_a_rule_that_does_not_exist_is_no_reason(entrupy_sim):
    for ignore, message in (({"retry-to-soon": "x"}, "the audit has no rule"), ({"no-retry": " "}, "needs a reason")):
        with pytest.raises(ValueError, match=message):
            entrupy_sim.expect_no_misuse(ignore=ignore)
    with pytest.raises(ValueError, match="error or warning"):
        entrupy_sim.expect_no_misuse(failing_at="never")
    with pytest.raises(SimulatorError, match="retry-too-soon"):
        entrupy_sim.audit(rule="retry-to-soon")


def test_coverage_names_what_was_met_and_by_whom(entrupy_sim):
    send(entrupy_sim, "POST", SEARCH, {"limit": 2}, {"X-Sim-Test": "python"})
    answers = entrupy_sim.coverage()["axes"][0]
    met = [edge for edge in answers["edges"] if edge["reached"]]
    assert answers["id"] == "answers" and answers["reached"] == 1
    assert [(edge["id"], edge["tests"]) for edge in met] == [("POST /v2/search/authentications 200", ["python"])]
