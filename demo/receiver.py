import base64, hashlib, hmac, http.server, json, sys
port, secret = int(sys.argv[1]), sys.argv[2].encode()
class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        code = hmac.new(secret, body, hashlib.sha256).digest()
        header = self.headers["Entrupy-Signature"] or ""
        is_good = hmac.compare_digest(header.encode(), b"SHA256:" + base64.b64encode(code))
        self.send_response(204 if is_good else 401); self.end_headers()
        for item in json.loads(body)["items"]:
            print(json.dumps({"item": item["entrupy_id"], "result": item["status"]["result"]["id"],
                              "flag": item["status"]["flag"], "is_good": is_good}), flush=True)
http.server.HTTPServer(("127.0.0.1", port), Receiver).serve_forever()
