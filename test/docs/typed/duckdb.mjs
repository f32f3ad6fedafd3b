#!/usr/bin/env node
// Stands for the command line of DuckDB: duckdb [-cmd <sql>] <database> <sql>. Prints the rows as JSON.
import { DuckDBInstance } from '@duckdb/node-api';

const given = process.argv.slice(2);
const before = given[0] === '-cmd' ? given.splice(0, 2).slice(1) : [];
const [database, sql] = given;
try {
  const instance = await DuckDBInstance.create(database, { access_mode: 'READ_ONLY' });
  const connection = await instance.connect();
  for (const each of before) await connection.run(each);
  const rows = (await connection.runAndReadAll(sql)).getRowObjectsJson();
  process.stdout.write(`${JSON.stringify(rows)}\n`);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
