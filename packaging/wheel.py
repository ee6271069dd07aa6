#!/usr/bin/env python3
"""Makes a Python wheel that carries the program, as ruff's does: `pip install` puts it on the PATH of the environment.

    packaging/wheel.py PROGRAM VERSION PLATFORM FOLDER

PLATFORM is a wheel's platform tag, for instance manylinux_2_35_x86_64. The wheel needs no Python code: any Python 3 installs it.
"""

import base64
import hashlib
import pathlib
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
#: The oldest date that a zip archive can have. Equal inputs make equal wheels.
DATE = (1980, 1, 1, 0, 0, 0)


def main():
    program, version, platform, folder = sys.argv[1:]
    tag = f"py3-none-{platform}"
    info = f"entrupy_sim-{version}.dist-info"
    data = f"entrupy_sim-{version}.data"
    metadata = f"""Metadata-Version: 2.4
Name: entrupy-sim
Version: {version}
Summary: Entrupy's platform as a simulator, for laptops and CI
Keywords: entrupy,simulator,testing,mock
License-Expression: Apache-2.0
License-File: LICENSE
License-File: NOTICE
License-File: THIRD-PARTY-NOTICES
Requires-Python: >=3.8
Description-Content-Type: text/markdown

`entrupy-sim serve` runs Entrupy's platform on this machine. The program is in this package; it needs nothing else.
`pytest-entrupy-sim` has fixtures that give each test a namespace.

Not affiliated with Entrupy or Fourthline.
"""
    files = {
        f"{data}/scripts/entrupy-sim": (pathlib.Path(program).read_bytes(), 0o755),
        f"{data}/data/share/entrupy-sim/seed-data/standard.yaml": ((ROOT / "seed-data/standard.yaml").read_bytes(), 0o644),
        f"{info}/METADATA": (metadata.encode(), 0o644),
        f"{info}/WHEEL": (
            f"Wheel-Version: 1.0\nGenerator: entrupy-sim {version}\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), 0o644),
    }
    for name in ("LICENSE", "NOTICE", "THIRD-PARTY-NOTICES"):
        files[f"{info}/licenses/{name}"] = ((ROOT / name).read_bytes(), 0o644)
    record = ""
    for name, (content, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = (f"{record}{info}/RECORD,,\n".encode(), 0o644)
    path = pathlib.Path(folder) / f"entrupy_sim-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for name, (content, mode) in files.items():
            entry = zipfile.ZipInfo(name, DATE)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
    print(path)


main()
