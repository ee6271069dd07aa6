// A stand-in for the library: the parts that the recipe uses. Its container is the server at port SIM_PORT, which runs already.
export const Wait = {
  forHttp: (path, port) => ({
    forStatusCode: (status) => ({
      async check(mapped) {
        const answer = await fetch(`http://127.0.0.1:${mapped(port)}${path}`);
        if (answer.status !== status) throw new Error(`${path} answers ${answer.status}, not ${status}`);
      },
    }),
  }),
};

export class GenericContainer {
  constructor(image) { this.asked = { image }; }
  withExposedPorts(...ports) { this.asked.ports = ports; return this; }
  withCommand(command) { this.asked.command = command; return this; }
  withEnvironment(environment) { this.asked.environment = environment; return this; }
  withWaitStrategy(strategy) { this.strategy = strategy; return this; }
  async start() {
    const mapped = (port) => {
      if (!this.asked.ports.includes(port)) throw new Error(`port ${port} is not exposed`);
      return Number(process.env.SIM_PORT);
    };
    await this.strategy.check(mapped);
    console.log(JSON.stringify(this.asked));
    return { getHost: () => "127.0.0.1", getMappedPort: mapped, stop: async () => console.log("stopped") };
  }
}
