import { nightly } from '../../../pipelines/nightly.js';
import type { ConfigInput } from '../../../src/base/config/config.js';
import type { RunResult } from '../../../src/core/publish/step.js';
import { startSandbox } from '../../../src/sandbox/index.js';
import { configFor, silentReporter, temporaryFolder } from '../../pipelines/support.js';

/** Vehicles of the worlds: few for development, 20,000 for the full test. */
export const VEHICLES = Number(process.env.LOTLAKE_ENGINES_VEHICLES ?? 600);

const FIRST = Date.parse('2026-11-18T02:00:00Z');
const DAY = 86_400_000;

/** A service whose world changes from night to night, and the output folder of its lake. */
export interface Nights {
  readonly output: string;
  readonly url: string;
  /** Runs the next night with the marts, and returns its result once its snapshot is published. */
  night(): Promise<RunResult>;
  close(): Promise<void>;
}

/** Starts a world of `VEHICLES` vehicles. The runs use `settings`. */
export async function startNights(settings: ConfigInput = {}): Promise<Nights> {
  const folder = temporaryFolder();
  const sandbox = await startSandbox({ vehicles: VEHICLES, seed: 17, clock: new Date(FIRST) });
  const config = configFor(sandbox.url, folder.path, { threads: 2, ...settings });
  let nights = 0;
  return {
    output: folder.path,
    url: sandbox.url,
    night: () => {
      const now = new Date(FIRST + nights++ * DAY);
      sandbox.setClock(now);
      return nightly({ config, reporter: silentReporter(), now: () => now });
    },
    close: async () => {
      await sandbox.close();
      folder.remove();
    },
  };
}

/** Runs some nights and returns their results in order. */
export async function runNights(world: Nights, count = 3): Promise<readonly RunResult[]> {
  const results: RunResult[] = [];
  for (let night = 0; night < count; night++) results.push(await world.night());
  return results;
}
