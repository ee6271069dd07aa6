#!/usr/bin/env python3
"""Packs a folder into a .tar.gz or a .zip, whose bytes depend on names, modes and contents alone.

    packaging/archive.py FOLDER ARCHIVE

Equal folders make equal archives: owners are 0, and dates are SOURCE_DATE_EPOCH, or the oldest that the format can have.
"""

import gzip
import os
import pathlib
import stat
import sys
import tarfile
import time
import zipfile

#: The oldest date that a zip archive can have.
OLDEST = 315532800


def tar(folder, out, date):
    def plain(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime = date
        entry.mode = mode(entry.mode, entry.isdir())
        return entry

    # The name and the date of a file of gzip are part of it.
    with out.open("wb") as file, gzip.GzipFile("", "wb", 9, file, 0) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            archive.add(folder, folder.name, filter=plain)


def zipped(folder, out, date):
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in [folder, *sorted(folder.rglob("*"))]:
            name = str(path.relative_to(folder.parent)) + ("/" if path.is_dir() else "")
            entry = zipfile.ZipInfo(name, time.gmtime(max(date, OLDEST))[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            kind = stat.S_IFDIR if path.is_dir() else stat.S_IFREG
            entry.external_attr = (kind | mode(path.stat().st_mode, path.is_dir())) << 16
            archive.writestr(entry, b"" if path.is_dir() else path.read_bytes())


def mode(given, is_folder):
    """Whether a file can be run is all that counts: the rest depends on who builds."""
    return 0o755 if is_folder or given & 0o100 else 0o644


def main():
    folder, out = map(pathlib.Path, sys.argv[1:])
    date = int(os.environ.get("SOURCE_DATE_EPOCH") or OLDEST)
    if out.name.endswith(".tar.gz"):
        tar(folder, out, date)
    elif out.suffix == ".zip":
        zipped(folder, out, date)
    else:
        sys.exit(f"archive.py: {out.name} must end with .tar.gz or .zip")


main()
