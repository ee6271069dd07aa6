#!/usr/bin/env python3
"""Measures how much a namespace whose receivers hang delays the webhooks of the others.

    isolation.py --binary .build/release/entrupy-sim [--namespaces 200] [--rounds 5] [--seconds 10] [--rate 200]

Each namespace has a subscription to its own path of one receiver, and gets an event every `--namespaces` / `--rate` seconds. A delay is
the time from the sending of the request that makes the event to the arrival of its webhook. Each round measures twice: without
the hanging namespace, and with it, in alternating order. That one has subscriptions to the same receiver too, which never answers
them. Deliveries to twenty of them take all connections that a namespace may have, and more wait. After that it gets events like the
others; as by default its attempts time out after 10 s, and others take their connections. Prints the p50 and p99 of each half, the
server's processor time for an event with its delivery, which other work on the machine changes least, and the ratio of the p99; the
median of the rounds counts. A webhook of the others that does not arrive, or an answer that is not 2xx, ends the run with an error.
"""
import argparse
import asyncio
import json
import pathlib
import re
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Tests" / "Support"))
from large import cpu_seconds  # noqa: E402
from simulator import API_TOKEN, Client, Simulator  # noqa: E402

# What one namespace may hold at a time.
MAX_CONNECTIONS = 16
HANGING_SUBSCRIPTIONS = 20
EVENT, FIRST_EVENT = "session.updated", "session.completed"
CLIENTS = 8
ITEMS = 4


class Receiver(asyncio.Protocol):
    """A connection to the receiver. It answers at once; to paths that begin with `/hang` never."""

    arrivals = {}
    hanging = set()

    def connection_made(self, transport):
        self.transport, self.data = transport, b""

    def connection_lost(self, _):
        self.hanging.discard(self.transport)

    def data_received(self, data):
        self.data += data
        head, end, body = self.data.partition(b"\r\n\r\n")
        if not end or len(body) < int(re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)[1]):
            return
        if head.startswith(b"POST /hang"):
            self.hanging.add(self.transport)
            return
        self.arrivals[re.search(rb"(?i)\r\nx-sim-event-id: *(\S+)", head)[1].decode()] = time.perf_counter()
        self.transport.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        self.transport.close()


class Sender:
    """A connection to the server that makes events."""

    def __init__(self, server):
        self.host, self.port = server.host, server.port

    async def open(self):
        self.reader, self.writer = await asyncio.open_connection(self.host, self.port)
        return self

    async def trigger(self, namespace, item, event=EVENT):
        """Makes an event of an item. Returns the event's id and when its request was sent."""
        body = json.dumps({"event": event, "entrupy_id": item}).encode()
        head = (f"POST /ns/{namespace}/_sim/webhooks/trigger HTTP/1.1\r\nHost: {self.host}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n")
        sent = time.perf_counter()
        self.writer.write(head.encode() + body)
        answer = await self.reader.readuntil(b"\r\n\r\n")
        body = await self.reader.readexactly(int(re.search(rb"(?i)\r\ncontent-length: *(\d+)", answer)[1]))
        if not answer.startswith(b"HTTP/1.1 202 "):
            sys.exit(f"no webhook was triggered: {answer!r} {body[:300]!r}")
        return json.loads(body)["event_id"], sent


