import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { packageRoot } from '../../base/config/package-root.js';
import { textIn } from './text-files.js';

const header = z.object({ description: z.string().min(1), severity: z.enum(['error', 'warn']) });

/** The form of the names of models and checks of the user. */
export const OWN_NAME = /^[a-z][a-z0-9_]*$/;

/** A check of the user in the manifest of a snapshot. */
export const ownCheck = header.extend({
  model: z.literal('checks'),
  test: z.string().regex(OWN_NAME),
  sql: z.string(),
});

/** A data test across tables: a SELECT of failing rows, with a header of comments that describes what must hold. */
export type Check = Readonly<z.output<typeof ownCheck>>;

const checksFolder: string = join(packageRoot, 'sql', 'checks');

/**
 * Reads the checks of a folder, by name. Each begins with `-- description: …` and `-- severity: error` or `warn`.
 * Throws MODEL_DEFINITION, naming the file, if one of them is missing or not valid.
 */
export function readChecks(folder: string = checksFolder): readonly Check[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => readCheck(join(folder, file)));
}

/** Reads one check. Throws as {@link readChecks} does. */
export function readCheck(path: string): Check {
  const sql = textIn(path).trim();
  const comments = sql.matchAll(/^-- (\w+): (.+)$/gm);
  const parsed = header.safeParse(Object.fromEntries([...comments].map(([, name, text]) => [name, text])));
  if (!parsed.success) {
    throw new LotlakeError('MODEL_DEFINITION', `${path}, header: ${z.prettifyError(parsed.error)}`);
  }
  return { model: 'checks', test: basename(path, '.sql'), sql, ...parsed.data };
}
