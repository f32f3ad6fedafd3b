import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Config, type ConfigInput, readSettings } from '../../base/config/config.js';
import { assertWritable } from '../../base/config/folder.js';
import { ConfigError, LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { formatBytes } from '../../base/config/memory.js';
import { makeHardLink, makeLink, makeScratch, remove, writeNew } from '../../base/config/owned.js';
import { leastNode } from '../../base/config/package-root.js';
import { count, counted, sumOf } from '../../base/config/printable.js';
import { lockedError, lockState, sayHolder } from '../../core/job/lock.js';
import { findBase } from '../../core/lake/base.js';
import { assertLink, brokenLink } from '../../core/lake/broken-link.js';
import { assertMemory, diskFullError } from '../../core/lake/lake-error.js';
import { currentSnapshot, layoutOf } from '../../core/lake/layout.js';
import { allTables, type Manifest, manifestIn } from '../../core/lake/manifest.js';
import { brokenDeltas } from '../../core/lake/passes/group.js';
import { findPasses } from '../../core/lake/passes/pass.js';
import { findStrays } from '../../core/lake/presence.js';
import { streamNames } from '../../core/service/streams.js';
import type { Effects } from '../effects.js';

/** What a check found. A check that throws has failed. */
export interface Finding<T = unknown> {
  readonly text: string;
  /** What to do about it. A finding with a hint is a warning. */
  readonly hint?: string | undefined;
  /** Passed on to later checks. */
  readonly value?: T;
}

/** What checks need from outside. Tests replace it. */
export interface DoctorContext {
  readonly input: ConfigInput;
  readonly effects: Pick<Effects, 'env' | 'cwd' | 'now' | 'signal' | 'err'>;
  /** Whether to leave the service out. */
  readonly offline: boolean;
  /** Whether to send every channel a test. */
  readonly notify: boolean;
  /** Version of Node, such as `20.20.2`. */
  readonly node: string;
  /** Bytes that may still be written below a folder. */
  readonly freeBytes: (folder: string) => number;
}

/**
 * Bytes that the first night of the real service took: lake, landing and spilled data
 * (docs/decisions/0013-run-again-alone.md).
 */
const FIRST_NIGHT = 5.3e9;

/** Checks that lotlake runs on this version of Node. */
export function checkNode({ node }: DoctorContext): Finding {
  if (node.localeCompare(leastNode, 'en', { numeric: true }) >= 0) return { text: `Node ${node}` };
  throw new LotlakeError('SYSTEM_FAILED', `this is Node ${node}, and lotlake needs ${leastNode} or newer`, {
    hint: 'install a newer Node',
  });
}

/** Reads the tables of costs. */
export async function checkCosts(folder: string): Promise<Finding> {
  const { readCosts } = await import('../../core/model/costs/read-tables.js');
  const rows = readCosts(folder);
  const examples = rows.filter(({ values }) => values.note?.includes('made up')).length;
  return {
    text: `${counted(rows.length, 'row')} of tables of costs in ${folder}`,
    ...(examples > 0 && {
      hint: `${counted(examples, 'row')} of them are made-up examples; replace them by your own figures`,
    }),
  };
}

/** Reads all settings. Warns of files with a secret that others can read, and of unknown variables. */
export function checkConfiguration({ input, effects }: DoctorContext): Finding<Config> {
  const { config, inForce, warnings, unknown } = readSettings(input, effects);
  assertMemory(config.memory);
  const problems = [...warnings, ...unknown].join('; ');
  if (problems !== '')
    return { text: problems, hint: 'lotlake config lists what is in force', value: config };
  const places = new Set(inForce.map(({ from }) => from).filter((from) => from !== 'default'));
  const text = places.size === 0 ? 'defaults alone' : `settings from ${[...places].join(', ')}`;
  return { text, value: config };
}

/** The output folder, or the nearest folder above it that exists. */
const nearestFolder = (path: string): string => (existsSync(path) ? path : nearestFolder(dirname(path)));

/** Writes a file and both kinds of links in or near the output folder, and removes them. */
export function checkOutput({ output }: Config): Finding {
  assertWritable('the output folder', output);
  const place = nearestFolder(output);
  let folder: string | undefined;
  try {
    folder = makeScratch(join(place, '.lotlake-doctor-'));
    writeNew(join(folder, 'file'), 'a file');
    // The lock and `current` are symbolic links.
    makeLink('file', join(folder, 'symbolic'));
    const hardLinks = tryHardLink(folder);
    const state = place === output ? output : `${output}, which the first run makes`;
    if (hardLinks === undefined) return { text: `${state}; files and links can be written` };
    return {
      text: `${state}; the file system has no hard links: ${hardLinks}`,
      hint: 'each snapshot copies the files that did not change, and takes the space of a whole one; name a folder on another file system',
    };
  } catch (error) {
    const problem = `the output folder ${output} cannot be written: ${messageOf(error)}`;
    throw diskFullError(error, output) ?? new ConfigError(problem, 'name another folder');
  } finally {
    if (folder !== undefined) remove(folder);
  }
}

function tryHardLink(folder: string): string | undefined {
  try {
    makeHardLink(join(folder, 'file'), join(folder, 'hard'));
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * Compares the free space with the most that a run writes: a whole snapshot beside the current one, as many pages as the
 * last full passes, and spilled data, which measured as much as a snapshot.
 */
export function checkSpace({ output }: Config, freeBytes: DoctorContext['freeBytes']): Finding {
  const layout = layoutOf(output);
  const free = freeBytes(nearestFolder(output));
  const current = currentSnapshot(layout);
  const manifest = current === undefined ? undefined : manifestIn(current);
  if (manifest === undefined) {
    const text = `${formatBytes(free)} free; a first run of the real service took ${formatBytes(FIRST_NIGHT)}`;
    return free >= FIRST_NIGHT ? { text } : { text, hint: 'free space, or name a folder on a larger disk' };
  }
  const lake = sumOf(Object.values(allTables(manifest)), ({ bytes }) => bytes);
  const landing = sumOf(streamNames, (stream) => {
    const passes = findPasses(layout.landing, stream).passes;
    // The next full pass may be a keyframe.
    const last = passes.findLast(
      ({ record: { kind, state, form } }) => kind === 'full' && state === 'sealed' && form !== 'delta',
    );
    return sumOf(last?.pages ?? [], ({ fileBytes }) => fileBytes);
  });
  const text = `${formatBytes(free)} free; a run takes up to ${formatBytes(2 * lake + landing)}: a snapshot of ${formatBytes(lake)}, pages of ${formatBytes(landing)}, and as much as a snapshot for spilled data`;
  if (free >= 2 * lake + landing) return { text };
  throw new LotlakeError('LAKE_DISK_FULL', `there may be too little space below ${output}: ${text}`, {
    hint: 'free space (lotlake vacuum --dry-run tells what can go), or move the lake to a larger disk',
  });
}

/** Checks whether a run could take the lock now. */
export function checkLock({ output, lease }: Config, now: Date): Finding {
  const { lock } = layoutOf(output);
  const standing = lockState(lock);
  if (standing === undefined) return { text: 'no run works on the output folder' };
  const { holder, runs, renewedAt } = standing;
  if (runs === true) throw lockedError(lock, holder);
  if (runs === false)
    return { text: `left by ${sayHolder(holder)} and has ended; the next run takes the lock over` };
  const ago = Math.max(0, Math.round((now.getTime() - renewedAt.getTime()) / 1000));
  return {
    text: `${lock} is held by ${sayHolder(holder)}, whose process cannot be seen from here; its last sign of life is ${count(ago)} s old`,
    hint: `a run waits up to ${holder.lease ?? lease} s for another sign, and then takes the lock over`,
  };
}

/** Checks that the next run can continue from a sound snapshot in a known format; its manifest, or null without one. */
export function checkLake(config: Config): Finding<Manifest | null> {
  const layout = layoutOf(config.output);
  const warnings: string[] = [];
  assertLink(layout);
  const base = findBase(layout, (message) => warnings.push(message));
  if (warnings.length > 0)
    return {
      text: warnings.join('; '),
      hint: brokenLink(layout)?.hint ?? 'lotlake verify names all that is wrong',
    };
  if (base === undefined) return { text: 'nothing is published yet', value: null };
  const [stray] = findStrays(base.folder, base.manifest);
  if (stray !== undefined)
    return {
      text: `snapshot ${base.manifest.snapshot_id} holds ${stray.file}, which is none of its files`,
      hint: 'no command reads it, but other programs that list folders do: move it out of the snapshot; lotlake verify names all such files',
      value: base.manifest,
    };
  const { snapshot_id, created_at } = base.manifest;
  return { text: `snapshot ${snapshot_id} of ${created_at}`, value: base.manifest };
}

/** Finds passes that the next run continues, and passes that it cannot read. */
export function checkLanding({ output }: Config): Finding {
  const { passes, unreadable } = findPasses(layoutOf(output).landing);
  const open = passes.filter(({ record }) => record.state === 'open');
  const names = open.map(({ record, pages }) => `${record.stream} (${count(pages.length)} pages)`);
  const going = open.length === 0 ? '' : `; the next run goes on with the open ones: ${names.join(', ')}`;
  const text = `${count(passes.length)} passes${going}`;
  const published = passes.filter(({ record }) => record.state === 'sealed' && record.published);
  const sound = published.filter(({ record }) => record.stream === 'cars' && record.damaged_at === null);
  const broken = brokenDeltas(sound);
  if (unreadable.length === 0 && broken.length === 0) return { text };
  if (unreadable.length === 0)
    return {
      text: `${text}; a rebuild can no longer replay ${counted(broken.length, 'delta')} since ${broken.map(({ pass }) => pass.record.started_at).sort()[0]}, because ${broken[0]?.lacking[0]} is missing or damaged`,
      hint: 'lotlake verify names what is wrong; bring the files back from a copy, if there is one; the next full pass lands every record',
    };
  return {
    text: `${text}; ${unreadable.map(({ folder, reason }) => `${folder} cannot be read: ${reason}`).join('; ')}`,
    hint: 'move the folder of such a pass away; a run that needs its records asks for them again',
  };
}

/** Sends every channel a test, if that is asked. Throws ConfigError if one does not take it, or if none is set. */
export async function checkWebhook(
  config: Config,
  { notify, effects }: Pick<DoctorContext, 'notify' | 'effects'>,
): Promise<Finding> {
  const { url, channels } = config.notify;
  const names = [...(url === undefined ? [] : ['notify.url']), ...Object.keys(channels)].join(', ');
  if (!notify && names === '') return { text: 'none is set' };
  if (!notify) return { text: `${names} set; lotlake doctor --notify sends a test` };
  const { tell } = await import('../../beyond/notify/tell.js');
  await tell(config, `lotlake doctor: a test, for the lake in ${config.output}`, effects.signal);
  return { text: `${names} took a test` };
}
