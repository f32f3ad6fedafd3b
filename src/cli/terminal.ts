import type { Effects } from './effects.js';
import type { Log } from './log.js';
import { duration, type Progress, pagesLine, stepLine } from './progress-line.js';

/** Milliseconds between two frames. */
const FRAME = 100;

/** The step at work. */
interface Activity {
  readonly name: string;
  readonly detail: string | undefined;
  readonly since: number;
  progress?: Progress;
  part?: string;
}

/** Steps that only print a line. The step before them goes on. */
const NOTES: Readonly<Record<string, string>> = {
  service: 'service: ',
  resume: 'resuming ',
  migrate: 'migrating: ',
  keep: '',
};

/**
 * Shows a run on a terminal. The step at work is a line that is replaced, at most ten times a second; a step that ended is
 * a line that stays.
 */
export function showOnTerminal(effects: Pick<Effects, 'err' | 'live' | 'columns' | 'now'>): Log {
  let activity: Activity | undefined;
  // The last column stays free: some terminals wrap a line that is as wide as they are.
  const width = (): number => (effects.columns() ?? 80) - 1;
  const lineOf = (end?: 'done' | 'stopped'): string => {
    if (activity === undefined) return '';
    const { name, since, progress } = activity;
    const seconds = Math.max(0, effects.now().getTime() - since) / 1000;
    if (progress === undefined || (end !== undefined && name !== 'extract'))
      return stepLine(activity, seconds, width(), end);
    const took =
      end === undefined ? undefined : `${end === 'done' ? 'in' : 'stopped after'} ${duration(seconds)}`;
    return pagesLine(end === 'done' ? { ...progress, expected: null } : progress, width(), took);
  };
  let frames: NodeJS.Timeout | undefined;
  const close = (end: 'done' | 'stopped'): void => {
    clearInterval(frames);
    const line = lineOf(end);
    effects.live('');
    if (line !== '') effects.err(`${line}\n`);
    activity = undefined;
  };
  return {
    step(name, detail) {
      const note = NOTES[name];
      if (note !== undefined) return effects.err(`${note}${detail ?? ''}\n`);
      close('done');
      activity = { name, detail, since: effects.now().getTime() };
      frames = setInterval(() => effects.live(lineOf()), FRAME).unref();
    },
    progress(progress) {
      if (activity !== undefined) activity.progress = progress;
    },
    part(name, done, all) {
      if (activity !== undefined) activity.part = `${name}, ${done} of ${all}`;
    },
    warn: (message) => effects.err(`warning: ${message}\n`),
    end: (isDone) => close(isDone ? 'done' : 'stopped'),
  };
}
