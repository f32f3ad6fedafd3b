import { sources } from '../../../base/config/settings.js';
import sets from './value-sets.json' with { type: 'json' };

/** Known ids of the service's enumerations (service.md#enumerations). Unknown ids are kept. */
export const enumerations = { domain: sources, ...sets.enumerations };

export type EnumerationName = keyof typeof enumerations;

/** Canonical keys of the reports (service.md#value-sets). The lists grow; unknown keys are kept. */
export const reportKeys = sets.reportKeys;

export type ReportKeyName = keyof typeof reportKeys;
