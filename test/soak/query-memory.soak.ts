import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLI } from '../cli/support.js';
import { type HandMade, handMadeLake } from '../query/support.js';

const ROWS = 20_000_000;
/** DuckDB gets this much; Node needs some 100 MB more. */
const MEMORY = '700MB';
const MOST_MEGABYTES = 600;

/** Prints the peak memory of the process in kilobytes when it ends. */
const PEAK = `data:text/javascript,${encodeURIComponent(
  "process.on('exit', () => process.stderr.write('peak ' + process.resourceUsage().maxRSS))",
)}`;

let lake: HandMade;
beforeAll(async () => {
  lake = await handMadeLake({ lots: 'select cast(1 as bigint) as lot_id' });
});
afterAll(() => lake.remove());

describe(`a result of ${ROWS.toLocaleString('en')} rows`, () => {
  it.each(['csv', 'json', 'arrow', 'parquet', 'table'])('needs bounded memory as %s', async (format) => {
    const sql = `select range as i, 'row ' || range as text from range(${ROWS})`;
    const child = spawn(process.execPath, ['--import', PEAK, CLI, 'query', sql, '--format', format], {
      cwd: lake.config.output,
      env: { ...process.env, LOTLAKE_OUTPUT: lake.config.output, LOTLAKE_MEMORY: MEMORY },
    });
    let bytes = 0;
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    child.stderr.on('data', (chunk) => {
      output += chunk;
    });
    const [code] = await once(child, 'close');
    expect(code, output).toBe(0);
    if (format !== 'table') expect(bytes).toBeGreaterThan(ROWS);
    const peak = Number(/peak (\d+)/.exec(output)?.[1]) / 1024;
    console.info(`${format}: peak of ${peak.toFixed(0)} MB, ${(bytes / 1e6).toFixed(0)} MB written`);
    expect(peak).toBeLessThan(MOST_MEGABYTES);
  });
});
