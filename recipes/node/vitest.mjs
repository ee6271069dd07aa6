// The matchers, with their types for Vitest: expect.extend(matchers). Vitest is an ES module, and so is this.

export { matchers } from "./index.js";
