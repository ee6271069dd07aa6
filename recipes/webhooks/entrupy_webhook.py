"""Verifies the signature of a webhook. Copy `verify`; the rest is a receiver to try it with. Needs Python 3.8 or newer, and nothing else.

    PORT=9000 WEBHOOK_SECRET=my-secret python3 entrupy_webhook.py

WEBHOOK_SIGNATURE is the form of the subscription: sha256-base64 (the default), sha256-hex or hex.
"""

import base64
import hashlib
import hmac
import http.server
import os
import sys

FORMS = {
    "sha256-base64": lambda code: "SHA256:" + base64.b64encode(code).decode(),
    "sha256-hex": lambda code: "SHA256:" + code.hex(),
    "hex": lambda code: code.hex(),
}


def verify(secret, body, signature, form="sha256-base64"):
    """Whether `signature`, the header Entrupy-Signature or None, is that of `body`: the bytes as they came, before JSON is parsed.

    `secret` is the subscription's secret_key, as text. Never raises for what a sender can send.
    """
    code = hmac.new(secret.encode(), body, hashlib.sha256).digest()
    # As bytes: compare_digest refuses texts that are not ASCII. It takes the same time wherever the first difference is.
    return hmac.compare_digest((signature or "").encode("utf-8", "replace"), FORMS[form](code).encode())


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            return self.answer(411)
        if len(length) > 7 or int(length) > 1_000_000:
            return self.answer(413)
        body = self.rfile.read(int(length))
        if not verify(SECRET, body, self.headers.get("Entrupy-Signature"), FORM):
            return self.answer(401)
        # From here on the body is the platform's: parse it, and put it into a queue. An answer that takes 10 s is too late.
        print(f"verified {len(body)} bytes", flush=True)
        return self.answer(204)

    def answer(self, status):
        # The rest of a body that was not read would be taken for the next request.
        self.close_connection = status in (411, 413)
        self.send_response(status)
        self.end_headers()

    def log_message(self, *arguments):
        pass


if __name__ == "__main__":
    SECRET, FORM = os.environ.get("WEBHOOK_SECRET", ""), os.environ.get("WEBHOOK_SIGNATURE", "sha256-base64")
    if not SECRET:
        sys.exit("WEBHOOK_SECRET must be the secret_key of the subscription")
    if FORM not in FORMS:
        sys.exit(f"WEBHOOK_SIGNATURE must be one of {', '.join(FORMS)}, not {FORM!r}")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Receiver)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
