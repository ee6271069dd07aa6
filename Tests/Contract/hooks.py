"""What schemathesis needs to know of the simulator besides its description: tokens, and a bound on work.

The addresses and tokens come from contract.py, in the environment.
"""
import json
import os
import urllib.request

import schemathesis

SIM = os.environ["SIM_URL"]
API_TOKEN = os.environ["SIM_API_TOKEN"]
USER = os.environ["SIM_USER"]
# More items than this in one call show nothing that fewer do not.
MOST_ITEMS = 200


def post(path, body, token=None):
    """The simulator's answer, as JSON."""
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Token {token}"
    request = urllib.request.Request(SIM + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


@schemathesis.auth(refresh_interval=None).apply_to(path_regex=r"^/v[12]/")
class ApiToken:
    def get(self, case, context):
        return API_TOKEN

    def set(self, case, data, context):
        case.headers["Authorization"] = f"Token {data}"


@schemathesis.auth(refresh_interval=None).apply_to(path_regex=r"^/sdk/").skip_for(path="/sdk/login")
class SessionToken:
    """A login for every request, since a logout that was tried before has ended the session."""

    def get(self, case, context):
        signed = post(
            "/v2/integrations/authorize-user", {"sdk_authorization_request": "contract", "unique_user_id": USER},
            API_TOKEN)
        return post("/sdk/login", {"signed_authorization_request": signed["signed_authorization_request"]})["token"]

    def set(self, case, data, context):
        case.headers["Authorization"] = f"Token {data}"


@schemathesis.auth(refresh_interval=None).apply_to(path_regex=r"^/partner/authorize")
class PartnerToken:
    def get(self, case, context):
        return post("/partner/login", {"username": "demo", "password": "demo"})["token"]

    def set(self, case, data, context):
        case.headers["Authorization"] = f"Token {data}"


@schemathesis.hook
def before_call(context, case, kwargs):
    if isinstance(case.body, dict):
        count = case.body.get("count")
        if isinstance(count, int) and MOST_ITEMS < count <= 10_000_000:
            case.body["count"] = MOST_ITEMS
