export { rolledBack as rows } from './vehicle_timeline.js';
