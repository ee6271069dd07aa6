#!/usr/bin/env python3
"""Makes the Python wheels: the program's, as ruff's does, and the pytest plugin's, which depends on it.

    packaging/wheel.py PROGRAM VERSION PLATFORM FOLDER
    packaging/wheel.py --plugin VERSION FOLDER

PLATFORM is a wheel's platform tag, for instance manylinux_2_35_x86_64. `pip install` puts the program on the PATH of the environment.
Any Python 3 installs it, since it has no Python code. The plugin's wheel is the same on all platforms.
"""

import base64
import hashlib
import pathlib
import re
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECIPE = ROOT / "recipes/python"
#: The oldest date that a zip archive can have. Equal inputs make equal wheels.
DATE = (1980, 1, 1, 0, 0, 0)
LICENSES = ("LICENSE", "NOTICE", "THIRD-PARTY-NOTICES")
DISCLAIMER = "Not affiliated with Entrupy or Fourthline."


def program_wheel(program, version, platform, folder):
    metadata = f"""Keywords: entrupy,simulator,testing,mock
Requires-Python: >=3.8
Description-Content-Type: text/markdown

`entrupy-sim serve` runs Entrupy's platform on this machine. The program is in this package; it needs nothing else.
`pytest-entrupy-sim` has fixtures that give each test a namespace.

{DISCLAIMER}
"""
    data = f"entrupy_sim-{version}.data"
    summary = "Entrupy's platform as a simulator, for laptops and CI"
    seed = "seed-data/standard.yaml"
    return write_wheel(folder, "entrupy-sim", version, f"py3-none-{platform}", summary, metadata, {
        f"{data}/scripts/entrupy-sim": (pathlib.Path(program).read_bytes(), 0o755),
        f"{data}/data/share/entrupy-sim/{seed}": ((ROOT / seed).read_bytes(), 0o644),
    }, LICENSES)


def plugin_wheel(version, folder):
    project = (RECIPE / "pyproject.toml").read_text()
    python = only(r'^requires-python = "(.*)"$', project)
    summary = only(r'^description = "(.*)"$', project)
    modules = re.findall(r'"(\w+)"', only(r"^py-modules = \[(.*)\]$", project))
    points = only(r"^\[project.entry-points.pytest11\]\n((?:\w+ = .*\n)+)", project).replace('"', "")
    # Before 1.0 the client needs the program's minor version.
    required = [*re.findall(r'"(.*?)"', only(r"^dependencies = \[(.*)\]$", project)), f"entrupy-sim~={version}"]
    metadata = "".join(f"Requires-Dist: {name}\n" for name in required) + f"""Keywords: entrupy,simulator,testing,pytest
Classifier: Framework :: Pytest
Requires-Python: {python}
Description-Content-Type: text/markdown

The fixture `entrupy_sim` gives each test a namespace of its own in one `entrupy-sim` for the whole run, which it starts. A test that
fails prints what its namespace saw: `docs/testing.md`.

{DISCLAIMER}
"""
    files = {f"{name}.py": ((RECIPE / f"{name}.py").read_bytes(), 0o644) for name in modules}
    files[f"pytest_entrupy_sim-{version}.dist-info/entry_points.txt"] = (f"[pytest11]\n{points}".encode(), 0o644)
    return write_wheel(folder, "pytest-entrupy-sim", version, "py3-none-any", summary, metadata, files, ("LICENSE", "NOTICE"))


def only(pattern, text):
    """The one match of a pattern. Python's reader of TOML is younger than the Python that packages are made with."""
    found = re.findall(pattern, text, re.M)
    if len(found) != 1:
        sys.exit(f"wheel.py: recipes/python/pyproject.toml must have one line like {pattern}, it has {len(found)}")
    return found[0]


def write_wheel(folder, name, version, tag, summary, metadata, files, licenses):
    """Writes a wheel with the files, each with its mode, and returns its path."""
    stem = f"{name.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    head = f"""Metadata-Version: 2.4
Name: {name}
Version: {version}
Summary: {summary}
License-Expression: Apache-2.0
""" + "".join(f"License-File: {license}\n" for license in licenses)
    is_pure = str(tag.endswith("-any")).lower()
    kind = f"Wheel-Version: 1.0\nGenerator: entrupy-sim {version}\nRoot-Is-Purelib: {is_pure}\nTag: {tag}\n"
    files = {
        **files,
        f"{info}/METADATA": ((head + metadata).encode(), 0o644),
        f"{info}/WHEEL": (kind.encode(), 0o644),
        **{f"{info}/licenses/{license}": ((ROOT / license).read_bytes(), 0o644) for license in licenses},
    }
    record = ""
    for path, (content, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = (f"{record}{info}/RECORD,,\n".encode(), 0o644)
    place = pathlib.Path(folder) / f"{stem}-{tag}.whl"
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for path, (content, mode) in files.items():
            entry = zipfile.ZipInfo(path, DATE)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
    return place


arguments = sys.argv[1:]
print(plugin_wheel(*arguments[1:]) if arguments[0] == "--plugin" else program_wheel(*arguments))
