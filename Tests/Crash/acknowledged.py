"""The clients' requests and the server's acknowledgements, each with its time."""
import collections
import contextlib
import threading
import time


class Operation:
    """One request that changes state. `end` is `None` unless the server acknowledged it."""

    def __init__(self, kind, key, facts):
        self.kind, self.key, self.facts = kind, key, facts
        self.start, self.end = time.monotonic(), None

    def acknowledge(self, key=None, **facts):
        """Records the acknowledgement. Call it as soon as the answer has come."""
        self.end = time.monotonic()
        self.key = key or self.key
        self.facts.update(facts)


class Operations:
    """All operations of a round, in the order of their start."""

    def __init__(self):
        self.lock = threading.Lock()
        self.all = []

    @contextlib.contextmanager
    def begin(self, kind, key=None, **facts):
        operation = Operation(kind, key, facts)
        with self.lock:
            self.all.append(operation)
        yield operation

    def acknowledged(self, kind, before=None):
        """The acknowledged operations of a kind, all or only those before a time."""
        return [operation for operation in self.all if operation.kind == kind and operation.end is not None
                and (before is None or operation.end < before)]

    def uncertain(self, kind, before=None):
        """The operations of a kind that had begun but were not acknowledged yet."""
        return [operation for operation in self.all if operation.kind == kind
                and (before is None or operation.start < before)
                and (operation.end is None or before is not None and operation.end >= before)]

    def counts(self):
        return collections.Counter(operation.kind for operation in self.all if operation.end is not None)
