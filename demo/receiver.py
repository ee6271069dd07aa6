import hashlib, hmac, http.server, json, sys
port, secret = int(sys.argv[1]), sys.argv[2].encode()
class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        is_good = hmac.compare_digest(self.headers["Entrupy-Signature"], hmac.new(secret, body, hashlib.sha256).hexdigest())
        self.send_response(204 if is_good else 401); self.end_headers()
        told = json.loads(body)
        print(json.dumps({"event": told["event"], "item": told["data"]["entrupy_id"], "is_good": is_good}), flush=True)
http.server.HTTPServer(("127.0.0.1", port), Receiver).serve_forever()
