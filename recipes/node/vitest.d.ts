import "vitest";
import type { SimulatorMatchers } from "./index.js";

export { matchers } from "./index.js";

declare module "vitest" {
  // The parameter has to be named as Vitest names it.
  interface Assertion<T = any> extends SimulatorMatchers {}
}
