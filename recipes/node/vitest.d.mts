// Vitest is an optional peer dependency, so that this finds it in every layout of node_modules.
import "vitest";
import type { SimulatorMatchers } from "./index.js";

export { matchers } from "./index.js";

declare module "vitest" {
  // The parameter has to be named as Vitest names it.
  interface Assertion<T = any> extends SimulatorMatchers {}
}
