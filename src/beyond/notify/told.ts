import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { jsonIn } from '../../base/config/json.js';
import { makeFolder, replaceFile } from '../../base/config/owned.js';
import { ID } from '../../core/lake/ids.js';
import type { Layout } from '../../core/lake/layout.js';

/** How far a channel has been told. */
const reach = {
  /** The snapshot whose news it has; null if none was published. */
  snapshot_id: z.string().regex(ID).nullable(),
  /** The attempt of the last run that it was told of. */
  attempt: z.int(),
};

const toldSchema = z.object({
  ...reach,
  /** A message that is being sent. Found by a later process, it may have arrived or not. */
  sending: z.object({ ...reach, at: z.string() }).nullable(),
  /** Messages that may not have arrived, and of which no message has said so yet: when, and the snapshot before. */
  doubts: z.array(z.object({ at: z.string(), since: z.string().nullable() })),
  /** Since when it cannot be told; null if the last message was sent. */
  failing_since: z.string().nullable(),
});

/** What a channel has been told: a file of `notified` in the output folder. */
export type Told = z.output<typeof toldSchema>;

/** Messages in doubt that are remembered. */
const DOUBTS = 5;

const pathOf = ({ notified }: Layout, name: string): string => join(notified, `${name}.json`);

/**
 * What a channel has been told; undefined if it never was, or if the file cannot be read. A message that a process was sending when
 * it was killed counts as told, so that nobody is told twice, and is in doubt.
 */
export function readTold(layout: Layout, name: string): Told | undefined {
  const path = pathOf(layout, name);
  const found = existsSync(path) ? toldSchema.safeParse(jsonIn(readFileSync(path, 'utf8'))).data : undefined;
  if (found === undefined || found.sending === null) return found;
  const { at, snapshot_id, attempt } = found.sending;
  return {
    ...found,
    snapshot_id,
    attempt,
    sending: null,
    doubts: [...found.doubts, { at, since: found.snapshot_id }].slice(-DOUBTS),
  };
}

/** Notes what a channel has been told. */
export function writeTold(layout: Layout, name: string, told: Told): void {
  makeFolder(layout.notified);
  replaceFile(pathOf(layout, name), `${JSON.stringify(told)}\n`);
}
