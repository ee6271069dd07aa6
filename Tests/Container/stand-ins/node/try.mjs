// Starts the recipe's container on the stand-in of the library, and prints what it got.
import { startEntrupySim } from "./entrupy-sim-container.mjs";

const sim = await startEntrupySim();
console.log(sim.url);
console.log(await sim.namespace({ prefix: "node" }));
try {
  console.log("made", await sim.namespace({ prefix: "Not A Name" }));
} catch (refused) {
  console.log(refused.message);
}
await sim.stop();
