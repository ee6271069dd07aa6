"""Tests of the back end, from outside: they play the app, decide the results, and move the platform's clock."""
import json
import os
import time
import unittest
import urllib.error
import urllib.request

SHOP, SIM = os.environ["SHOP_URL"], os.environ["ENTRUPY_SIM_URL"]
PICTURE = (b"\xff\xd8\xff\xc0\x00\x0b\x08\x00\x10\x00\x10\x01\x01\x11\x00\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00"
           + b"\x12" * 3000 + b"\xff\xd9")


def ask(url, body=None, method=None, token=None, signature=None):
    """Sends a request. Returns the status, and the JSON or the bytes of the answer."""
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, data, method=method, headers={
        **({"Content-Type": "application/json"} if data and data is not body else {}),
        **({"Authorization": f"Token {token}"} if token else {}), **({"Entrupy-Signature": signature} if signature else {})})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            status, body, kind = answer.status, answer.read(), answer.headers.get_content_type()
    except urllib.error.HTTPError as error:
        status, body, kind = error.code, error.read(), error.headers.get_content_type()
    return status, json.loads(body) if kind == "application/json" else body


class ShopTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Podman before 4.6 does not wait until a service is healthy.
        end = time.monotonic() + 60
        while True:
            try:
                if ask(SHOP + "/ready")[0] == 200:
                    return
            except OSError:
                pass
            if time.monotonic() > end:
                raise SystemExit(f"the shop is not ready after a minute: see `docker compose logs shop` ({SHOP}/ready)")
            time.sleep(0.2)

    def setUp(self):
        # Time moves only when a test says so.
        self.sim("/_sim/clock/freeze", {})

    def sim(self, path, body, method="POST"):
        status, answer = ask(SIM + path, body, method)
        self.assertLess(status, 300, answer)
        return answer

    def submit(self, item):
        """Makes an item as the app would, with the login that the shop has signed. Returns its id and the session's token."""
        signed = ask(SHOP + "/login", {"user": "compose-user"})[1]["signed_authorization_request"]
        token = ask(SIM + "/sdk/login", {"signed_authorization_request": signed})[1]["token"]
        capture = ask(SIM + "/sdk/captures", {"item": {"brand": "Nike", "style_name": "Air Jordan 1", "us_size": "9.5", **item}},
                      token=token)[1]
        for step in capture["steps"]:
            ask(f"{SIM}/sdk/captures/{capture['capture_id']}/images/{step['region_id']}", PICTURE, "PUT", token)
        status, submitted = ask(f"{SIM}/sdk/captures/{capture['capture_id']}/submit", None, "POST", token)
        self.assertEqual(status, 200, submitted)
        return submitted["entrupy_id"], token

    def test_the_shop_learns_a_result_by_webhook(self):
        item, token = self.submit({"customer_item_id": "sku-1"})
        self.sim("/_sim/clock/advance", {"by": "5s"})
        self.sim("/_sim/settle", {"within": "20s"})
        status, known = ask(f"{SHOP}/items/{item}")
        self.assertEqual(status, 200, known)
        self.assertEqual(known["status"]["result"], {**known["status"]["result"], "id": "authentic", "final": True})

    def test_a_result_of_my_choice(self):
        self.sim("/_sim/outcomes", {"match": {"customer_item_id": "sku-2"}, "result": "invalid"})
        item, token = self.submit({"customer_item_id": "sku-2"})
        self.sim("/_sim/clock/advance", {"by": "5s"})
        self.sim("/_sim/settle", {"within": "20s"})
        self.assertEqual(ask(f"{SHOP}/items/{item}")[1]["status"]["result"]["id"], "invalid")

    def test_addresses_in_answers_work_as_printed(self):
        item, token = self.submit({"customer_item_id": "sim-authentic-after-0s"})
        result = ask(f"{SIM}/sdk/results/{item}", token=token)[1]
        for address in (result["images"]["item_photo"], result["more_details"]["certificate"]["site"]):
            self.assertTrue(address.startswith(SIM), address)
            self.assertEqual(ask(address)[0], 200, address)

    def test_a_webhook_that_is_not_signed_is_refused(self):
        self.assertEqual(ask(SHOP + "/hooks", {"items": []})[0], 401)
        self.assertEqual(ask(SHOP + "/hooks", {"items": []}, signature="SHA256:é")[0], 401)
