"""Measures the machine's time for a round trip between two processes, while the server is measured.

Other work on the machine makes every answer slower. It makes this echo slower too, so a slow machine differs from a slow server.
"""
import socket
import subprocess
import sys
import threading
import time

# The interval between requests to the echo, in seconds.
INTERVAL = 0.02


class Yardstick:
    """An echo in its own process, which a thread of this process calls all the time."""

    def __init__(self):
        self.durations = []
        self.process = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.connection = socket.create_connection(("127.0.0.1", int(self.process.stdout.readline())))
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=self.ask, daemon=True).start()

    def ask(self):
        try:
            while True:
                time.sleep(INTERVAL)
                start = time.monotonic()
                self.connection.sendall(b"x")
                if not self.connection.recv(1):
                    return
                self.durations.append(time.monotonic() - start)
        except OSError:
            return  # closed

    def take_durations(self):
        taken, self.durations = self.durations, []
        return taken

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.connection.close()


def echo():
    """Echoes every byte until the parent is gone."""
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    threading.Thread(target=lambda: (sys.stdin.read(), connection.shutdown(socket.SHUT_RDWR)), daemon=True).start()
    while data := connection.recv(100):
        connection.sendall(data)


if __name__ == "__main__":
    echo()
