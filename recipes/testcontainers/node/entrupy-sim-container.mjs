import { GenericContainer, Wait } from "testcontainers";

const port = 8642;

/** Starts entrupy-sim in a container, in memory. It is ready when the promise is fulfilled; end it with `stop()`. */
export async function startEntrupySim(image = "entrupy-sim") {
  const container = await new GenericContainer(image)
    .withExposedPorts(port)
    .withCommand(["serve", "--in-memory"])
    // The control API needs no token: the port is the test run's own.
    .withEnvironment({ ENTRUPY_SIM_CONTROL_OPEN: "1" })
    .withWaitStrategy(Wait.forHttp("/_sim/ready", port).forStatusCode(200))
    .start();
  const url = `http://${container.getHost()}:${container.getMappedPort(port)}`;

  /** Makes a platform of its own, for one test, and returns its base URL. `options` are those of POST /_sim/namespaces. */
  async function namespace(options = {}) {
    const answer = await fetch(`${url}/_sim/namespaces`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(options),
      signal: AbortSignal.timeout(30_000),
    });
    if (answer.status !== 201) throw new Error(`no namespace: ${answer.status} ${await answer.text()}`);
    return (await answer.json()).url;
  }

  return { url, namespace, stop: () => container.stop() };
}
