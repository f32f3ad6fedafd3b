import { describe, expect, it } from 'vitest';
import { diskAlarm } from '../../src/ask/report/alarms.js';
import { runRecord } from '../lake/run-record.js';

/** Nights after which the output folder has these megabytes. */
const nights = (...used: readonly number[]) =>
  used.map((megabytes, i) =>
    runRecord({ attempt: i + 1, disk: { used_bytes: megabytes * 1e6, free_bytes: 0 } }),
  );

describe('the alarm of a disk that is nearly full', () => {
  it('stands from the growth of a night on', () => {
    const runs = nights(1000, 1100, 1200);
    expect(diskAlarm(runs, 101e6)).toEqual([]);
    expect(diskAlarm(runs, 100e6)).toMatchObject([
      {
        ...{ pipeline: 'nightly', subject: 'disk', metric: 'free_bytes' },
        what: expect.stringContaining('has 100.0 MB left, and a night adds 100.0 MB'),
      },
    ]);
  });

  it('stands for a disk with next to nothing left, whatever a night adds', () => {
    expect(diskAlarm(nights(1000), 0)).toHaveLength(1);
    expect(diskAlarm(nights(1000, 900), 0)).toHaveLength(1);
    expect(diskAlarm(nights(1000), 500e6)).toEqual([]);
  });

  it('does not stand before the first run, or for a folder that cannot be read', () => {
    expect(diskAlarm([], 0)).toEqual([]);
    expect(diskAlarm(nights(1000), null)).toEqual([]);
  });
});
