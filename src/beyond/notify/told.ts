import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { jsonIn } from '../../base/config/json.js';
import { codeOf } from '../../base/config/lotlake-error.js';
import { makeFolder, replaceFile, writeNew } from '../../base/config/owned.js';
import { ID } from '../../core/lake/ids.js';
import type { Layout } from '../../core/lake/layout.js';

const snapshot = z.string().regex(ID).nullable();

/** The kinds of news of a snapshot, as `on` names them. */
export const KINDS = ['alarm', 'watch', 'car'] as const;

/** How far a channel has been told. */
const reach = {
  /** The snapshot whose news of each kind it has; null if none was published. */
  snapshots: z.object({ alarm: snapshot, watch: snapshot, car: snapshot }),
  /** The attempt of the last run that it was told of. */
  attempt: z.int(),
};

const toldSchema = z.object({
  ...reach,
  /** A message that is being sent. Found by a later process, it may have arrived or not. */
  sending: z.object({ ...reach, at: z.string() }).nullable(),
  /** Messages that may not have arrived, and of which no message has said so yet: when, and the snapshot before. */
  doubts: z.array(z.object({ at: z.string(), since: snapshot })),
  /** Since when it cannot be told; null if the last message was sent. */
  failing_since: z.string().nullable(),
});

/** What a channel has been told: a file of `notified` in the output folder. */
export type Told = z.output<typeof toldSchema>;

/** Messages in doubt that are remembered. */
const DOUBTS = 5;

const pathOf = ({ notified }: Layout, name: string): string => join(notified, `${name}.json`);

/**
 * What a channel has been told; undefined if it never was. A message that a process was sending when it was killed is in doubt.
 * Throws an Error for a file that cannot be read.
 */
export function readTold(layout: Layout, name: string): Told | undefined {
  const path = pathOf(layout, name);
  if (!existsSync(path)) return undefined;
  const found = toldSchema.safeParse(jsonIn(readFileSync(path, 'utf8'))).data;
  if (found === undefined) throw new Error(`${path} is damaged`);
  return found.sending === null ? found : inDoubt(found, found.sending);
}

/** A channel after a message that may not have arrived: it counts as told, so that nobody is told twice. */
export const inDoubt = (
  { snapshots, doubts, failing_since }: Told,
  { at, ...now }: NonNullable<Told['sending']>,
): Told => ({
  ...now,
  sending: null,
  doubts: [...doubts, { at, since: snapshots.watch }].slice(-DOUBTS),
  failing_since,
});

/** Notes what a channel has been told. */
export function writeTold(layout: Layout, name: string, told: Told): void {
  makeFolder(layout.notified);
  replaceFile(pathOf(layout, name), `${JSON.stringify(told)}\n`);
}

/** Notes where a channel begins, unless that was noted. */
export function beginTold(layout: Layout, name: string, told: Told): void {
  makeFolder(layout.notified);
  try {
    writeNew(pathOf(layout, name), `${JSON.stringify(told)}\n`);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}
