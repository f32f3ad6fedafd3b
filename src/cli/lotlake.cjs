#!/usr/bin/env node
// What people start. Any Node since 10 can read this file; the modules that it loads need the one that package.json names.
const needed = require('../../package.json').engines.node.replace('>=', '');
const { node: version } = process.versions;

/** Whether a version such as 18.20.4 is before another one such as 20.19. */
function isBefore(given, other) {
  const [[major, minor], [otherMajor, otherMinor]] = [given, other].map((each) =>
    each.split('.').map(Number),
  );
  return major < otherMajor || (major === otherMajor && minor < otherMinor);
}

function refuse() {
  const message = `lotlake needs Node ${needed} or newer, and this is Node ${version}`;
  const hint =
    'install a newer Node (https://nodejs.org) and run the same command again; nothing was read or written';
  const error = { message, code: 'SYSTEM_NODE', stage: 'system', hint };
  const isJson = process.argv.includes('--json');
  process.stderr.write(
    `${isJson ? JSON.stringify({ error }) : `system: ${message} [SYSTEM_NODE]\n  ${hint}`}\n`,
  );
  process.exitCode = 2;
}

if (isBefore(version, needed)) refuse();
else import('./main.js');
