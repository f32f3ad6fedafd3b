/** Loaded into a run before lotlake: writes which files are synced, renamed and linked, in order, into a file. */
import fs, { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const paths = new Map();
const tell = (...words) => appendFileSync(process.env.LOTLAKE_TEST_CALLS, `${JSON.stringify(words)}\n`);
const { openSync, fsync, renameSync, writeFileSync } = fs;
fs.openSync = (path, ...rest) => {
  const file = openSync(path, ...rest);
  paths.set(file, String(path));
  return file;
};
fs.fsync = (file, done) => {
  const path = paths.get(file);
  fsync(file, (error) => {
    tell('sync', path);
    done(error);
  });
};
fs.writeFileSync = (path, data, options) => {
  writeFileSync(path, data, options);
  if (options?.flush === true) tell('sync', String(path));
};
fs.renameSync = (from, to) => {
  renameSync(from, to);
  tell('rename', String(to), String(from));
};
syncBuiltinESMExports();
