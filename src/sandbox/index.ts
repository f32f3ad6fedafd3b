export {
  expectedPrice,
  market,
  marketFactor,
  wearFactor,
} from './data/market.js';
export { endpointHelp } from './endpoints/help.js';
export { SandboxError } from './error.js';
export { type PlantedLot, plantedLots } from './planted.js';
export type { Fault, FaultRequest, FaultRule, Faults } from './server/fault.js';

export type { Plan } from './server/plan.js';
export { highestRate } from './server/request-log.js';
export { type Sandbox, type SandboxOptions, startSandbox } from './server/start.js';
export {
  createWorld,
  DEFAULT_CLOCK,
  type World,
} from './world.js';
