"""A small back end: it signs login requests for its app, and learns the results of its items by webhooks.

ENTRUPY_URL is the platform's base URL, ENTRUPY_TOKEN the organization's API token. The platform sends webhooks to WEBHOOK_URL, signed with
WEBHOOK_SECRET. Only the first of these differs between the platform and the simulator.
"""
import base64
import hashlib
import hmac
import http.server
import json
import os
import signal
import sys
import threading
import time
import urllib.error
import urllib.request

results = {}
state = {"subscribed": False}


def ask(path, body=None):
    """Sends a request to the platform, and returns the JSON of its answer."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(os.environ["ENTRUPY_URL"] + path, data, {
        "Content-Type": "application/json", "Authorization": f"Token {os.environ['ENTRUPY_TOKEN']}"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.loads(answer.read())


def subscribe():
    """Subscribes to webhooks, once. Tries again while the platform does not answer: not every engine waits until it is healthy."""
    while not state["subscribed"]:
        try:
            url = os.environ["WEBHOOK_URL"]
            if not any(each["url"] == url for each in ask("/v2/webhooks")["webhooks"]):
                ask("/v2/webhooks", {"url": url, "secret_key": os.environ["WEBHOOK_SECRET"]})
            state["subscribed"] = True
            print("subscribed")
        except urllib.error.HTTPError as error:
            print(f"the platform refuses the subscription: {error.code} {error.read().decode()}")
            time.sleep(1)
        except OSError as error:
            print(f"the platform does not answer yet: {error}")
            time.sleep(1)


class Shop(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/ready":
            return self.answer(200 if state["subscribed"] else 503, state)
        if self.path.startswith("/items/"):
            item = self.path.removeprefix("/items/")
            return self.answer(200, results[item]) if item in results else self.answer(404, {"error": f"no result of {item} yet"})
        self.answer(404, {"error": "no such path"})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/hooks":
            return self.receive(body)
        if self.path == "/login":
            user = json.loads(body)["user"]
            return self.answer(200, ask("/v2/integrations/authorize-user", {
                "sdk_authorization_request": "of-the-app", "unique_user_id": user, "email": f"{user}@shop.example"}))
        self.answer(404, {"error": "no such path"})

    def receive(self, body):
        """Takes a webhook, if the platform has signed exactly these bytes."""
        code = hmac.new(os.environ["WEBHOOK_SECRET"].encode(), body, hashlib.sha256).digest()
        wanted = "SHA256:" + base64.b64encode(code).decode()
        # As bytes: compare_digest refuses texts that are not ASCII.
        if not hmac.compare_digest(self.headers.get("Entrupy-Signature", "").encode("utf-8", "replace"), wanted.encode()):
            return self.answer(401, {"error": "wrong signature"})
        for item in json.loads(body)["items"]:
            results[item["entrupy_id"]] = item
        self.answer(200, {})

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, pattern, *arguments):
        if self.path != "/ready":
            super().log_message(pattern, *arguments)


if __name__ == "__main__":
    # The first process of a container ignores SIGTERM, unless it says otherwise.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    threading.Thread(target=subscribe, daemon=True).start()
    http.server.ThreadingHTTPServer(("", 9000), Shop).serve_forever()
