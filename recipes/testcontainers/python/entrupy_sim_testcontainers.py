"""entrupy-sim in a container, for tests: `with EntrupySimContainer() as sim: client = Shop(sim.namespace())`."""

import json
import urllib.request

from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import HttpWaitStrategy


class EntrupySimContainer(DockerContainer):
    """A server in memory, on a free port. It is ready when `start` returns, and gone when its `with` ends."""

    port = 8642

    def __init__(self, image="entrupy-sim", **options):
        super().__init__(image, **options)
        self.with_exposed_ports(self.port)
        self.with_command(["serve", "--in-memory"])
        # The control API needs no token: the port is the test run's own.
        self.with_env("ENTRUPY_SIM_CONTROL_OPEN", "1")
        self.waiting_for(HttpWaitStrategy(self.port, "/_sim/ready").for_status_code(200))

    @property
    def url(self):
        """The base URL of the namespace `default`."""
        return f"http://{self.get_container_host_ip()}:{self.get_exposed_port(self.port)}"

    def namespace(self, **options):
        """Makes a platform of its own, for one test, and returns its base URL. `options` are those of POST /_sim/namespaces."""
        request = urllib.request.Request(f"{self.url}/_sim/namespaces", json.dumps(options).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)["url"]
