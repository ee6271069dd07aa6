"""An example: the container once for the run, a namespace for each test. Run it with pytest, where a container engine answers."""

import json
import urllib.error
import urllib.request

import pytest

from entrupy_sim_testcontainers import EntrupySimContainer


@pytest.fixture(scope="session")
def simulator():
    with EntrupySimContainer() as container:
        yield container


@pytest.fixture
def platform(simulator):
    return simulator.namespace(prefix="test", ttl="10m", clock={"freeze": "2026-01-05T09:00:00Z"})


def ask(url, body=None):
    request = urllib.request.Request(url, None if body is None else json.dumps(body).encode(), {
        "Content-Type": "application/json", "Authorization": "Token demo-api-token"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def authorize(platform, user):
    return ask(f"{platform}/v2/integrations/authorize-user", {
        "sdk_authorization_request": "of-the-app", "unique_user_id": user, "email": f"{user}@example.com"})


def test_a_user_is_authorized(platform):
    assert authorize(platform, "example-user")["username"] == "DemoOrg-example-user"
    assert [each["username"] for each in ask(f"{platform}/_sim/users")["users"] if "example-user" in each["username"]]


def test_tests_share_nothing(platform):
    assert ask(f"{platform}/_sim/clock")["now"] == "2026-01-05T09:00:00.000000Z"
    assert not [each for each in ask(f"{platform}/_sim/users")["users"] if "example-user" in each["username"]]


def test_the_address_of_a_namespace_is_the_published_one(simulator, platform):
    assert platform.startswith(simulator.url + "/ns/test-")


def test_a_refusal_has_a_reason(simulator):
    with pytest.raises(urllib.error.HTTPError) as refused:
        simulator.namespace(prefix="Not A Name")
    assert refused.value.code == 400 and b"prefix" in refused.value.read()
