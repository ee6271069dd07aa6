import type { SimulatorMatchers } from "./index.js";

export { matchers } from "./index.js";

declare global {
  namespace jest {
    // The parameters have to be named as Jest names them.
    interface Matchers<R, T = {}> extends SimulatorMatchers {}
  }
}
