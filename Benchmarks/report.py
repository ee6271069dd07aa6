#!/usr/bin/env python3
"""Makes docs/benchmarks.md and its plots from the figures that bench.py wrote.

    report.py docs/benchmarks/figures.json docs/benchmarks.md
        --pages    without the plots, which need matplotlib
        --check    writes nothing, and exits 1 if the page is not what the figures and notes say
"""
import json
import pathlib
import sys

GOALS = {
    "result by id": 0.7, "search, 1,000,000 items": 0.2, "search, 10,000 items": 0.2, "capture start": 0.35,
}


def table(figures):
    """The figures in Markdown."""
    lines = ["| route | connections | requests a second | ratio to plain text | p50 ms | p99 ms |", "|---|---|---|---|---|---|"]
    for name, by_connections in figures["routes"].items():
        for connections, result in by_connections.items():
            goal = GOALS.get(name) if connections == "64" else None
            mark = "" if goal is None else f" (goal {goal}: {'reached' if result['ratio'] >= goal else 'missed'})"
            lines.append(
                f"| {name} | {connections} | {result['per_second']:,.0f} | {result['ratio']:.2f}{mark} | "
                f"{result['p50_ms']:.2f} | {result['p99_ms']:.2f} |")
    routes = figures["routes"]
    dearer = routes["search, 10,000 items"]["64"]["per_second"] / routes["search, 1,000,000 items"]["64"]["per_second"]
    namespaces, thousand, snapshots = figures["namespaces_ms"], figures["thousand_namespaces"], figures["snapshots"]
    journal = figures["journal_ratio"]

    def goal(value, bound):
        return f"{bound:g}: {'reached' if value <= bound else 'missed'}"

    lines += ["", "| what | measured | goal |", "|---|---|---|"]
    rows = [
        (f"a search page among {figures['items']:,} items against 10,000", f"{dearer:.2f} times as dear", goal(dearer, 1.2)),
        ("process start to first answer, empty", f"{figures['start_empty_ms']['median']:.0f} ms (worst {figures['start_empty_ms']['worst']:.0f})", goal(figures["start_empty_ms"]["median"], 40)),
        (f"process start to first answer, {figures['items']:,} items", f"{figures['start_million_ms']['median']:.0f} ms (worst {figures['start_million_ms']['worst']:.0f})", goal(figures["start_million_ms"]["median"], 40)),
        *[(f"{name} a namespace", f"{namespaces[name]['median']:.1f} ms (worst {namespaces[name]['worst']:.1f})", goal(namespaces[name]["median"], 5)) for name in ["make", "reset", "drop"]],
        *[(f"{name} the seeded namespace", f"{snapshots[name]['median']:.1f} ms (worst {snapshots[name]['worst']:.1f})", "") for name in ["save", "fork"]],
        *[(f"{name} a namespace of {figures['items']:,} items", f"{seconds:.1f} s", "") for name, seconds in snapshots["large_s"].items()],
        ("a result with the journal against one without, 64 connections", f"{journal:.2f} times as many", f"0.9: {'reached' if journal >= 0.9 else 'missed'}"),
        ("memory, idle", f"{figures['memory_idle_mib']:.0f} MiB", goal(figures["memory_idle_mib"], 40)),
        ("memory after all loads", f"{figures['memory_after_load_mib']:.0f} MiB", ""),
        ("memory with 1,000 namespaces", f"{thousand['memory']:.0f} MiB", goal(thousand["memory"], 200)),
        (f"making {figures['items']:,} items", f"{figures['generation_s']:.0f} s", goal(figures["generation_s"], 60)),
        ("webhooks delivered and recorded", f"{figures['deliveries_per_second']:,.0f} a second", ""),
        *[(f"p99 of the webhooks of {found['namespaces']} namespaces, beside one that hangs against without it", f"{found['with_p99']:.1f} ms against {found['without_p99']:.1f}, {found['ratio']:.2f} times", goal(found["ratio"], 1.2)) for found in [figures.get("webhook_isolation")] if found],
        ("the binary", f"{figures['binary_mb']:.0f} MB", ""),
    ]
    return "\n".join(lines + [f"| {what} | {value} | {bound} |" for what, value, bound in rows])


