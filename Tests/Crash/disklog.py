"""The log of a program's changes to a disk (disklog.c), and the disks that a power cut could leave."""
import mmap
import os
import pathlib
import shutil
import struct
import subprocess
import sys

NAME, WRITE, SIZE, SYNC, RENAME, UNLINK, FOLDER, SYNC_BEGIN = range(1, 9)
HEADER = struct.Struct("=QQQIIII")
SECTOR = 512
HERE = pathlib.Path(__file__).resolve().parent


def library(folder):
    """Compiles the library with the system's compiler or Swift's. Returns `None` if there is neither."""
    if sys.platform != "linux":
        return None
    swift = shutil.which("swiftc")
    beside = [str(pathlib.Path(swift).resolve().parent / "clang")] if swift else []
    compiler = next((found for found in map(shutil.which, ["cc", "gcc", "clang", *beside]) if found), None)
    if compiler is None:
        return None
    target = pathlib.Path(folder) / "disklog.so"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", target, HERE / "disklog.c", "-ldl", "-lpthread"], check=True)
    return target


class Disk:
    """A data directory whose changes are logged, and whose disk can be made to fail."""

    def __init__(self, folder, library):
        self.root = pathlib.Path(folder) / "data"
        self.root.mkdir()
        self.log = pathlib.Path(folder) / "operations"
        switch = pathlib.Path(folder) / "fault"
        switch.write_bytes(b"\0")
        with open(switch, "r+b") as file:
            self.switch = mmap.mmap(file.fileno(), 1)
        self.environment = {"LD_PRELOAD": str(library), "DISKLOG_ROOT": str(self.root), "DISKLOG_FILE": str(self.log),
                            "DISKLOG_FAULT": str(switch)}

    def is_full(self):
        """Makes every write fail from now on, as on a full disk."""
        self.switch[0] = 1

    def cannot_synchronize(self):
        """Makes every synchronization fail from now on, as on a dying disk."""
        self.switch[0] = 2

    def is_well(self):
        self.switch[0] = 0

    def records(self):
        """Every record: number, time in seconds, kind, inode, offset, text, data."""
        data = self.log.read_bytes()
        place = number = 0
        while place + HEADER.size <= len(data):
            time, inode, offset, kind, text_length, data_length, _ = HEADER.unpack_from(data, place)
            place += HEADER.size
            text = data[place:place + text_length].decode()
            place += text_length
            yield number, time / 1e9, kind, inode, offset, text, data[place:place + data_length]
            place += data_length
            number += 1


class Image:
    """A disk at a moment: the safe data, which survives a power cut, and the unsafe data, which may be lost.

    A file's bytes are safe when the file was synchronized after they were written. A change of a name (a file was made, renamed or
    removed) is safe when its folder, or the file itself under that name, was synchronized. This also makes every earlier change in
    that folder safe.
    """

    def __init__(self, disk, until=float("inf")):
        self.root = str(disk.root)
        self.generation = {}  # inode -> the present file
        self.files = 0
        self.now = {}  # path -> file
        self.safe = {}  # path -> file
        self.names = []  # unsafe changes of names: number, folder, path, file or None
        self.safe_bytes = {}  # file -> bytes
        self.bytes = {}  # file -> bytes
        self.writes = {}  # file -> unsafe changes: number, offset, bytes or None for a new size
        for number, time, kind, inode, offset, text, data in disk.records():
            if time > until:
                break
            self.apply(number, kind, inode, offset, text, data)

    def apply(self, number, kind, inode, offset, text, data):
        if kind == NAME:
            self.name(number, text, inode)
        elif kind in (WRITE, SIZE):
            file = self.generation[inode]
            change = (number, offset, data if kind == WRITE else None)
            self.writes[file].append(change)
            self.change(self.bytes[file], change)
        elif kind == SYNC:
            self.synchronize(offset, inode, text)
        elif kind == RENAME:
            source, target = text.split("\0")
            file = self.now.pop(source, None)
            if file is None:
                return  # a folder; the server renames none
            self.now[target] = file
            self.names.append((number, os.path.dirname(target), target, file, source))
        elif kind == UNLINK:
            self.now.pop(text, None)
            self.names.append((number, os.path.dirname(text), text, None, None))

    def name(self, number, path, inode):
        file = self.generation.get(inode)
        if file is None or file not in self.now.values():
            self.files += 1
            file = self.generation[inode] = self.files
            self.bytes[file], self.safe_bytes[file], self.writes[file] = bytearray(), bytearray(), []
        if self.now.get(path) != file:
            self.now[path] = file
            self.names.append((number, os.path.dirname(path), path, file, None))

    @staticmethod
    def change(content, change):
        _, offset, data = change
        if data is None:
            del content[offset:]
            content.extend(bytes(offset - len(content)))
        else:
            content.extend(bytes(max(0, offset - len(content))))
            content[offset:offset + len(data)] = data

    def synchronize(self, begin, inode, path):
        """Makes all changes before the record `begin` safe."""
        folder, file = path, None
        if not os.path.isdir(path) and inode in self.generation:
            folder, file = os.path.dirname(path), self.generation[inode]
            for change in [change for change in self.writes[file] if change[0] < begin]:
                self.change(self.safe_bytes[file], change)
            self.writes[file] = [change for change in self.writes[file] if change[0] >= begin]
        last = max((change[0] for change in self.names if change[0] < begin and change[1] == folder
                    and (file is None or change[3] == file)), default=-1)
        self.keep_names([change for change in self.names if change[0] <= last and change[1] == folder])

    def keep_names(self, changes, names=None):
        names = self.safe if names is None else names
        for change in changes:
            _, _, path, file, source = change
            if source is not None and names.get(source) == file:
                names.pop(source)
            if file is None:
                names.pop(path, None)
            else:
                names[path] = file
        if names is self.safe:
            kept = set(map(id, changes))
            self.names = [change for change in self.names if id(change) not in kept]

    def write(self, target, chance=None):
        """Writes the safe data to a folder. With `chance`, also some unsafe data, torn at sector boundaries."""
        names = dict(self.safe)
        if chance:
            self.keep_names(self.names[:chance.randint(0, len(self.names))], names)
        for path, file in names.items():
            if path.endswith("-shm"):
                continue
            content = bytearray(self.safe_bytes[file])
            for change in self.writes[file] if chance else []:
                for part in self.sectors(change):
                    if chance.random() < 0.5:
                        self.change(content, part)
            self.place(target, path, content)

    @staticmethod
    def sectors(change):
        number, offset, data = change
        if data is None:
            return [change]
        bounds = [offset] + list(range((offset // SECTOR + 1) * SECTOR, offset + len(data), SECTOR)) + [offset + len(data)]
        return [(number, start, data[start - offset:end - offset]) for start, end in zip(bounds, bounds[1:])]

    def place(self, target, path, content):
        file = pathlib.Path(target) / os.path.relpath(path, self.root)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

    def differences(self):
        """The differences between the log and the real folder. There must be none."""
        real = {os.path.join(folder, name) for folder, _, names in os.walk(self.root) for name in names
                if not name.endswith("-shm")}
        seen = {path for path in self.now if not path.endswith("-shm")}
        problems = [f"the log did not see {path}" for path in sorted(real ^ seen)]
        for path in sorted(real & seen):
            if pathlib.Path(path).read_bytes() != self.bytes[self.now[path]]:
                problems.append(f"the log saw other bytes of {path}")
        return problems
