import { jsonHash } from '../../base/config/json.js';
import type { Job } from '../job/job.js';
import { rowCode } from '../lake/rows/row-code.js';
import { readChecks } from './checks.js';
import { COST_ROWS, type Model, readModels, withFiles, withOwnSeeds } from './model-files.js';
import type { Modelling, OwnModels } from './own-models.js';
import { readOwnModels } from './read-own.js';
import { entryOf, leftOutText } from './run-own.js';

/** What the models of one run are. */
export interface RunModelling extends Modelling {
  /** The models and checks of the user, which run after these. */
  readonly own: OwnModels;
  /** Fingerprint of everything that decides the tables and marts, except the records. */
  readonly recipe: string;
}

/** Options of a pipeline that computes marts. */
export interface ModelOptions {
  /** Models and checks to run; those of `sql` by default. */
  readonly modelling?: Partial<Modelling>;
}

/** Puts the tables of costs of the user into the model that has their rows. Throws ConfigError for tables that cannot be used. */
async function withCosts(models: readonly Model[], folder: string | undefined): Promise<readonly Model[]> {
  if (folder === undefined) return models;
  const { costRowsSql, readCosts } = await import('./costs/read-tables.js');
  const sql = costRowsSql(readCosts(folder));
  return models.map((model) => (model.name === COST_ROWS ? { ...model, sql } : model));
}

/**
 * Reads the models of a run: lotlake's with the seeds of the user, and the user's own. Warns of those that are left out. Throws
 * ConfigError for seeds, views and examples that do not exist.
 */
export async function readModelling(job: Job, { modelling = {} }: ModelOptions): Promise<RunModelling> {
  const { config, session, reporter, recorder } = job;
  const given = await withCosts(withOwnSeeds(modelling.models ?? readModels(), config.seeds), config.costs);
  const models = withFiles(given, config.asFiles ?? []);
  const checks = modelling.checks ?? readChecks();
  const own = await readOwnModels(session.connection, config);
  for (const left of own.leftOut) reporter.warn(leftOutText(left));
  // What cannot be read is as before while the reason is the same.
  const owned = { ...own, leftOut: own.leftOut.map(entryOf) };
  const recipe = jsonHash([rowCode(), recorder.record.limits, models, checks, owned]);
  return { models, checks, own, recipe };
}
