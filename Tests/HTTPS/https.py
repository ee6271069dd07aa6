#!/usr/bin/env python3
"""Checks the HTTPS port with clients of other makers: curl, openssl, nghttp2's client and Python's ssl.

    Tests/HTTPS/https.py --binary PROGRAM

A client that is not installed is skipped, and the last line says which.
"""

import argparse
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import urllib.request

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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    program = os.path.abspath(parser.parse_args().binary)
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [program, "serve", "--port", "0", "--tls-port", "0", "--data-dir", folder + "/data", "--ready-json", "--exit-with-parent"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            ready = json.loads(server.stdout.readline())
            port, authority = int(ready["tls_url"].rsplit(":", 1)[1]), ready["tls_authority"]
            silent = with_python(port, authority)
            if has("curl"):
                with_curl(port, authority)
            if has("openssl"):
                with_openssl(port, authority)
            if has("nghttp"):
                with_nghttp(port)
            server.terminate()
            check(server.wait(30) == 0, "the server stops although a client says nothing")
            silent.close()
        finally:
            server.kill()
    print("HTTPS works" + (f"; skipped, not installed: {', '.join(skipped)}" if skipped else ""))


main()