class Isolation:
    def __init__(self, server, client, url, namespaces, rate, seconds):
        self.server, self.client, self.url = server, client, url
        self.rate, self.seconds = rate, seconds
        self.items = {f"steady-{number}": [] for number in range(namespaces)}
        for name in self.items:
            self.items[name] = self.make(name, {f"/{name}": EVENT})

    def make(self, name, subscriptions):
        """Makes a namespace with subscriptions, a path and an event each. Returns its items."""
        self.client.must("PUT", f"/_sim/namespaces/{name}", {"seed": "standard"})
        for path, event in subscriptions.items():
            self.client.must("POST", f"/ns/{name}/v2/webhooks", {
                "url": self.url + path, "secret_key": "bench", "events": [event]}, API_TOKEN)
        return self.client.must("POST", f"/ns/{name}/_sim/authentications", {"count": ITEMS})["entrupy_ids"]

    async def hang(self):
        """Makes the hanging namespace, and returns a task that makes events in it until it is cancelled."""
        items = self.make("hanging", {
            f"/hang-{number}": FIRST_EVENT for number in range(HANGING_SUBSCRIPTIONS)} | {"/hang": EVENT})
        sender = await Sender(self.server).open()
        for item in items:
            await sender.trigger("hanging", item, FIRST_EVENT)
        while len(Receiver.hanging) < MAX_CONNECTIONS:
            await asyncio.sleep(0.01)

        async def go_on():
            while True:
                for item in items:
                    await asyncio.sleep(len(self.items) / self.rate)
                    await sender.trigger("hanging", item)

        return asyncio.create_task(go_on())

    async def without_hanging(self):
        """Deletes the hanging namespace, and waits until its attempts have ended."""
        self.client("DELETE", "/_sim/namespaces/hanging")
        for _ in range(200):
            for transport in list(Receiver.hanging):
                transport.abort()
            if not Receiver.hanging:
                return
            await asyncio.sleep(0.05)
        sys.exit("attempts of a deleted namespace go on")

    async def measure(self, is_beside_hanging):
        """The delays of one half of a round, and the processor time for an event, all in milliseconds."""
        if is_beside_hanging:
            hanging = await self.hang()
        names, sent = list(self.items), {}
        Receiver.arrivals.clear()
        queue = asyncio.Queue()

        async def send():
            sender = await Sender(self.server).open()
            while (number := await queue.get()) is not None:
                name = names[number % len(names)]
                event, moment = await sender.trigger(name, self.items[name][number // len(names) % ITEMS])
                sent[event] = moment

        senders = [asyncio.create_task(send()) for _ in range(CLIENTS)]
        pid = self.server.process.pid
        used = cpu_seconds(pid)
        began = time.perf_counter()
        for number in range(int(self.rate * self.seconds)):
            await asyncio.sleep(began + number / self.rate - time.perf_counter())
            queue.put_nowait(number)
        for _ in senders:
            queue.put_nowait(None)
        await asyncio.gather(*senders)
        for _ in range(200):
            if all(event in Receiver.arrivals for event in sent):
                break
            await asyncio.sleep(0.05)
        else:
            sys.exit(f"{sum(event not in Receiver.arrivals for event in sent)} of {len(sent)} webhooks did not arrive within 10 s")
        used = cpu_seconds(pid) - used
        if is_beside_hanging:
            # Some have just timed out.
            if len(Receiver.hanging) < MAX_CONNECTIONS / 2 or hanging.done():
                sys.exit(f"the hanging namespace holds {len(Receiver.hanging)} connections instead of {MAX_CONNECTIONS}")
            hanging.cancel()
        await self.without_hanging()
        return [1000 * (Receiver.arrivals[event] - moment) for event, moment in sent.items()], 1000 * used / len(sent)


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


async def run(server, namespaces, rounds, seconds, rate):
    listener = await asyncio.get_running_loop().create_server(Receiver, "127.0.0.1", 0, backlog=1024)
    url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    isolation = Isolation(server, Client(server), url, namespaces, rate, seconds)
    isolation.seconds = min(seconds, namespaces / rate)
    await isolation.measure(False)  # Everything is used for the first time.
    isolation.seconds = seconds
    found = []
    for number in range(rounds):
        halves = {}
        for is_beside_hanging in [False, True] if number % 2 == 0 else [True, False]:
            halves["with" if is_beside_hanging else "without"] = await isolation.measure(is_beside_hanging)
        found.append({})
        for name, (delays, cpu) in halves.items():
            found[-1] |= {f"{name}_p50": percentile(delays, 0.5), f"{name}_p99": percentile(delays, 0.99), f"{name}_cpu": cpu}
        found[-1]["ratio"] = found[-1]["with_p99"] / found[-1]["without_p99"]
        print(f"isolation, round {number + 1}: " + ", ".join(f"{name} {value:.2f}" for name, value in found[-1].items()), flush=True)
    listener.close()
    return {name: statistics.median(one[name] for one in found) for name in found[0]} | {"namespaces": namespaces, "rate": rate}


def measure(binary, namespaces=200, rounds=5, seconds=10, rate=200):
    """The medians of the rounds: p50 and p99 in milliseconds, without and with the hanging namespace, and the ratio of the p99."""
    server = Simulator(binary, "--in-memory", "--rate-limits", "off")
    try:
        return asyncio.run(run(server, namespaces, rounds, seconds, rate))
    finally:
        server.stop()


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--binary", required=True)
    options.add_argument("--namespaces", type=int, default=200)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--seconds", type=float, default=10)
    options.add_argument("--rate", type=float, default=200)
    options = options.parse_args()
    result = measure(options.binary, options.namespaces, options.rounds, options.seconds, options.rate)
    print(f"p99 of {options.namespaces} namespaces: {result['without_p99']:.2f} ms, beside one that hangs "
          f"{result['with_p99']:.2f} ms, {result['ratio']:.2f} times (goal 1.2: {'reached' if result['ratio'] <= 1.2 else 'missed'})")


if __name__ == "__main__":
    main()
