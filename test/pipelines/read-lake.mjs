// A reader of test/pipelines/readers.ts, as a notebook would be: `read-lake.mjs <lake/current>`. Until stdin ends it
// resolves the link and counts the rows of tables by glob; it prints one line of JSON for each look.
import { realpathSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';

const [current] = process.argv.slice(2);
const connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
let isOver = false;
process.stdin.on('end', () => {
  isOver = true;
});
process.stdin.resume();

while (!isOver) {
  const snapshot = realpathSync(current);
  const look = { snapshot: snapshot.split('/').at(-1) };
  try {
    for (const table of ['vehicles', 'lots', 'prices', 'runs']) {
      const glob = `${snapshot}/${table}/**/*.parquet`;
      const reader = await connection.runAndReadAll(`select count(*) from read_parquet('${glob}')`);
      look[table] = Number(reader.getRows()[0][0]);
      // A publish may come between two tables of one look.
      await sleep(5);
    }
  } catch (error) {
    look.error = String(error);
  }
  process.stdout.write(`${JSON.stringify(look)}\n`);
}
