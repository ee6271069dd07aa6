"""Hooks that give schemathesis tokens and existing objects, and limit the work of its requests.

contract.py passes the server's address in the environment.
"""
import os
import pathlib
import types
import zlib

import schemathesis
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation import GenerationMode

from simulator import API_TOKEN, Client, log_in, picture

USER = os.environ["SIM_USER"]
HERE = pathlib.Path(__file__).resolve().parent
SIM = Client(types.SimpleNamespace(host=os.environ["SIM_HOST"], port=int(os.environ["SIM_PORT"])), os.environ["SIM_BASE"])
# The maximum number of items in one call. More would show nothing new.
MOST_ITEMS = 200
REGIONS = ["front", "back", "logo", "hardware", "serial_number", "material"]


# Videos are bytes like any others.
for media_type in ["video/mp4", "video/quicktime"]:
    schemathesis.serializer.alias(media_type, "application/octet-stream")


@schemathesis.auth(refresh_interval=None).apply_to(path_regex=r"^/(components/)?v[12]/")
class ApiToken:
    def get(self, case, context):
        return API_TOKEN

    def set(self, case, data, context):
        case.headers["Authorization"] = f"Token {data}"


@schemathesis.auth(refresh_interval=None).apply_to(path_regex=r"^/sdk/").skip_for(path="/sdk/login")
class SessionToken:
    """Logs in for every request, because an earlier logout may have ended the session."""

    def get(self, case, context):
        return log_in(SIM, USER)

    def set(self, case, data, context):
        case.headers["Authorization"] = f"Token {data}"


@schemathesis.auth(refresh_interval=None).apply_to(path_regex=r"^/partner/authorize")
class PartnerToken:
    def get(self, case, context):
        return SIM.must("POST", "/partner/login", {"username": "demo", "password": "demo"})["token"]

    def set(self, case, data, context):
        case.headers["Authorization"] = f"Token {data}"


