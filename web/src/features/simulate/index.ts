/** Calls to simulated people. */

export { SimulatePanel } from "./simulate_panel";
export { type Simulation, useSimulation } from "./use_simulation";
