import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { poolOf, settled } from '../../src/base/duck/pool.js';
import { openSession, type Session, scalar } from '../../src/base/duck/session.js';
import { temporaryFolder } from '../pipelines/support.js';

let folder: ReturnType<typeof temporaryFolder>;
let session: Session;

beforeEach(async () => {
  folder = temporaryFolder();
  session = await openSession({ memory: '200MB', temp: folder.path });
});
afterEach(() => {
  session.close();
  folder.remove();
});

describe('work on a pool of connections', () => {
  it('uses all connections at once, and returns results in the order of the tasks', async () => {
    const use = poolOf([session.connection, await session.connect()]);
    let running = 0;
    const most: number[] = [];
    const tasks = [3, 1, 2, 5, 4].map((value) =>
      use(async (connection) => {
        most.push(++running);
        const found = await scalar(connection, `select ${value} from range(1000)`);
        running--;
        return found;
      }),
    );
    expect(await settled(tasks)).toEqual([3, 1, 2, 5, 4]);
    expect(Math.max(...most)).toBe(2);
  });

  it('throws the first failure once nothing else is running, and starts nothing after it', async () => {
    const use = poolOf([session.connection, await session.connect()]);
    const begun: number[] = [];
    const ended: number[] = [];
    const tasks = [0, 1, 2, 3].map((i) =>
      use(async (connection) => {
        begun.push(i);
        const count = await scalar(
          connection,
          i === 0 ? 'select no_such_column' : 'select count(*) from range(30000000)',
        );
        ended.push(i);
        return count;
      }),
    );
    await expect(settled(tasks)).rejects.toThrow('no_such_column');
    expect(begun).toEqual([0, 1]);
    expect(ended).toEqual([1]);
  });

  it('throws the earliest failure, whatever the order of the tasks', async () => {
    const use = poolOf([session.connection, await session.connect()]);
    let failFirst = (): void => undefined;
    const first = use(() => new Promise((_, reject) => (failFirst = () => reject(new Error('later')))));
    const second = use((connection) =>
      connection.run('select no_such_column').finally(() => setImmediate(failFirst)),
    );
    await expect(settled([first, second])).rejects.toThrow('no_such_column');
  });

  it('has less memory while it writes', async () => {
    const limit = (): Promise<number> =>
      scalar(
        session.connection,
        "select cast(regexp_extract(current_setting('memory_limit'), '[0-9.]+') as double)",
      );
    const before = await limit();
    const within = await session.whileWriting(limit);
    expect(within / before).toBeCloseTo(0.8, 2);
    expect(await limit()).toBe(before);
  });
});
