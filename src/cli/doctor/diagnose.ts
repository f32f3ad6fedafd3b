import type { ConfigInput } from '../../config/config.js';
import type { LotlakeError } from '../../config/lotlake-error.js';
import { describeError } from '../../run/describe-error.js';
import type { Effects } from '../effects.js';
import {
  checkConfiguration,
  checkLake,
  checkLanding,
  checkLock,
  checkNode,
  checkOutput,
  checkSpace,
} from './local.js';
import { checkClock, checkKey, checkNetwork, checkPlan } from './service.js';

/** What a check found, and what later checks go on with. A check that throws has failed. */
export interface Finding<T = unknown> {
  readonly status: 'ok' | 'warning';
  readonly text: string;
  readonly hint?: string | undefined;
  readonly value?: T;
}

/** What checks need from outside; tests replace it. */
export interface Means {
  readonly input: ConfigInput;
  readonly effects: Pick<Effects, 'env' | 'cwd' | 'now' | 'signal'>;
  /** Leaves the service out. */
  readonly offline: boolean;
  /** Version of Node, such as `20.20.2`. */
  readonly node: string;
  /** Bytes that may still be written below a folder. */
  readonly freeBytes: (folder: string) => number;
}

/** A line of the result. `code` is that of the error of a failed check. */
export interface Line {
  readonly check: string;
  readonly status: Finding['status'] | 'failed' | 'not checked';
  readonly text: string;
  readonly hint: string | null;
  readonly code: string | null;
}

/**
 * Checks the machine, the configuration, the output folder and the service, each on the ground of what was found before.
 * Nothing stays written, and the service is asked at most four times.
 * @returns a line for each check, and the error of the first that failed
 */
export async function diagnose(means: Means): Promise<{ lines: Line[]; error: LotlakeError | undefined }> {
  const lines: Line[] = [];
  let first: LotlakeError | undefined;
  /** Adds the line of a check, which needs what an earlier one gave. */
  async function check<G, T>(
    name: string,
    given: G | undefined,
    look: (given: G) => Finding<T> | Promise<Finding<T>>,
  ): Promise<T | undefined> {
    const line = { check: name, hint: null, code: null };
    if (given === undefined) {
      lines.push({ ...line, status: 'not checked', text: 'it needs what failed above' });
      return undefined;
    }
    try {
      const { status, text, hint = null, value } = await look(given);
      lines.push({ ...line, status, text, hint });
      return value;
    } catch (thrown) {
      means.effects.signal.throwIfAborted();
      const error = describeError(thrown);
      first ??= error;
      lines.push({
        ...line,
        status: 'failed',
        text: error.message,
        hint: error.hint ?? null,
        code: error.code,
      });
      return undefined;
    }
  }

  await check('node', means, checkNode);
  const config = await check('configuration', means, checkConfiguration);
  await check('output', config, checkOutput);
  await check('space', config, (given) => checkSpace(given, means.freeBytes));
  await check('lock', config, (given) => checkLock(given, means.effects.now()));
  await check('lake', config, checkLake);
  await check('landing', config, checkLanding);
  if (means.offline) return { lines, error: first };
  const reached = await check('network', config, (given) => checkNetwork(given, means.effects));
  await check('clock', reached, checkClock);
  const accepted = await check('key', reached, checkKey);
  await check('plan', accepted, checkPlan);
  await reached?.client.close();
  return { lines, error: first };
}
