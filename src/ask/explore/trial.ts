import { randomUUID } from 'node:crypto';
import { basename, join } from 'node:path';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { makeFolder, remove, writeNew } from '../../base/config/owned.js';
import { identifier } from '../../base/duck/session.js';
import { freeBytes } from '../../core/job/run-records.js';
import { layoutOf } from '../../core/lake/layout.js';
import { modellingOf } from '../../core/model/own-models.js';
import { readOwnModels } from '../../core/model/read-own.js';
import { runOwnModels } from '../../core/model/run-own.js';
import type { JobLake } from './job-lake.js';

/** The two files of a model, as they are to be saved. */
export interface ModelFiles {
  readonly name: string;
  readonly sql: string;
  readonly yml: string;
}

/** Most seconds of a trial, since a person waits for it. */
const MOST_SECONDS = 60;

/**
 * Computes a model on the shown snapshot as a night would: it reads the files, plans, runs and tests the model, and writes its
 * Parquet file into a scratch folder. Nothing of that stays. Throws MODEL_* with what a night would leave the model out for.
 */
export async function tryModel(
  { connection, lake: { temp, manifest, snapshot }, config }: JobLake,
  { name, sql, yml }: ModelFiles,
): Promise<void> {
  const scratch = join(temp, `trial-${randomUUID()}`);
  const models = join(scratch, 'models');
  const seconds = Math.min(config.modelTimeout, MOST_SECONDS);
  try {
    makeFolder(models);
    writeNew(join(models, `${name}.sql`), sql);
    writeNew(join(models, `${name}.yml`), yml);
    const published = modellingOf(manifest).models.flatMap((each) => (each.isOwn ? [each.name] : []));
    const own = await readOwnModels(connection, { models, examples: undefined }, published);
    const { leftOut } = await runOwnModels(connection, own, {
      target: join(scratch, 'marts'),
      snapshot: { id: basename(snapshot), recorded: manifest },
      limits: { seconds, freeBytes: () => freeBytes(layoutOf(config.output)) },
    });
    const [left] = leftOut;
    if (left !== undefined) throw notSaved(left.error, models);
    await connection.run(`drop view ${identifier(name)}`);
  } finally {
    remove(scratch);
  }
}

/** The error for the reader, who does not know the scratch folder. */
function notSaved({ code, message, hint }: LotlakeError, folder: string): LotlakeError {
  const reason = message.replaceAll(`${folder}/`, '');
  if (code === 'MODEL_TESTS_FAILED')
    return new LotlakeError(
      code,
      `it is not saved, because lot_id comes more than once, or is null: ${reason}`,
      {
        outcome: 'usage',
        hint: 'a watched search needs one row a lot: group by lot_id, or take distinct rows',
      },
    );
  return new LotlakeError(code, `it is not saved, because a night would leave it out: ${reason}`, {
    outcome: 'usage',
    // The other hints are about files.
    hint: code === 'MODEL_GRAPH' ? hint : undefined,
  });
}
