#!/usr/bin/env python3
"""Draws the figures of the soak test: plot.py docs/soak.json docs/soak.svg"""
import json
import sys

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "entrupy-sim"
import matplotlib.pyplot as pyplot  # noqa: E402

PANELS = [("memory_mb", "anonymous memory, MB"), ("disk_mb", "data directory, MB"), ("descriptors", "descriptors"),
          ("cpu_ms", "CPU time for a request, ms"), ("p99_ms", "99th percentile, ms")]


def smoothed(values, width):
    """Medians of `width` neighbours, so that single seconds do not hide the trend."""
    return [sorted(values[max(0, place - width):place + width + 1])[len(values[max(0, place - width):place + width + 1]) // 2]
            for place in range(len(values))]


def main():
    source, target = sys.argv[1:]
    figures = json.load(open(source))
    samples = figures["samples"]
    minutes = [sample["seconds"] / 60 for sample in samples]
    figure, axes = pyplot.subplots(len(PANELS), 1, figsize=(8, 9), sharex=True)
    for axis, (name, title) in zip(axes, PANELS):
        values = [sample[name] for sample in samples]
        axis.plot(minutes, values, color="#b8c4d6", linewidth=0.6)
        axis.plot(minutes, smoothed(values, max(1, len(values) // 120)), color="#1f4e9c", linewidth=1.4)
        row = next((row for row in figures["comparison"] if row["figure"] == name), None)
        if row:
            axis.axhline(row["may_be"], color="#c0392b", linewidth=0.8, linestyle="--")
        axis.set_ylim(bottom=0)
        axis.set_title(title, loc="left", fontsize=10)
        axis.grid(alpha=0.3)
    axes[-1].set_xlabel("minutes; dashed: the most that may be at the end")
    figure.suptitle(f"{figures['minutes']:.0f} minutes, {figures['runs']:,} test runs, {figures['requests']:,} requests", fontsize=11)
    figure.tight_layout()
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    main()
