#!/usr/bin/env python3
"""Compares the speed of two release binaries, route by route.

    compare.py --before OLD --after NEW [--rounds 7] [--seconds 1] [--items 20000] [--connections 32] [--routes search]

Both servers run at the same time, each with its own data. Each round loads one and then the other for each route, in an order that
changes from round to round, because machines drift. The figure of a route is the median of the rounds' ratios. A route that one of them
does not answer is left out and named.
"""
import argparse
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
        servers = []
        try:
            for name, binary in (("before", given.before), ("after", given.after)):
                place = pathlib.Path(folder) / name
                place.mkdir()
                server = Server(binary, "--data-dir", str(place / "data"))
                servers.append(server)
                sides[name] = Bench(server, place, given.items).loads()
            compare(sides, given)
        finally:
            for server in servers:
                server.stop()


def compare(sides, given):
    rates = {}
    left_out = set()
    for number in range(given.rounds):
        for route in sides["after"]:
            if route in LEFT_OUT or route in left_out or (given.routes and given.routes not in route):
                continue
            found = {}
            for side in (["before", "after"] if number % 2 else ["after", "before"]):
                result = sides[side][route](given.connections, given.seconds)
                if result["problem"]:
                    left_out.add(route)
                    print(f"{route}: left out, {side} answers {result['problem']}")
                    break
                found[side] = result["per_second"]
            else:
                rates.setdefault(route, []).append(found)
    print(f"{'requests a second':32}{'before':>10}{'after':>10}{'ratio':>8}   lowest and highest ratio of {given.rounds} rounds")
    for route, rounds in rates.items():
        if route in left_out:
            continue
        ratios = [found["after"] / found["before"] for found in rounds]
        before, after = (statistics.median(found[side] for found in rounds) for side in ("before", "after"))
        print(f"{route:32}{before:10,.0f}{after:10,.0f}{statistics.median(ratios):8.2f}   {min(ratios):.2f} {max(ratios):.2f}")


if __name__ == "__main__":
    main()
