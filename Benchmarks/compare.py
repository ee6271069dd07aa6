#!/usr/bin/env python3
"""Compares the speed of two release binaries, route by route.

    compare.py --before OLD --after NEW [--rounds 7] [--seconds 1] [--items 20000] [--connections 32] [--routes search]

Both servers run at the same time, each with its own data. Each round loads one and then the other for each route, in an order that
changes from round to round, because machines drift. The figure of a route is the median of the rounds' ratios. A route that one of them
does not answer is left out and named.

The last columns are the server's own processor time for a request. It drifts less than the rate, in which the load has its share.
"""
import argparse
import os
import pathlib
import statistics
import tempfile

from bench import Bench, Server

#: Loads that prepare longer than they measure, and one that changes settings.
LEFT_OUT = {"submit", "login", "result by id, no journal"}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--before", required=True)
    arguments.add_argument("--after", required=True)
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--seconds", type=int, default=1)
    arguments.add_argument("--items", type=int, default=20_000)
    arguments.add_argument("--connections", type=int, default=32)
    arguments.add_argument("--routes", help="a part of the names of the routes, for some of them")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sides = {}
        servers = {}
        try:
            for name, binary in (("before", given.before), ("after", given.after)):
                place = pathlib.Path(folder) / name
                place.mkdir()
                server = Server(binary, "--data-dir", str(place / "data"))
                servers[name] = server
                sides[name] = Bench(server, place, given.items).loads()
            compare(sides, servers, given)
        finally:
            for server in servers.values():
                server.stop()


def processor_time(server):
    """The seconds of processor time that a server has used."""
    fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def compare(sides, servers, given):
    rates = {}
    left_out = set()
    for number in range(given.rounds):
        for route in sides["after"]:
            if route in LEFT_OUT or route in left_out or (given.routes and given.routes not in route):
                continue
            found = {}
            for side in (["before", "after"] if number % 2 else ["after", "before"]):
                used = processor_time(servers[side])
                result = sides[side][route](given.connections, given.seconds)
                used = processor_time(servers[side]) - used
                if result["problem"]:
                    left_out.add(route)
                    print(f"{route}: left out, {side} answers {result['problem']}")
                    break
                found[side] = result["per_second"], used / (result["per_second"] * given.seconds) * 1e6
            else:
                rates.setdefault(route, []).append(found)
    print(f"{'requests a second':32}{'before':>10}{'after':>10}{'ratio':>8}   {f'extremes of {given.rounds}':14}"
          f"{'µs of processor':>18}{'after':>8}{'ratio':>8}")
    for route, rounds in rates.items():
        if route in left_out:
            continue
        columns = []
        for part in (0, 1):
            # Processor time has steps of 10 ms: a load may be too short for it.
            ratios = [found["after"][part] / found["before"][part] if found["before"][part] else 0.0 for found in rounds]
            columns.append([statistics.median(found[side][part] for found in rounds) for side in ("before", "after")]
                           + [statistics.median(ratios), min(ratios), max(ratios)])
        (before, after, ratio, lowest, highest), (cost, cost_after, cost_ratio, _, _) = columns
        print(f"{route:32}{before:10,.0f}{after:10,.0f}{ratio:8.2f}   {f'{lowest:.2f} {highest:.2f}':14}"
              f"{cost:18.1f}{cost_after:8.1f}{cost_ratio:8.2f}")


if __name__ == "__main__":
    main()
