/** Calls to simulated people. */

export { SimulatePanel } from "./simulate-panel";
export { type Simulation, useSimulation } from "./use-simulation";
