"""What clients asked for and what the server said it did, each with its time."""
import collections
import contextlib
import threading
import time


class Operation:
    """One request that changes something. `end` stays `None` unless the server acknowledged it."""

    def __init__(self, kind, key, facts):
        self.kind, self.key, self.facts = kind, key, facts
        self.start, self.end = time.monotonic(), None

    def acknowledge(self, key=None, **facts):
        """To be called as soon as the answer is there."""
        self.end = time.monotonic()
        self.key = key or self.key
        self.facts.update(facts)


class Operations:
    """Everything that was asked for in a round, in the order in which it began."""

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
        """Operations of a kind that were acknowledged, all or before a time."""
        return [operation for operation in self.all if operation.kind == kind and operation.end is not None
                and (before is None or operation.end < before)]

    def uncertain(self, kind, before=None):
        """Operations of a kind that had begun and were not acknowledged yet."""
        return [operation for operation in self.all if operation.kind == kind
                and (before is None or operation.start < before)
                and (operation.end is None or before is not None and operation.end >= before)]

    def counts(self):
        return collections.Counter(operation.kind for operation in self.all if operation.end is not None)
