#!/usr/bin/env python3
"""Writes the manual pages of the commands from the program's own description of them.

    packaging/man.py PROGRAM FOLDER
"""

import json
import pathlib
import subprocess
import sys


def escaped(text):
    """Text for roff: no line begins with a control character."""
    lines = text.replace("\\", "\\e").replace("-", "\\-").split("\n")
    return "\n".join(("\\&" + line) if line[:1] in (".", "'") else line for line in lines)


def label(argument):
    """How an argument is written, for instance `--port <port>`."""
    if argument["kind"] == "positional":
        return f"<{argument['valueName']}>"
    names = ", ".join(("-" if name["kind"] == "short" else "--") + name["name"] for name in argument["names"])
    return names if argument["kind"] == "flag" else f"{names} <{argument['valueName']}>"


def shown(items):
    return [item for item in items if item.get("shouldDisplay", True)]


def page(command, path, version):
    name = "-".join(path)
    arguments = shown(command.get("arguments", []))
    subcommands = [item for item in shown(command.get("subcommands", [])) if item["commandName"] != "help"]
    synopsis = " ".join(path)
    for argument in arguments:
        text = label(argument)
        synopsis += f" [{text}]" if argument.get("isOptional") else f" {text}"
    if subcommands:
        synopsis += " <subcommand>"
    lines = [
        f'.TH "{name.upper()}" 1 "" "entrupy\\-sim {version}" "entrupy\\-sim"',
        ".SH NAME",
        f"{escaped(name)} \\- {escaped(command.get('abstract', '').rstrip('.') or name)}",
        ".SH SYNOPSIS",
        escaped(synopsis),
    ]
    if command.get("discussion"):
        lines += [".SH DESCRIPTION", escaped(command["discussion"])]
    if arguments:
        lines.append(".SH OPTIONS")
        for argument in arguments:
            text = argument.get("abstract", "")
            if argument.get("defaultValue"):
                text += f" The default is {argument['defaultValue']}."
            lines += [".TP", f"\\fB{escaped(label(argument))}\\fR", escaped(text)]
    if subcommands:
        lines.append(".SH COMMANDS")
        for item in subcommands:
            lines += [".TP", f"\\fB{escaped(item['commandName'])}\\fR", escaped(item.get("abstract", ""))]
    if len(path) == 1:
        lines += [
            ".SH ENVIRONMENT",
            "Every option of \\fBserve\\fR can be set by a variable: \\fBENTRUPY_SIM_PORT=8700\\fR is \\fB\\-\\-port 8700\\fR.",
            ".SH EXIT STATUS",
            "0: yes. 1: no, or the server cannot start. 2: incomplete. 64: wrong usage. 69: no server. 70: internal error.",
        ]
    return name, "\n".join(lines) + "\n"


def pages(command, path, version):
    yield page(command, path, version)
    for item in shown(command.get("subcommands", [])):
        if item["commandName"] != "help":
            yield from pages(item, path + [item["commandName"]], version)


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    description = json.loads(subprocess.run([program, "--experimental-dump-help"], capture_output=True, check=True).stdout)
    version = subprocess.run([program, "--version"], capture_output=True, check=True, text=True).stdout.strip()
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for name, text in pages(description["command"], ["entrupy-sim"], version):
        (folder / f"{name}.1").write_text(text)
        count += 1
    print(f"{count} manual pages in {folder}")


main()
