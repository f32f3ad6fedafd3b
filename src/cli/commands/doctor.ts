import { statfsSync } from 'node:fs';
import { command } from '../command.js';
import { diagnose, type Line } from '../doctor/diagnose.js';

/** Checks the set-up, and says of each part whether it is well and what to do. Throws what failed first. */
export const doctor = command({
  options: {
    offline: { type: 'boolean', default: false, describe: 'leave the service out' },
  },
  async run({ offline, input, print }, effects) {
    const { lines, error } = await diagnose({
      input,
      effects,
      offline,
      node: process.versions.node,
      freeBytes,
    });
    print(lines, () => lines.map(text).join('\n'));
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
