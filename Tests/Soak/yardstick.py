"""What the machine takes for a round trip between two processes, while the server is measured.

Other work on the machine makes every answer slower. It makes this echo slower too, so the two can be told apart.
"""
import socket
import subprocess
import sys
import threading
import time

# How often the echo is asked, in seconds.
INTERVAL = 0.02


class Yardstick:
    """An echo in a process of its own, asked all the time by a thread of this one."""

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
    """Answers every byte with itself, until the parent is gone."""
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    threading.Thread(target=lambda: (sys.stdin.read(), connection.shutdown(socket.SHUT_RDWR)), daemon=True).start()
    while data := connection.recv(100):
        connection.sendall(data)


if __name__ == "__main__":
    echo()
