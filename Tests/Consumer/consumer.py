"""Builds a package that depends on this one by URL, without the server's dependencies, and runs its tests.

It must fetch this package alone, and its tests must start the program that they are given. What a failing test shows is
looked at too: the line of the expectation, and the namespace's bundle.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent


def run(command, directory, environment=None):
    done = subprocess.run(
        command, cwd=directory, env={**os.environ, **(environment or {})}, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, check=False, timeout=900)
    return done.returncode, done.stdout


def check(name, holds, text=""):
    print(("ok    " if holds else "FAIL  ") + name + ("" if holds else "\n" + text[-3000:]))
    return bool(holds)


def snippets():
    """The articles' Swift code as test files: declarations as they are, statements in functions that are only compiled.

    What shows a manifest is left out; `package/Package.swift` says the same.
    """
    for page in sorted(ROOT.glob("Sources/*/*.docc/*.md")) + [ROOT / "docs/testing.md", ROOT / "docs/start-app.md"]:
        imports, declarations, statements = set(), [], []
        for block in re.findall(r"^```swift\n(.*?)^```", page.read_text(), re.M | re.S):
            if ".package(" in block:
                continue
            found = re.findall(r"^import .*\n|^#if canImport[\s\S]*?^#endif\n", block, re.M)
            imports.update(found)
            for line in found:
                block = block.replace(line, "")
            (declarations if re.search(r"^(@|final class|struct|func|extension)", block, re.M) else statements).append(block)
        if not declarations and not statements:
            continue
        name = re.sub(r"[^A-Za-z]", "", page.stem)
        usual = {"import EntrupySDK\n", "import EntrupySimTesting\n", "import Foundation\n", "import Testing\n"}
        text = "".join(sorted(imports | usual)) + "\n" + "\n".join(declarations)
        for number, block in enumerate(statements):
            text += f"\nfunc {name}Snippet{number}() async throws {{\n{block}}}\n"
        yield f"{name}.swift", text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True, help="the program that the tests start")
    parser.add_argument("--keep", help="a directory for the package, to build it again faster")
    given = parser.parse_args()
    revision = run(["git", "rev-parse", "HEAD"], ROOT)[1].strip()
    place = pathlib.Path(given.keep or tempfile.mkdtemp(prefix="entrupy-consumer-")) / "shop"
    shutil.copytree(HERE / "package", place, dirs_exist_ok=True)
    # The name of a dependency is the last part of its URL.
    clone = place.parent / "entrupy-sim"
    shutil.rmtree(clone, ignore_errors=True)
    run(["git", "clone", "--quiet", "--no-local", str(ROOT), str(clone)], place)
    manifest = place / "Package.swift"
    manifest.write_text(
        manifest.read_text().replace("ADDRESS", clone.as_uri()).replace("REVISION", revision))
    for name, text in snippets():
        (place / "Tests/ShopTests" / name).write_text(text)
    binary = {"ENTRUPY_SIM_BINARY": str(pathlib.Path(given.binary).resolve())}
    results = []
    try:
        begin = time.monotonic()
        code, text = run(["swift", "build"], place)
        seconds = time.monotonic() - begin
        results.append(check("the package builds", code == 0, text))
        resolved = place / "Package.resolved"
        pins = json.loads(resolved.read_text())["pins"] if resolved.exists() else []
        results.append(check(
            "it fetches this package alone", [pin["identity"] for pin in pins] == ["entrupy-sim"], json.dumps(pins)))
        print(f"      its first build took {seconds:.0f} s")
        code, text = run(["swift", "test"], place, binary)
        results.append(check("its tests pass against the program", code == 0, text))
        artifacts = place / "artifacts"
        (place / "attachments").mkdir(exist_ok=True)
        code, text = run(
            ["swift", "test", "--skip-build", "--attachments-path", str(place / "attachments")], place,
            {**binary, "FAIL": "1", "ENTRUPY_SIM_ARTIFACTS": str(artifacts)})
        results.append(check(
            "a failing expectation fails the test at its line",
            code != 0 and "expected 3 such requests, found 0" in text and "ShopTests.swift:" in text, text))
        bundles = list(artifacts.glob("aWrongExpectation*.entrupy-bundle.tar"))
        results.append(check("the bundle of the failed test is saved, and no other", len(bundles) == 1 and
                             len(list(artifacts.glob("*.tar"))) == 1, text))
        pages = [path.read_text() for path in artifacts.glob("*.html")]
        results.append(check("its page is beside it", len(pages) == 1 and len(list(artifacts.iterdir())) == 2, text))
        attached = list((place / "attachments").glob("*.tar"))
        results.append(check("it is attached to the test", len(attached) == 1, text))
        attached = [path.read_text() for path in (place / "attachments").glob("*.html")]
        results.append(check("the page is attached too", attached == pages and "</html>" in attached[0], text))
        first = sorted(path.name for path in artifacts.glob("*.tar"))
        code, text = run(
            ["swift", "test", "--skip-build"], place,
            {**binary, "FAIL_CASES": "a/b, a b, a:b", "ENTRUPY_SIM_ARTIFACTS": str(artifacts)})
        cases = sorted(path.name for path in artifacts.glob("*.tar"))
        results.append(check(
            "each failed case has its bundle, and the test that passes again has none", code != 0 and len(cases) == 3 and
            not set(cases) & set(first), f"{first} {cases} {text}"))
        recording = place / "run.recording"
        code, text = run(
            ["swift", "test", "--skip-build"], place,
            {**binary, "FAIL_CASES": "a b", "ENTRUPY_SIM_ARTIFACTS": str(artifacts), "ENTRUPY_SIM_RECORD": str(recording)})
        left = [path.name for path in artifacts.glob("*.tar")]
        results.append(check(
            "a case that passes removes its own bundle and page alone",
            len(left) == 1 and left[0] in cases and len(list(artifacts.iterdir())) == 2, f"{cases} {left} {text}"))
        code, text = run([binary["ENTRUPY_SIM_BINARY"], "replay", str(recording)], place)
        results.append(check("the run is recorded", code == 0 and "no difference" in text, text))
        # XCTest and Swift Testing have a process each.
        others = list(place.glob("run-*.recording"))
        results.append(check("the second process has a recording of its own", len(others) == 1, f"{others}"))
        code, text = run(["swift", "test", "--skip-build"], place, {"ENTRUPY_SIM_BINARY": "/nowhere/entrupy-sim"})
        results.append(check(
            "a missing program is named in one sentence",
            code != 0 and "ENTRUPY_SIM_BINARY /nowhere/entrupy-sim is not a program" in text, text))
    finally:
        if not given.keep:
            shutil.rmtree(place.parent, ignore_errors=True)
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    sys.exit(0 if all(results) else 1)


main()
