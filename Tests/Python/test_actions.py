"""What tests do with items, users and lists. `make test-python` runs it."""

import http.server
import threading
import urllib.error
import urllib.request

import pytest

from entrupy_sim import SimulatorError


def status_of(error):
    return error.value.status


def test_a_user_flags_an_item_and_takes_the_flag_back(entrupy_sim):
    [item] = entrupy_sim.insert_items(result="authentic")
    user = entrupy_sim.user()
    assert user.flag(item)["id"] == "flagged"
    flag = entrupy_sim.item(item)["flag"]
    assert (flag["id"], flag["flag_info"]["id"], flag["flag_info"]["message"]) == ("flagged", "wrong_result", None)
    assert user.unflag(item)["id"] == "none"
    flag = user.flag(item, reason="wrong_photos", message="Those are of another shoe")["flag_status"]["flag_info"]
    assert (flag["id"], flag["message"]) == ("wrong_photos", "Those are of another shoe")
    # It is the user's request, with one session for all of them.
    entrupy_sim.expect_request("PUT", f"/sdk/results/{item}/flag", status=200, username="DemoOrg-sim-test-user", times=3)
    entrupy_sim.expect_request("POST", "/sdk/login", status=200, times=1)
    assert [entry["test"] for entry in entrupy_sim.requests("/sdk/**")] == [entrupy_sim.headers["X-Sim-Test"]] * 4
    entrupy_sim.resolve_flag(item, note="Seen again")
    assert entrupy_sim.item(item)["flag"]["id"] == "resolved"
    entrupy_sim.expect_no_misuse(failing_at="warning")


def test_what_the_platform_refuses_comes_through(entrupy_sim):
    [item, other] = entrupy_sim.insert_items(2, result="authentic")
    [wrong] = entrupy_sim.insert_items(result="invalid")
    user = entrupy_sim.user()
    with pytest.raises(SimulatorError, match="clear it first|is not flagged") as refused:
        user.unflag(item)
    assert status_of(refused) == 409
    user.flag(item)
    with pytest.raises(SimulatorError, match=f"PUT /sdk/results/{item}/flag: the item is flagged already; flag: is flagged; clear it first"):
        user.flag(item)
    for call, status in [(lambda: user.flag(wrong), 400), (lambda: user.flag(other, reason="no_such_reason"), 400),
                         (lambda: user.flag("NOSUCH01"), 404), (lambda: entrupy_sim.user("DemoOrg-someone-else").flag(other), 404)]:
        with pytest.raises(SimulatorError) as refused:
            call()
        assert status_of(refused) == status, refused.value
    entrupy_sim.settings(flagging={"sdk": False})
    with pytest.raises(SimulatorError) as refused:
        user.flag(other)
    # The platform's refusal is not one of the control API.
    assert status_of(refused) == 403 and "control token" not in str(refused.value)
    with pytest.raises(TypeError, match="username must be a text"):
        entrupy_sim.user(None)


def test_a_session_that_ended_is_401_until_the_next_login(entrupy_sim):
    [item] = entrupy_sim.insert_items(result="authentic")
    user = entrupy_sim.user("sim-test-user")
    first = user.login()
    assert user.username == "DemoOrg-sim-test-user" and user.login() != first
    entrupy_sim.revoke_sessions("DemoOrg-sim-test-user")
    with pytest.raises(SimulatorError, match="session") as refused:
        user.flag(item)
    assert status_of(refused) == 401 and "control token" not in str(refused.value)
    user.login()
    assert user.flag(item)["id"] == "flagged"
    with pytest.raises(SimulatorError, match="nobody"):
        entrupy_sim.revoke_sessions("DemoOrg-nobody")
    with pytest.raises(TypeError, match="username is None"):
        entrupy_sim.revoke_sessions(None)
    entrupy_sim.revoke_sessions()
    assert entrupy_sim.control("GET", "/_sim/sessions")["sessions"] == []


def test_users_of_other_organizations_and_with_an_email_log_in(entrupy_sim):
    [item] = entrupy_sim.insert_items(username="OtherOrg-example-user", result="authentic")
    assert entrupy_sim.user("OtherOrg-example-user").flag(item)["id"] == "flagged"
    entrupy_sim.control("PATCH", "/_sim/users/OtherOrg-example-user", {"email": "her@example.com"})
    assert entrupy_sim.user("OtherOrg-example-user").unflag(item)["id"] == "none"
    entrupy_sim.expect_request("POST", "/v2/integrations/authorize-user", status=200, times=2)
    assert entrupy_sim.control("GET", "/_sim/users/OtherOrg-example-user")["email"] == "her@example.com"


def test_an_organization_without_a_token_logs_nobody_in(entrupy_simulator, tmp_path):
    seed = tmp_path / "seed.yaml"
    seed.write_text("organizations: [{name: Mute, api_tokens: []}]\n")
    sim = entrupy_simulator.make_namespace(seed=str(seed))
    with pytest.raises(SimulatorError, match="Mute-example-user cannot log in: the organization Mute has no API token"):
        sim.user("Mute-example-user").login()
    sim.delete()


