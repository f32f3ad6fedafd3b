export { setFutureAside } from './open-pass.js';
export { archiveRequest, CARS, changesRequest, minutesSince } from './requested.js';
export { stage } from './stage.js';
export { type Lookup, stageLookups, type Unanswered } from './stage-lookups.js';
export { stageReference } from './stage-reference.js';