class Fixtures:
    """Existing objects for paths. They are made for each request that may use them up; the others share theirs."""

    def __init__(self):
        self.count = 0
        self.shared = {}

    def for_case(self, case, name):
        """A value for a path parameter of a request."""
        key = (case.operation.path, name)
        spends = case.method not in ("GET", "HEAD") and not any(is_wrong_on_purpose(case, part) for part in ParameterLocation)
        if spends:
            return self.of(*key)
        if self.shared.get(key) is None:
            self.shared[key] = self.of(*key)
        return self.shared[key]

    def item(self, result="authentic"):
        self.count += 1
        made = SIM.must("POST", "/_sim/authentications", {
            "result": result, "username": f"DemoOrg-{USER}", "customer_item_id": f"contract-{self.count}"})
        return made["entrupy_ids"][0]

    def item_with_retake(self):
        item = self.item("needs_review")
        SIM.must("POST", f"/_sim/authentications/{item}/retake", {"regions": ["heel"]})
        return item

    def lookup_value(self):
        self.item()
        return f"contract-{self.count}"

    def certificate(self):
        item = self.item()
        shown = SIM.must("GET", f"/_sim/authentications/{item}")
        return shown["v2"]["certificate"]["certificate_id"]

    def capture(self, pictures=0):
        # An earlier request may have changed the settings and switched the limits on.
        SIM.must("PATCH", "/_sim/settings", {"rate_limits": "off"})
        token = log_in(SIM, USER)
        self.count += 1
        capture = SIM.must("POST", "/sdk/captures", {
            "item": {"product_category": "luxury", "brand": "Gucci", "customer_item_id": f"contract-{self.count}"}},
            token)["capture_id"]
        for region in REGIONS[:pictures]:
            self.image = SIM.must("PUT", f"/sdk/captures/{capture}/images/{region}", picture(region, 300), token)["sha256"]
        return capture

    def full_capture(self):
        return self.capture(len(REGIONS))

    def sha256(self):
        self.capture(1)
        return self.image

    def webhook(self):
        SIM.must("PATCH", "/_sim/settings", {"rate_limits": "off"})
        # It gets few events. Hundreds of subscriptions that all get every item would be a different test.
        return SIM.must("POST", "/v2/webhooks", {
            "url": "http://127.0.0.1:9/nobody", "secret_key": "contract-secret", "events": ["certificate.transfer"]},
            API_TOKEN)["id"]

    def delivery(self):
        item, _ = self.item(), self.webhook()
        fired = SIM.must("POST", "/_sim/webhooks/trigger", {"event": "certificate.transfer", "entrupy_id": item})
        return fired["deliveries"][0]["id"]

    def outcome(self):
        return SIM.must("POST", "/_sim/outcomes", {"match": {"customer_item_id": "nobody's"}, "result": "unknown"})["id"]

    def fault(self):
        return SIM.must("POST", "/_sim/faults", {"match": {"route": "/nowhere"}, "effect": {"status": 500}})["id"]

    def session(self):
        SIM.must("PATCH", "/_sim/settings", {"rate_limits": "off"})
        # A separate user, because another request changes the email of the first one.
        log_in(SIM, "contract-fixture")
        return SIM.must("GET", "/_sim/sessions")["sessions"][0]["id"]

    def request(self):
        SIM("GET", "/sdk/session")
        kept = SIM.must("GET", "/_sim/requests")["requests"]
        # Earlier settings may let the journal keep no requests.
        return kept[0]["id"] if kept else None

    def workflow_session(self, path):
        """A session whose component is about to be started, or has everything that it wants."""
        session = SIM.must("POST", "/components/sessions", {"validationCode": "IDV", "networkEnvironment": "mock"})["session_id"]
        base = f"/components/sessions/{session}"
        if path.endswith(("/{id}", "/document", "/biometrics")):
            return session
        video = (HERE.parent.parent / "demo" / "clip.mp4").read_bytes()
        if "/document/" in path:
            SIM.must("POST", f"{base}/document", {"documentType": "idCard", "issuingCountry": "NLD"})
            for side in ["front", "back"]:
                for angled in ["false", "true"]:
                    SIM.must("PUT", f"{base}/document/images/{side}?angled={angled}", picture(side, 300))
            SIM.must("PUT", f"{base}/document/video", video)
        else:
            SIM.must("POST", f"{base}/biometrics", {})
            SIM.must("PUT", f"{base}/biometrics/selfie", picture("selfie", 300))
            SIM.must("PUT", f"{base}/biometrics/liveness", video)
        return session

    def username(self):
        self.item()
        return f"DemoOrg-{USER}"

    def of(self, path, name):
        """A value for the path parameter with this name."""
        if path in ("/_sim/outcomes/{id}", "/_sim/faults/{id}"):
            return self.outcome() if "outcomes" in path else self.fault()
        if path == "/_sim/sessions/{id}":
            return self.session()
        if path == "/_sim/requests/{id}":
            return self.request()
        if path.startswith("/components/"):
            return self.workflow_session(path) if name == "id" else "onboarding" if name == "workflowId" else None
        if name == "id":
            if path.endswith("/submit"):
                return self.full_capture()
            return (self.capture if "/captures/" in path else self.delivery if "deliveries" in path else self.webhook)()
        if name == "entrupy_id":
            if path == "/sdk/results/{entrupy_id}/retake":
                return self.item_with_retake()
            return self.item("needs_review" if path.endswith(("/retake", "/support-message")) else "unknown"
                             if path.endswith("/flag") else "authentic")
        makers = {
            "lookup_value": self.lookup_value, "certificate_id": self.certificate, "sha256": self.sha256,
            "username": self.username, "region_id": lambda: REGIONS[0]}
        return makers[name]() if name in makers else None


FIXTURES = Fixtures()


def harmless(rule):
    """Changes the rule's route to an unused one. A triggered fault would look like a bug of the server."""
    if isinstance(rule.get("match"), dict) and isinstance(rule["match"].get("route"), (str, type(None))):
        rule["match"]["route"] = "/nowhere"
    elif rule.get("match") is None:
        rule["match"] = {"route": "/nowhere"}


def is_wrong_on_purpose(case, location):
    part = case.meta.components.get(location) if case.meta else None
    return part is not None and part.mode == GenerationMode.NEGATIVE


@schemathesis.hook
def before_call(context, case, kwargs):
    if isinstance(case.body, dict):
        count = case.body.get("count")
        # JSON has only one type of number, so 1000000.0 is a count too.
        if isinstance(count, (int, float)) and MOST_ITEMS < count <= 10_000_000:
            case.body["count"] = MOST_ITEMS
        if case.operation.path == "/_sim/faults" and not is_wrong_on_purpose(case, ParameterLocation.BODY):
            harmless(case.body)
        if case.operation.path == "/_sim/settle" and case.body.get("within") not in (None, 0):
            # Long waits show nothing new, so valid ones become short.
            if not is_wrong_on_purpose(case, ParameterLocation.BODY):
                case.body["within"] = "0.05s"
    # Three of four requests name an existing object. They are the same ones in every run.
    given = case.path_parameters
    if given and not is_wrong_on_purpose(case, ParameterLocation.PATH) and zlib.crc32(repr(given).encode()) % 4:
        for name in given:
            found = FIXTURES.for_case(case, name)
            if found is not None:
                given[name] = found
    # What a reset, a restore or a deletion leaves is not known.
    if case.operation.path.startswith("/_sim") and case.method not in ("GET", "HEAD"):
        FIXTURES.shared.clear()
