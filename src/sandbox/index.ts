export { expectedPrice, market, marketFactor, wearFactor } from './data/market.js';
export { highestRate } from './server/app.js';
export type { Fault, FaultRequest, FaultRule, Faults } from './server/faults.js';
export { endpointHelp } from './server/help.js';
export { type Sandbox, type SandboxOptions, startSandbox } from './server/start.js';
export { createWorld, DEFAULT_CLOCK, SandboxError, type World } from './world.js';
