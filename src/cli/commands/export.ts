import { relative } from 'node:path';
import { type ConfigInput, readConfig } from '../../config/config.js';
import { readFolder } from '../../config/folder.js';
import { type Exported, exportLake } from '../../export/export.js';
import { type ExportInput, exportRequest } from '../../export/request.js';
import type { Choice } from '../../lake/snapshots.js';
import type { Effects } from '../effects.js';

/** Writes tables into a folder or a .zip to hand over, and says what is in it. */
export async function exportTables(
  options: {
    readonly input: ExportInput;
    /** The snapshot to export; the published one by default. */
    readonly choice: Choice | undefined;
    readonly json: boolean;
    readonly config: ConfigInput;
  },
  effects: Effects,
): Promise<void> {
  const config = readConfig(options.config, effects);
  const to = readFolder('--to', options.input.to, effects.cwd);
  const request = exportRequest({ ...options.input, to }, effects.cwd);
  const { choice } = options;
  const made = await exportLake(request, config, effects.now(), { choice, signal: effects.signal });
  effects.out(options.json ? `${JSON.stringify(made)}\n` : summary(made, effects.cwd));
}

function summary(made: Exported, cwd: string): string {
  const lines = made.tables.map(({ name, rows, files }) => {
    const megabytes = files.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6;
    const count = files.length === 1 ? '1 file' : `${files.length} files`;
    return `${name}: ${rows.toLocaleString('en')} rows in ${count}, ${megabytes.toFixed(1)} MB`;
  });
  const inside = relative(cwd, made.path);
  const path = inside.startsWith('..') ? made.path : inside;
  return [`exported snapshot ${made.snapshot}`, ...lines, `in ${path}`, ''].join('\n');
}