def plots(figures, folder):
    """Draws bars of the ratios as PNG and SVG."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plot
    names = list(figures["routes"])
    figure, axes = plot.subplots(figsize=(9, 0.55 * len(names) + 1.2))
    for offset, (connections, colour) in enumerate([("64", "#2456c7"), ("16", "#7f9fe0"), ("1", "#c9d6f3")]):
        axes.barh([index + 0.27 * (offset - 1) for index in range(len(names))],
                  [figures["routes"][name][connections]["ratio"] for name in names], height=0.25, color=colour,
                  label=f"{connections} connection{'s' if connections != '1' else ''}")
    for index, name in enumerate(names):
        if name in GOALS:
            axes.plot([GOALS[name]] * 2, [index - 0.42, index + 0.42], color="#b3261e", linewidth=2)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("requests a second, as a ratio to plain text from the same process (red: the goal at 64)")
    axes.legend(frameon=False)
    for side in ["top", "right"]:
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    for kind in ["png", "svg"]:
        figure.savefig(folder / f"ratios.{kind}", dpi=110, metadata={"Date": None} if kind == "svg" else None)


def beside(folder):
    """The table of the figures of peers.py, if it has run."""
    path = folder / "peers.json"
    if not path.exists():
        return ""
    def number(value, form):
        return "" if value is None else format(value, form)
    rows = [
        f"| {name} | {number(peer['read'], ',.0f')} | {number(peer['page'], ',.0f')} | {number(peer['make'], ',.0f')} | "
        f"{peer['start_ms']:,.0f} | {peer['idle_mib']:.0f} |" for name, peer in json.loads(path.read_text()).items()]
    return "\n".join([
        "## Beside others", "",
        "Made by `make bench-peers`, in a run of its own: requests a second with 64 connections, milliseconds to the first answer, MiB.",
        "They do not do the same work: a page here is filtered, of 25 among 10,000 items; localstripe's and moto's are the first 25",
        "of 200; the fake's is by an index; nginx sends files of 1.3 and 33 kB.", "",
        "| server | read one | a page of 25 | make one | start | memory |", "|---|---|---|---|---|---|", *rows, "", ""])


def measured(program):
    """The date, version and commit of the figures, and whether they are those of an earlier release."""
    version = (pathlib.Path(__file__).parent.parent / "VERSION").read_text().strip()
    older = f" **These figures are older than release {version}.**" if program["version"] != version else ""
    return f"Measured on {program['date']}, version {program['version']}, commit `{program['commit']}`.{older}"


def page(figures, folder):
    """The whole page in Markdown."""
    on = figures["machine"]
    return f"""# What it costs

Made by `make bench`, which measures everything in one run with the load on the same cores: {figures['rounds']} rounds through all
routes, the median counts. Absolute figures drift with the machine; the ratio to the plain-text route of the same process is
what to look at. The figures are in [benchmarks/figures.json](benchmarks/figures.json).

On: {on['processor']}, {on['cores']} cores, {on['memory_gib']} GiB, {on['system']}, {on['swift']}.
{measured(figures['program'])}

![Ratios to plain text](benchmarks/ratios.svg)

{table(figures)}

{beside(folder)}{(pathlib.Path(__file__).parent / 'notes.md').read_text()}"""


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    source, target = pathlib.Path(words[0]), pathlib.Path(words[1])
    figures = json.loads(source.read_text())
    text = page(figures, source.parent)
    if "--check" in sys.argv:
        if target.read_text() != text:
            sys.exit(f"{target} is not what {source} and Benchmarks/notes.md say: run Benchmarks/report.py {source} {target} --pages")
        return
    if "--pages" not in sys.argv:
        plots(figures, source.parent)
    target.write_text(text)


if __name__ == "__main__":
    main()
