import type { Config } from '../config/config.js';
import { messageOf } from '../config/lotlake-error.js';
import type { Reporter } from '../run/job.js';

/**
 * Writes the report of what a run has published, and returns its path. A run has not failed where its report has: that is
 * warned of, and the path is undefined.
 */
export async function reportOn(config: Config, reporter: Reporter): Promise<string | undefined> {
  reporter.step('report');
  try {
    const { writeReport } = await import('../report/write-report.js');
    return await writeReport(config);
  } catch (error) {
    reporter.warn(`the snapshot is published, but its report could not be written: ${messageOf(error)}`);
    return undefined;
  }
}
