#!/usr/bin/env python3
"""Checks the HTTPS port with clients of other makers: curl, openssl, nghttp2's client and Python's ssl.

    Tests/HTTPS/https.py --binary PROGRAM

A client that is not installed is skipped, and the last line says which.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
import zlib

skipped = []


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")
    print(f"ok  {text}", flush=True)


def run(*words, data=None, timeout=60):
    done = subprocess.run(words, input=data, capture_output=True, timeout=timeout)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def has(tool):
    if shutil.which(tool):
        return True
    skipped.append(tool)
    return False


def with_curl(port, authority):
    base = ["curl", "-sS", "--max-time", "30", "--cacert", authority]
    url = f"https://localhost:{port}"
    for option, version in (("--http2", "2"), ("--http1.1", "1.1")):
        _, out, _ = run(*base, option, "-w", " %{http_version}", url + "/_sim/health")
        check(out == '{"status":"ok"} ' + version, f"curl speaks HTTP/{version}")
    for host in ("127.0.0.1", "localhost"):
        check(run(*base, f"https://{host}:{port}/_sim/health")[0] == 0, f"curl accepts the certificate of {host}")
    name = "a-test.localhost"
    status, out, _ = run(*base, "--resolve", f"{name}:{port}:127.0.0.1", f"https://{name}:{port}/_sim/info")
    check(status == 0 and "unknown_namespace" in out, f"curl accepts the certificate of {name}, which names a namespace")
    status, _, error = run(*base, "--resolve", f"entrupy.com:{port}:127.0.0.1", f"https://entrupy.com:{port}/_sim/health")
    check(status == 60, "curl refuses a name that the authority may not sign for")
    check(run("curl", "-sS", "--max-time", "30", url + "/_sim/health")[0] == 60, "curl refuses without the authority")
    _, out, _ = run("curl", "-sS", "--max-time", "30", f"http://localhost:{port}/_sim/health")
    check("https://" in out, "plain HTTP on the HTTPS port is explained")
    with tempfile.NamedTemporaryFile() as file:
        file.truncate(30_000_000)
        for option in ("--http2", "--http1.1"):
            _, out, _ = run(
                *base, option, "-H", "Expect:", "-H", "Content-Type: application/json", "-X", "POST", "--data-binary",
                "@" + file.name, "-w", " %{http_code}", url + "/sdk/login")
            check(out.endswith(" 413"), f"a body over the limit gets its 413 with {option}")
            _, out, _ = run(
                *base, option, "-H", "Expect: 100-continue", "-X", "PUT", "--data-binary", "@" + file.name, "-w",
                " %{http_code} %{size_upload}", url + "/sdk/login")
            check(out.endswith(" 405 0"), f"Expect: 100-continue spares the body of a refused request with {option}")
    _, out, _ = run(
        *base, "--http1.1", "-H", "Connection: Upgrade, HTTP2-Settings", "-H", "Upgrade: h2c", "-H", "HTTP2-Settings: AAMAAABkAAQAAP__",
        "-w", " %{num_connects} ", url + "/_sim/health", url + "/_sim/health")
    check(out == '{"status":"ok"} 1 {"status":"ok"} 0 ', "a request with Upgrade leaves the connection open")
    fault = json.dumps({"match": {"route": "/v1/health"}, "effect": {"drop_connection": True}, "times": 2})
    run(*base, "-H", "Content-Type: application/json", "-d", fault, url + "/_sim/faults")
    health = [*base, "-H", "Authorization: Token demo-api-token", "-H", "Api-Version: 1.3", url + "/v1/health"]
    check(run(*health, "--http2")[0] == 92, "drop_connection resets the stream of HTTP/2")
    check(run(*health, "--http1.1")[0] == 56, "drop_connection resets the connection of HTTP/1.1")
    check(run(*health)[1] == '{"status":"ok"}', "and then it works")


def with_openssl(port, authority):
    words = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-servername", "shop.localhost", "-CAfile", authority]
    _, out, error = run(*words, "-verify_return_error", "-alpn", "h2,http/1.1", data=b"")
    check("Verify return code: 0" in out and "ALPN protocol: h2" in out, "openssl verifies the chain and its constraints")
    _, text, _ = run("openssl", "x509", "-noout", "-ext", "subjectAltName,extendedKeyUsage", data=out.encode())
    check("DNS:shop.localhost" in text and text.count("DNS:") == 1, "the certificate is for one name")
    _, text, _ = run("openssl", "x509", "-in", authority, "-noout", "-text")
    check("Name Constraints: critical" in text, "the authority's constraints are critical")
    for version in ("-tls1", "-tls1_1"):
        # The client itself refuses old versions unless its security level is lowered.
        check(run(*words, version, "-cipher", "ALL:@SECLEVEL=0", data=b"")[0] != 0, f"{version[1:]} is refused")


def with_nghttp(port):
    paths = [f"https://localhost:{port}/_sim/{name}" for name in ("health", "clock", "settings", "namespaces")]
    _, out, _ = run("nghttp", "-nv", *paths)
    out = re.sub(r"\x1b\[[0-9;]*m", "", out)
    check(out.count(":status: 200") == len(paths), f"nghttp gets {len(paths)} answers on one connection")
    check("SETTINGS_MAX_CONCURRENT_STREAMS(0x03):100" in out, "the settings have our limits")


def with_python(port, authority):
    context = ssl.create_default_context(cafile=authority)
    for host in ("localhost", "127.0.0.1"):
        with urllib.request.urlopen(f"https://{host}:{port}/_sim/health", context=context, timeout=30) as answer:
            check(answer.status == 200, f"Python's ssl accepts {host}")
    silent = socket.create_connection(("127.0.0.1", port))
    return silent


def upload(http, picture):
    """Uploads a picture, and returns its path."""

    def send(path, body, token=None, method="POST", kind="application/json"):
        headers = {"Content-Type": kind, **({"Authorization": "Token " + token} if token else {})}
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return json.load(urllib.request.urlopen(urllib.request.Request(http + path, data, headers, method=method)))

    user = {
        "sdk_authorization_request": "example-sdk-authorization-request", "unique_user_id": "example-user-id",
        "email": "user@entrupy-customer.com"}
    signed = send("/v2/integrations/authorize-user", user, "demo-api-token")["signed_authorization_request"]
    token = send("/sdk/login", {"signed_authorization_request": signed})["token"]
    item = {"brand": "Nike", "style_name": "Air Jordan 1", "us_size": "9.5", "style_code": "d07097-100", "upc": "00195244532483"}
    capture = send("/sdk/captures", {"item": item}, token)
    send(f"/sdk/captures/{capture['capture_id']}/images/{capture['steps'][0]['region_id']}", picture, token, "PUT", "image/png")
    return f"/images/{hashlib.sha256(picture).hexdigest()}/original"


def large_picture():
    """A PNG of 18 MB that cannot be compressed: more than fits into the buffers of a connection."""
    width, height = 3000, 2000

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + os.urandom(width * 3) for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b"")


def with_slow_reader(program, folder, option, url):
    """A server that is told to stop lets a slow client have its whole answer."""
    server, ready = started(program, folder)
    try:
        picture = large_picture()
        path, got = upload(ready["url"], picture), os.path.join(folder, "got")
        client = subprocess.Popen(
            ["curl", "-sS", option, "--cacert", ready["tls_authority"], "--limit-rate", "4M", "-o", got, ready[url] + path])
        deadline = time.monotonic() + 30
        while not (os.path.exists(got) and os.path.getsize(got)) and time.monotonic() < deadline:
            time.sleep(0.02)
        server.terminate()
        status = client.wait(60)
        check(status == 0 and os.path.getsize(got) == len(picture), f"a slow client gets its answer while the server stops, {url} {option}")
        check(ended(server, within=30) == 0, "and then the server has stopped")
    finally:
        server.kill()


def started(program, folder):
    server = subprocess.Popen(
        [program, "serve", "--port", "0", "--tls-port", "0", "--data-dir", folder + "/data", "--ready-json", "--exit-with-parent"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return server, json.loads(server.stdout.readline())


def ended(process, within):
    """The exit status of a process, or None if it still runs after some seconds."""
    try:
        return process.wait(within)
    except subprocess.TimeoutExpired:
        return None


def idle_connection(port, authority, protocol):
    """A connection that has got what it asked for, and does not even answer a GOAWAY or close_notify."""
    context = ssl.create_default_context(cafile=authority)
    context.set_alpn_protocols([protocol])
    connection = context.wrap_socket(socket.create_connection(("127.0.0.1", port)), server_hostname="localhost")
    if protocol == "h2":
        connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
    else:
        connection.sendall(b"GET /_sim/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    check(connection.recv(1000), f"a client of {protocol} gets an answer and keeps its connection")
    return connection


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    program = os.path.abspath(parser.parse_args().binary)
    with tempfile.TemporaryDirectory() as folder:
        server, ready = started(program, folder)
        try:
            port, authority = int(ready["tls_url"].rsplit(":", 1)[1]), ready["tls_authority"]
            silent = with_python(port, authority)
            if has("curl"):
                with_curl(port, authority)
            if has("openssl"):
                with_openssl(port, authority)
            if has("nghttp"):
                with_nghttp(port)
            idle = [idle_connection(port, authority, protocol) for protocol in ("http/1.1", "h2")]
            server.terminate()
            # A container engine waits ten seconds before it kills.
            check(ended(server, within=4) == 0, "the server stops soon although clients are idle, or say nothing")
            for connection in [silent, *idle]:
                connection.close()
        finally:
            server.kill()
    if shutil.which("curl"):
        for option, url in (("--http1.1", "url"), ("--http1.1", "tls_url"), ("--http2", "tls_url")):
            with tempfile.TemporaryDirectory() as folder:
                with_slow_reader(program, folder, option, url)
    print("HTTPS works" + (f"; skipped, not installed: {', '.join(skipped)}" if skipped else ""))


main()
