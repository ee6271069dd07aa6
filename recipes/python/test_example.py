"""An example, which entrupy-sim's own tests run: a back end's code against a namespace of its own."""

import json
import urllib.request

import pytest

from entrupy_sim import SimulatorError


def authorize(sim, user):
    """What a back end does to log a user in."""
    request = urllib.request.Request(
        f"{sim.url}/v2/integrations/authorize-user", method="POST",
        headers={"Authorization": f"Token {sim.api_token}", "Content-Type": "application/json"},
        data=json.dumps({
            "sdk_authorization_request": "from-the-app", "unique_user_id": user, "email": f"{user}@example.com",
        }).encode())
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.load(response)


def test_a_user_is_authorized(entrupy_sim):
    assert authorize(entrupy_sim, "example-user")["username"] == "DemoOrg-example-user"
    entrupy_sim.expect_request("POST", "/v2/integrations/authorize-user", status=200, times=1)


@pytest.mark.entrupy_sim(frozen_at="2026-01-05T09:00:00Z", random_seed=7)
def test_a_flag_is_resolved(entrupy_sim):
    assert entrupy_sim.clock.state()["now"] == "2026-01-05T09:00:00.000000Z"
    [item] = entrupy_sim.insert_items(result="unknown", flag="flagged")
    entrupy_sim.resolve_flag(item, note="Seen again", result="authentic")
    entrupy_sim.wait(f"item:{item}:result")
    with pytest.raises(SimulatorError, match="did not happen within 100ms. The clock is frozen"):
        entrupy_sim.wait("webhook:session.completed", within=0.1)


@pytest.mark.entrupy_sim(frozen_at="2026-01-05T09:00:00Z")
def test_a_loop_through_everything_due_ends(entrupy_sim):
    entrupy_sim.control("POST", "/components/sessions", {"validationCode": "IDV", "networkEnvironment": "mock"})
    stops = 0
    while entrupy_sim.clock.advance(to="next")["reached"]:
        stops += 1
    assert stops > 0 and entrupy_sim.clock.advance(to="next")["nothing_due"] is True


@pytest.mark.entrupy_sim(scenario="late-result", verify=False)
def test_a_scenario_of_the_server(entrupy_sim):
    with pytest.raises(AssertionError, match="did not pass"):
        entrupy_sim.verify_scenario("late-result")


def test_a_wrong_number_of_requests_names_the_nearest(entrupy_sim):
    authorize(entrupy_sim, "example-user")
    with pytest.raises(AssertionError, match="expected 2 such requests, found 1"):
        entrupy_sim.expect_request("POST", "/v2/integrations/*", times=2)


@pytest.mark.parametrize("number", range(20))
def test_tests_at_once_do_not_see_each_other(entrupy_sim, number):
    entrupy_sim.insert_items(number + 1)
    found = entrupy_sim.control("GET", "/_sim/stats")
    assert len(entrupy_sim.control("GET", "/_sim/authentications?limit=25")["authentications"]) == number + 1
    assert found


def test_faults_snapshots_and_settings(entrupy_sim):
    entrupy_sim.snapshot("before")
    entrupy_sim.fault({"status": 503}, route="/v2/**", times=1)
    with pytest.raises(urllib.error.HTTPError):
        authorize(entrupy_sim, "example-user")
    authorize(entrupy_sim, "example-user")
    entrupy_sim.clear_faults()
    entrupy_sim.settings(quota=3)
    entrupy_sim.restore("before")
    entrupy_sim.settle()
    entrupy_sim.reset()
    assert len(entrupy_sim.bundle()) > 10_000
