import { statfsSync } from 'node:fs';
import type { LotlakeError } from '../../base/config/lotlake-error.js';
import { describeError } from '../../core/job/describe-error.js';
import { command } from '../command.js';
import { checkCounts } from '../doctor/counts.js';
import type { DoctorContext, Finding } from '../doctor/local.js';
import * as local from '../doctor/local.js';
import * as service from '../doctor/service.js';

/** Checks the set-up, and says of each part whether it is well and what to do. Throws the error of the first failure. */
export const doctor = command({
  options: {
    offline: { type: 'boolean', default: false, describe: 'leave the service out' },
    notify: { type: 'boolean', default: false, describe: 'send every channel (notify) a test' },
  },
  async run({ offline, notify, input, print }, effects) {
    const node = process.versions.node;
    const { lines, error } = await diagnose({ input, effects, offline, notify, node, freeBytes });
    print(lines, () => lines.map(text));
    if (error !== undefined) throw error;
  },
});

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function text({ check, status, text, hint, code }: Line): string {
  const error = code === null ? '' : ` [${code}]`;
  const line = `${status.padEnd(12)} ${check.padEnd(14)} ${text}${error}`;
  return hint === null ? line : `${line}\n${' '.repeat(28)}${hint}`;
}

/** A line of the result. A failed check has the code of its error. */
interface Line {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'failed' | 'not checked';
  readonly text: string;
  readonly hint: string | null;
  readonly code: string | null;
}

/**
 * Checks the machine, the configuration, the output folder and the service. A check builds on what earlier ones found. It
 * leaves no files, and sends few requests to the service: three at most, and two for each source.
 * @returns a line for each check, and the error of the first that failed
 */
export async function diagnose(
  context: DoctorContext,
): Promise<{ lines: Line[]; error: LotlakeError | undefined }> {
  const { effects, freeBytes } = context;
  const lines: Line[] = [];
  let first: LotlakeError | undefined;
  /** Runs a check on the value of an earlier one, and adds its line. Without that value it is not checked. */
  async function check<G, T>(
    name: string,
    given: G | undefined,
    look: (given: G) => Finding<T> | Promise<Finding<T>>,
  ): Promise<T | undefined> {
    const add = (status: Line['status'], text: string, hint?: string, code?: string) =>
      void lines.push({ check: name, hint: hint ?? null, code: code ?? null, status, text });
    if (given === undefined) return void add('not checked', 'it needs what failed above');
    try {
      const { text, hint, value } = await look(given);
      add(hint === undefined ? 'ok' : 'warning', text, hint);
      return value;
    } catch (thrown) {
      effects.signal.throwIfAborted();
      const error = describeError(thrown);
      first ??= error;
      return void add('failed', error.message, error.hint, error.code);
    }
  }

  await check('node', context, local.checkNode);
  const config = await check('configuration', context, local.checkConfiguration);
  await check('output', config, local.checkOutput);
  await check('space', config, (given) => local.checkSpace(given, freeBytes));
  await check('lock', config, (given) => local.checkLock(given, effects.now()));
  const manifest = await check('lake', config, local.checkLake);
  await check('landing', config, local.checkLanding);
  // Most lakes have no tables of costs, and nothing is said of them.
  if (config?.costs !== undefined) await check('costs', config.costs, local.checkCosts);
  await check('webhook', config, (given) => local.checkWebhook(given, context));
  if (context.offline) return { lines, error: first };
  const known = await check('origin', config, (given) => service.checkOrigin(given, effects));
  const reached = await check('network', known, (given) => service.checkNetwork(given, effects));
  await check('clock', reached, service.checkClock);
  const accepted = await check('key', reached, service.checkKey);
  const planned = await check('plan', accepted, service.checkPlan);
  const counted = planned && manifest !== undefined ? { reached: planned, manifest } : undefined;
  await check('counts', counted, checkCounts);
  await reached?.client.close();
  return { lines, error: first };
}