@pytest.mark.entrupy_sim(frozen_at="2026-01-05T09:00:00Z")
def test_items_events_and_due_work_are_listed(entrupy_sim):
    [item] = entrupy_sim.insert_items(result="unknown", customer_item_id="sku-1")
    assert [(entry["entrupy_id"], entry["result"]["id"]) for entry in entrupy_sim.items(text="sku-")] == [(item, "unknown")]
    entrupy_sim.set_result(item, "authentic")
    assert entrupy_sim.item(item)["sdk"]["status"]["result"]["id"] == "authentic"
    assert [event["data"]["result"] for event in entrupy_sim.events(subject=item, kind="result.*")] == ["authentic", "unknown"]
    entrupy_sim.insert_items(30, brand="Jordan")
    assert [len(entrupy_sim.items()), len(entrupy_sim.items(limit=27)), len(entrupy_sim.items(brand="nike"))] == [31, 27, 1]
    assert len(entrupy_sim.events(limit=1)) == 1
    assert entrupy_sim.due() == []
    entrupy_sim.user().login()
    assert {work["kind"] for work in entrupy_sim.due()} == {"session.expiry"}
    for limit in (0, True, "1"):
        with pytest.raises(SimulatorError, match="limit must be a whole number of at least 1"):
            entrupy_sim.items(limit=limit)
    with pytest.raises(TypeError, match="items: brand is None"):
        entrupy_sim.items(brand=None)
    with pytest.raises(SimulatorError, match="NOSUCH01"):
        entrupy_sim.item("NOSUCH01")


def test_support_asks_for_new_pictures(entrupy_sim):
    [item] = entrupy_sim.insert_items(result="unknown")
    entrupy_sim.request_retake(item, regions=["heel"], message="Sharper, please")
    [asked] = entrupy_sim.events(subject=item, kind="retake.*")
    assert asked["kind"] == "retake.requested"
    with pytest.raises(SimulatorError) as refused:
        entrupy_sim.request_retake(item)
    assert status_of(refused) == 409


def test_requests_are_filtered_and_shown_whole(entrupy_sim):
    def get(path, **headers):
        try:
            urllib.request.urlopen(urllib.request.Request(entrupy_sim.url + path, headers=headers), timeout=20).close()
        except urllib.error.HTTPError as error:
            error.close()
    entrupy_sim.fault({"status": 503}, route="/v2/webhooks", header={"X-Shop": "on*"})
    get("/v2/webhooks", **{"X-Shop": "one"})
    get("/v2/webhooks", **{"X-Shop": "two"})
    get("/sdk/session")
    assert [entry["status"] for entry in entrupy_sim.requests("/v2/webhooks")] == [401, 503]
    assert [entry["path"] for entry in entrupy_sim.requests(status="5xx")] == ["/v2/webhooks"]
    assert len(entrupy_sim.requests(method="GET", delivered=True, limit=2)) == 2
    assert [entry["sequence"] for entry in entrupy_sim.requests(since="sequence:3")] == [3]
    kept = entrupy_sim.request(1)
    assert ["X-Shop", "one"] in kept["request"]["headers"] and entrupy_sim.request(kept["id"])["sequence"] == 1
    with pytest.raises(TypeError, match="requests: status is None"):
        entrupy_sim.requests(status=None)
    with pytest.raises(SimulatorError, match="any_route=True in requests"):
        entrupy_sim.requests("/sdk/serch")


def test_deliveries_are_listed(entrupy_sim):
    class Receiver(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Receiver) as receiver:
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        entrupy_sim.subscribe(f"http://127.0.0.1:{receiver.server_port}/", "s", events=["session.completed"])
        [item] = entrupy_sim.insert_items(result="authentic")
        entrupy_sim.settle(within="60s")
        receiver.shutdown()
    [delivery] = entrupy_sim.deliveries(entrupy_id=item, status="delivered")
    assert delivery["event"] == "session.completed" and entrupy_sim.deliveries(status="failed") == []


def test_states_are_compared(entrupy_sim):
    [item] = entrupy_sim.insert_items(result="authentic")
    entrupy_sim.snapshot("before")
    assert entrupy_sim.diff("snapshot:before")["equal"]
    entrupy_sim.user().flag(item)
    found = entrupy_sim.diff("snapshot:before", f"namespace:{entrupy_sim.name}")
    flag = next(entry for entry in found["objects"] if entry["kind"] == "item")
    assert {"name": "flag", "from": "none", "to": "flagged"} in flag["members"]
    # The flag's login is a session more.
    assert [(entry["change"], entry["kind"]) for entry in found["objects"] if entry["kind"] == "session"] == [("added", "session")]
    with pytest.raises(SimulatorError, match="did you mean before"):
        entrupy_sim.diff("snapshot:befor")
    with pytest.raises(SimulatorError, match="from must be now, namespace:NAME"):
        entrupy_sim.diff("a&to=now")
