"""Cuts the power and breaks the disk, with a library that logs the server's changes to its files.

A server works while every change of its files is logged. For several moments, disks are made from the log as a power cut could have
left them at that moment. One disk has only the synchronized data. The other also has some of the other data, torn. The server is
started on each disk. With `--durability power-loss` everything that was acknowledged before the moment must be there. With
`--durability process` the databases must be intact, and only the latest operations may be lost: if an operation is lost, no
operation that was requested after its acknowledgement may be there.
"""
import pathlib
import tempfile
import time

from acknowledged import Operations
from checks import Checks, check_files
from clients import Work
from disklog import Disk, Image
from nuisance import Nuisance
from simulator import Client, Simulator


def flags(directory, durability):
    return ["--data-dir", str(directory), "--rate-limits", "off", "--random-seed", "1", "--durability", durability]


def power_loss(options, durability, name, chance, receiver, library, cuts=4):
    """Runs one server and cuts its power at several moments. Returns the problems and the operations."""
    with tempfile.TemporaryDirectory(prefix="entrupy-sim-power-") as folder:
        disk, operations = Disk(folder, library), Operations()
        server = Simulator(options.binary, *flags(disk.root, durability), environment=disk.environment)
        work = Work(server, operations, chance, receiver, name)
        work.prepare()
        nuisance = Nuisance(server, f"nuisance-{name}")
        nuisance.start()
        began = time.monotonic()
        work.start()
        time.sleep(chance.uniform(1, 2))
        ended = time.monotonic()
        # The server is stopped and not killed, because a killed one may have made a change that is not logged yet.
        work.is_ending = True
        nuisance.stop()
        server.stop()
        work.join()
        problems = work.problems + Image(disk).differences()
        moments = sorted(chance.uniform(began, ended) for _ in range(cuts - 1)) + [ended]
        for number, moment in enumerate(moments):
            for mixed in (False, True):
                target = pathlib.Path(folder) / f"cut-{number}-{mixed}"
                target.mkdir()
                Image(disk, moment).write(target, chance if mixed else None)
                what = f"{durability}, cut {number + 1} of {cuts}, {'some' if mixed else 'nothing'} of the rest"
                problems += [f"{what}: {problem}" for problem in
                             look(options, target, durability, operations, name, moment)]
        return problems, operations


def look(options, target, durability, operations, name, moment):
    """Starts a server from a disk and returns the problems."""
    problems = check_files(target)
    try:
        server = Simulator(options.binary, *flags(target, durability))
    except SystemExit as problem:
        return problems + [str(problem)]
    try:
        if durability == "power-loss":
            problems += Checks(server, operations, name, before=moment).run()
        else:
            problems += lost_in_the_middle(server, operations, moment)
    finally:
        server.stop()
    return problems + check_files(target)


def lost_in_the_middle(server, operations, moment):
    """Lost captures that were acknowledged before a surviving capture was requested."""
    client, there, lost = Client(server), [], []
    for capture in operations.acknowledged("capture", moment):
        if capture.facts["namespace"]:
            continue
        status, _ = client.json("GET", f"/sdk/captures/{capture.key}", token=capture.facts["token"])
        (there if status == 200 else lost).append(capture)
    return [f"the capture {capture.key} is lost, and a later one is there" for capture in lost
            if any(other.start > capture.end for other in there)]


def broken_disk(options, fault, name, chance, receiver, library):
    """Breaks the disk: full, or unable to synchronize. Every success that is answered meanwhile must be true."""
    durability = "power-loss" if fault == "cannot_synchronize" else "process"
    with tempfile.TemporaryDirectory(prefix="entrupy-sim-disk-") as folder:
        disk, operations = Disk(folder, library), Operations()
        server = Simulator(options.binary, *flags(disk.root, durability), environment=disk.environment)
        work = Work(server, operations, chance, receiver, name, tolerant=True)
        work.prepare()
        work.start()
        time.sleep(chance.uniform(0.3, 0.8))
        getattr(disk, fault)()
        broken = time.monotonic()
        time.sleep(chance.uniform(0.3, 0.8))
        mended = time.monotonic()
        is_mended = chance.random() < 0.7
        if is_mended:
            disk.is_well()
            wait_until(lambda: any(submit.end > mended for submit in operations.acknowledged("submit")), 60)
        server.kill()
        work.join()
        disk.is_well()
        problems = list(work.problems)
        believed = [operation for operation in operations.all if operation.end is not None
                    and operation.start > broken and operation.end < mended and changes(operation)]
        problems += [f"{fault}: {operation.kind} {operation.key} was acknowledged" for operation in believed[:5]]
        if not work.refusals:
            problems.append(f"{fault}: nothing was refused")
        if is_mended and not any(submit.end > mended for submit in operations.acknowledged("submit")):
            problems.append(f"{fault}: nothing was submitted after the disk was well again")
        problems += check_files(disk.root)
        server = Simulator(options.binary, *flags(disk.root, durability))
        problems += [f"{fault}: {problem}" for problem in Checks(server, operations, name).run()]
        server.stop()
        return problems + check_files(disk.root), operations


def changes(operation):
    """Whether an operation must write to a database or a file. Deleting a file and reading need no write."""
    return operation.kind != "namespace" and operation.key not in ("delete", "look") and operation.facts.get("before") is None


def wait_until(holds, seconds):
    """Waits until `holds()` is true, at most `seconds`."""
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
