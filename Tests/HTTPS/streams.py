#!/usr/bin/env python3
"""Attacks the HTTPS port with many HTTP/2 streams: answers that nobody reads, requests that are reset, event streams.

    Tests/HTTPS/streams.py --binary PROGRAM

It speaks HTTP/2 itself: clients of other makers do not misbehave.
"""

import argparse
import hashlib
import json
import os
import pathlib
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Support"))
from simulator import Client, log_in, picture  # noqa: E402

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM, ACK, END_HEADERS = 1, 1, 4
CANCEL = 8


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")
    print(f"ok  {text}", flush=True)


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def field(name, value):
    """A header field that enters no table (RFC 7541, section 6.2.2)."""
    name, value = name.encode(), value.encode()
    assert len(name) < 127 and len(value) < 127
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


class Connection:
    """One HTTP/2 connection."""

    def __init__(self, port, authority, window=65535):
        context = ssl.create_default_context(cafile=authority)
        context.set_alpn_protocols(["h2"])
        self.socket = context.wrap_socket(socket.create_connection(("127.0.0.1", port)), server_hostname="localhost")
        self.socket.settimeout(30)
        self.host = f"localhost:{port}"
        self.next = 1
        self.buffer = b""
        self.bodies, self.statuses, self.ended, self.is_closed = {}, {}, set(), False
        settings = struct.pack(">HI", 4, window)
        self.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, settings))

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError:
            self.is_closed = True

    def get(self, path, reset=False, method="GET"):
        """Sends a request, and returns the number of its stream."""
        stream, self.next = self.next, self.next + 2
        fields = (field(":method", method) + field(":scheme", "https") + field(":path", path)
                  + field(":authority", self.host))
        data = frame(HEADERS, END_HEADERS | END_STREAM, stream, fields)
        if reset:
            data += frame(RST_STREAM, 0, stream, struct.pack(">I", CANCEL))
        self.send(data)
        return stream

    def reset(self, stream):
        self.send(frame(RST_STREAM, 0, stream, struct.pack(">I", CANCEL)))

    def open_window(self, stream, count):
        self.send(frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", count)))

    def read(self, done, seconds=30, opens=False):
        """Reads frames until `done()`, the end of the connection, or the end of the time; `opens` reads bodies to their end."""
        until = time.monotonic() + seconds
        while not done() and not self.is_closed and time.monotonic() < until:
            self.socket.settimeout(max(0.05, until - time.monotonic()))
            try:
                data = self.socket.recv(262144)
            except (TimeoutError, socket.timeout):
                break
            except OSError:
                data = b""
            if not data:
                self.is_closed = True
                break
            self.buffer += data
            self.take(opens)

    def take(self, opens):
        while len(self.buffer) >= 9:
            length = int.from_bytes(self.buffer[:3], "big")
            if len(self.buffer) < 9 + length:
                return
            kind, flags = self.buffer[3], self.buffer[4]
            stream = int.from_bytes(self.buffer[5:9], "big") & 0x7FFFFFFF
            payload, self.buffer = self.buffer[9:9 + length], self.buffer[9 + length:]
            if kind == SETTINGS and not flags & ACK:
                self.send(frame(SETTINGS, ACK, 0))
            elif kind == PING and not flags & ACK:
                self.send(frame(PING, ACK, 0, payload))
            elif kind == HEADERS:
                # 0x88 is the table's entry for status 200, which the server's encoder uses.
                self.statuses.setdefault(stream, 200 if payload[0] == 0x88 else 0)
            elif kind == DATA:
                self.bodies[stream] = self.bodies.get(stream, 0) + length
                if opens and length:
                    self.open_window(0, length)
                    if not flags & END_STREAM:
                        self.open_window(stream, length)
            if kind in (HEADERS, DATA) and flags & END_STREAM or kind == RST_STREAM:
                self.ended.add(stream)


def memory(pid):
    """The process's own memory, in bytes."""
    with open(f"/proc/{pid}/status") as status:
        for line in status:
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    return 0


def processor_time(pid):
    with open(f"/proc/{pid}/stat") as stat:
        parts = stat.read().rsplit(")", 1)[1].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def stored_picture(url):
    """Uploads a picture of 18 MB, and returns the path of its answer and its size."""
    place = urllib.parse.urlparse(url)
    client = Client(argparse.Namespace(host=place.hostname, port=place.port))
    token = log_in(client, "streams-user")
    capture = client.must("POST", "/sdk/captures", {"item": {
        "product_category": "luxury", "brand": "Gucci", "customer_item_id": "streams"}}, token)["capture_id"]
    image = picture("streams", 18_000_000)
    client.must("PUT", f"/sdk/captures/{capture}/images/front", image, token)
    client.close()
    return f"/images/{hashlib.sha256(image).hexdigest()}/original", len(image)


def unread_answers(server, port, authority, path, size=0, wanted=100):
    """Asks 4,000 times for an answer that nobody reads; then reads `wanted` of them, which have at least `size` bytes."""
    before = memory(server.pid)
    connections = [Connection(port, authority, window=0) for _ in range(40)]
    for connection in connections:
        for _ in range(100):
            connection.get(path)
    # Heads are not flow-controlled: they arrive, and tell which answers are made. The server makes more only once those are read.
    most = came = 0
    for _ in range(20):
        for connection in connections:
            connection.read(lambda: False, seconds=0.02)
        most = max(most, memory(server.pid) - before)
        before_round, came = came, sum(len(connection.statuses) for connection in connections)
        if came == before_round > 0:
            break
    check(most < 120_000_000, f"4,000 answers of {path} that nobody reads take {most / 1e6:.0f} MB")
    fresh = Connection(port, authority)
    stream = fresh.get("/_sim/clock")
    fresh.read(lambda: stream in fresh.ended)
    check(fresh.statuses.get(stream) == 200, "another connection gets its answer beside them")
    # A client that begins to read gets all of its answers.
    first = connections[0]
    first.open_window(0, 1 << 28)
    streams = range(1, first.next, 2)[:wanted]
    for stream in range(1, first.next, 2)[wanted:]:
        first.reset(stream)
    for stream in streams:
        first.open_window(stream, 1 << 22)
    first.read(lambda: first.ended.issuperset(streams), seconds=60, opens=True)
    sizes = {first.bodies.get(stream, 0) for stream in streams}
    check(first.ended.issuperset(streams) and len(sizes) == 1 and sizes.pop() >= (size or 1),
          f"a client that begins to read gets {len(streams)} answers whole")
    for connection in connections:
        connection.socket.close()


def reset_requests(server, url, port, authority):
    data = json.dumps({"count": 20000}).encode()
    urllib.request.urlopen(urllib.request.Request(
        url + "/_sim/authentications", data, {"Content-Type": "application/json"})).read()
    export(url)
    used = processor_time(server.pid)
    for _ in range(10):
        export(url)
    one = (processor_time(server.pid) - used) / 10
    used = processor_time(server.pid)
    connections = [Connection(port, authority) for _ in range(40)]
    for _ in range(100):
        for connection in connections:
            connection.get("/_sim/export", reset=True)
    urllib.request.urlopen(url + "/_sim/clock").read()
    for connection in connections:
        connection.socket.close()
    urllib.request.urlopen(url + "/_sim/clock").read()
    used = processor_time(server.pid) - used
    # Processor time, since other programs take part of the machine.
    check(used < 4000 * one / 8, f"4,000 exports that were reset cost {used:.2f} s of processor time, and one that is read {one:.3f} s")


def export(url):
    urllib.request.urlopen(url + "/_sim/export").read()


def event_streams(port, authority):
    connections = [Connection(port, authority) for _ in range(11)]
    for connection in connections:
        for _ in range(100):
            connection.get("/_sim/events")
    for connection in connections:
        connection.read(lambda: len(connection.statuses) == 100, seconds=20)
    found = [status for connection in connections for status in connection.statuses.values()]
    check(len(found) == 1100 and found.count(200) == 1000,
          f"of 1,100 event streams {found.count(200)} are opened, and {len(found) - found.count(200)} are refused")
    for connection in connections[:2]:
        connection.socket.close()
    fresh = Connection(port, authority)
    for _ in range(100):
        stream = fresh.get("/_sim/events")
        fresh.read(lambda: stream in fresh.statuses)
        if fresh.statuses.get(stream) == 200:
            break
        time.sleep(0.1)
    check(fresh.statuses.get(stream) == 200, "a stream that is closed leaves its place to another")
    for connection in connections:
        connection.socket.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    program = os.path.abspath(parser.parse_args().binary)
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [program, "serve", "--port", "0", "--tls-port", "0", "--data-dir", folder + "/data", "--ready-json",
             "--exit-with-parent"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            ready = json.loads(server.stdout.readline())
            port, authority = int(ready["tls_url"].rsplit(":", 1)[1]), ready["tls_authority"]
            for path in ("/openapi.yaml", "/openapi.json", "/_sim/docs"):
                unread_answers(server, port, authority, path)
            unread_answers(server, port, authority, *stored_picture(ready["url"]), wanted=3)
            event_streams(port, authority)
            reset_requests(server, ready["url"], port, authority)
            check(server.poll() is None, "the server still runs")
        finally:
            server.kill()
    print("HTTP/2 streams are bounded")


main()
