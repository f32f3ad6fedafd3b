export {
  discountFactor,
  expectedPrice,
  market,
  marketFactor,
  type PriceFacts,
  wearFactor,
} from './data/market.js';
export { endpointHelp } from './endpoints/help.js';
export { SandboxError } from './error.js';
export { type PlantedAttempt, type PlantedLot, plantedLots } from './planted.js';
export type { Fault, FaultMatch, FaultRequest, FaultRule, Faults } from './server/fault.js';
export { FAULT_HEADER } from './server/fault.js';
export type { Plan } from './server/plan.js';
export { highestRate, type LoggedRequest } from './server/request-log.js';
export { type Sandbox, type SandboxOptions, startSandbox } from './server/start.js';
export {
  createWorld,
  DEFAULT_CLOCK,
  DEFAULT_SEED,
  DEFAULT_VEHICLES,
  type RecordOptions,
  type World,
  type WorldOptions,
} from './world.js';
