#!/usr/bin/env python3
"""Makes the npm packages: `entrupy-sim`, and the one with the program for a platform, as esbuild's are. Needs no npm.

    packaging/npm.py VERSION FOLDER
    packaging/npm.py --program PROGRAM PLATFORM VERSION FOLDER [--fast]

PLATFORM is as Node names it: linux-x64, linux-arm64 or darwin-arm64. `npm install entrupy-sim` installs the package of the machine's
platform beside it, as an optional dependency. Equal inputs make equal archives; --fast compresses less, for tests.
"""

import gzip
import io
import json
import pathlib
import struct
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECIPE = ROOT / "recipes/node"
#: The moment that npm gives to the files of its own archives.
TIME = 499162500
DISCLAIMER = "Not affiliated with Entrupy or Fourthline."
#: The machines of programs, by their number in ELF and in Mach-O.
ELF_MACHINES = {62: "x64", 183: "arm64"}
MACH_MACHINES = {0x01000007: "x64", 0x0100000C: "arm64"}


def repository():
    return {"type": "git", "url": f"git+{(ROOT / 'packaging/repository').read_text().strip()}.git"}


def main_package(version, folder):
    manifest = json.loads((RECIPE / "package.json").read_text())
    stated = {manifest["version"], *manifest["optionalDependencies"].values()}
    if stated != {version}:
        sys.exit(f"npm.py: recipes/node/package.json states the version {', '.join(sorted(stated))}, not {version}")
    manifest["repository"] = repository()
    files = {"README.md": (RECIPE / "README.md").read_bytes()}
    for name in manifest["files"]:
        place = RECIPE / name
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file():
                files[str(path.relative_to(RECIPE))] = path.read_bytes()
    return write(folder, f"entrupy-sim-{version}.tgz", manifest, files, ("LICENSE", "NOTICE"), programs=manifest["bin"].values())


def program_package(program, platform, version, folder, level=9):
    manifest = json.loads((RECIPE / "package.json").read_text())
    name = f"@entrupy-sim/{platform}"
    known = sorted(manifest["optionalDependencies"])
    if name not in known:
        sys.exit(f"npm.py: there is no package {name}; recipes/node/package.json has {', '.join(known)}")
    data = pathlib.Path(program).read_bytes()
    found, libc = platform_of(data)
    if found != platform:
        sys.exit(f"npm.py: {program} is {f'a program for {found}' if found else 'not a program'}, not one for {platform}")
    system, machine = platform.split("-")
    own = {
        "name": name, "version": version, "description": f"The program of entrupy-sim for {platform}",
        "license": manifest["license"], "os": [system], "cpu": [machine], **({"libc": [libc]} if libc else {}),
        "preferUnplugged": True, "repository": repository(),
    }
    readme = f"""# {name}

The program of [entrupy-sim](https://www.npmjs.com/package/entrupy-sim) for {platform}. Install `entrupy-sim`, which depends on it.

{DISCLAIMER}
"""
    files = {"README.md": readme.encode(), "bin/entrupy-sim": data}
    return write(
        folder, f"entrupy-sim-{platform}-{version}.tgz", own, files, ("LICENSE", "NOTICE", "THIRD-PARTY-NOTICES"), ["bin/entrupy-sim"], level)


def platform_of(data):
    """The platform of a program, and the C library that it asks for. (None, None) if it is no program."""
    if data[:6] == b"\x7fELF\x02\x01":
        machine = ELF_MACHINES.get(struct.unpack_from("<H", data, 18)[0])
        offset, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
        libc = None
        for index in range(count):
            kind, _, start, _, _, length = struct.unpack_from("<IIQQQQ", data, offset + index * size)
            # The segment that names the program's loader; one that is linked statically has none.
            if kind == 3:
                libc = "musl" if b"musl" in data[start:start + length] else "glibc"
        return f"linux-{machine}", libc
    if len(data) > 8 and struct.unpack_from("<I", data)[0] == 0xFEEDFACF:
        return f"darwin-{MACH_MACHINES.get(struct.unpack_from('<I', data, 4)[0])}", None
    return None, None


def write(folder, name, manifest, files, licenses, programs, level=9):
    """Writes an archive as `npm pack` does: all files below package/, in a fixed order, of one moment. Returns its path."""
    files = {
        **files, "package.json": (json.dumps(manifest, indent=2) + "\n").encode(),
        **{license: (ROOT / license).read_bytes() for license in licenses}}
    place = pathlib.Path(folder) / name
    with open(place, "wb") as target, gzip.GzipFile("", "wb", level, target, mtime=0) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        # npm reads the manifest first.
        for path in sorted(files, key=lambda path: (path != "package.json", path)):
            entry = tarfile.TarInfo(f"package/{path}")
            entry.size, entry.mtime = len(files[path]), TIME
            entry.mode = 0o755 if path in programs else 0o644
            archive.addfile(entry, io.BytesIO(files[path]))
    return place


def main(arguments):
    level = 1 if "--fast" in arguments else 9
    arguments = [argument for argument in arguments if argument != "--fast"]
    if arguments[:1] == ["--program"] and len(arguments) == 5:
        print(program_package(*arguments[1:], level))
    elif len(arguments) == 2 and not arguments[0].startswith("-"):
        print(main_package(*arguments))
    else:
        sys.exit(__doc__.strip())


main(sys.argv[1:])
