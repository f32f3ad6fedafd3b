import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { z } from 'zod';
import { startSandbox } from '../../src/sandbox/index.js';
import { WITHOUT_CATALOG } from '../pipelines/support.js';
import { has, isRoot, makePlace, NODE, put, runAlone, USER } from './support.js';

const place = await makePlace({ onDrift: 'hold' });
const { folder, output, sandbox } = place;
let { close } = sandbox;
let cron: ChildProcess | undefined;
afterAll(async () => {
  cron?.kill();
  await close();
  place.remove();
});

const record = z.object({
  run_id: z.string(),
  outcome: z.string(),
  exit_code: z.int().nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  process: z.object({ pid: z.int() }),
});

/** The run records on disk. */
function stored(): z.output<typeof record>[] {
  const runs = join(output, 'runs');
  const ids = existsSync(runs) ? readdirSync(runs).sort() : [];
  return ids
    .map((id) => join(runs, id, 'run.json'))
    .filter(existsSync)
    .map((path) => record.parse(JSON.parse(readFileSync(path, 'utf8'))));
}

/** Installs the crontab of docs/run/operate with only its nightly job, due at the next whole minute. */
function schedule(crontab: string): void {
  const due = new Date(Date.now() + 65_000);
  const at = `${due.getMinutes()} ${due.getHours()} * * *`;
  const nightly = put(place.read('crontab'), '15 2 * * *         ', at);
  const lines = nightly.split('\n').filter((line) => !/ run incremental | status /.test(line));
  const named = put(lines.join('\n'), ' lotlake  cd', ` ${USER}  cd`);
  writeFileSync(crontab, put(named, 'PATH=', `PATH=${place.bin}:${NODE}:`));
}

/** Waits until one more run has a record that looks right. */
async function untilRun(count: number, isRight: (run: z.output<typeof record>) => boolean) {
  for (;;) {
    const run = stored()[count - 1];
    if (run !== undefined && isRight(run)) return run;
    await wait(100);
  }
}
const isOver = ({ outcome }: z.output<typeof record>): boolean => outcome !== 'running';

it.skipIf(!isRoot || !has('cron', '-h') || !has('unshare', '--version'))(
  'a nightly job under cron leaves records that tell a good, a failed, a killed and a held run apart',
  async () => {
    const etc = join(folder, 'etc');
    mkdirSync(join(etc, 'cron.d'), { recursive: true });
    mkdirSync(join(etc, 'spool'));
    writeFileSync(join(etc, 'crontab'), '');
    const crontab = join(etc, 'cron.d', 'lotlake');
    const mounts = [
      `mount --bind ${join(etc, 'cron.d')} /etc/cron.d`,
      `mount --bind ${join(etc, 'crontab')} /etc/crontab`,
      `mount --bind ${join(etc, 'spool')} /var/spool/cron/crontabs`,
      'mount -t tmpfs none /run',
    ];
    cron = spawn('unshare', ['--mount', 'sh', '-ec', [...mounts, 'exec cron -f'].join('\n')], {
      stdio: 'inherit',
    });
    schedule(crontab);
    await untilRun(1, isOver);

    const { port } = new URL(sandbox.url);
    await close();
    schedule(crontab);
    await untilRun(2, isOver);

    const slow = { match: { path: '/cars' }, fault: { kind: 'delay', ms: 600_000 } } as const;
    const again = await startSandbox({ vehicles: 120, seed: 3, port: Number(port), faults: [slow] });
    close = again.close;
    schedule(crontab);
    const { process: at } = await untilRun(3, () => again.requests.length > 0);
    process.kill(at.pid, 'SIGKILL');

    again.setFaults([...WITHOUT_CATALOG, { match: { path: '/cars' }, fault: { kind: 'extra-members' } }]);
    schedule(crontab);
    await untilRun(4, isOver);

    // The rest of the test reads only what the runs left on disk.
    const { code, text } = await runAlone(place, 'lotlake runs --json');
    expect(code, text).toBe(0);
    const known = z.array(record).parse(JSON.parse(text)).reverse();
    expect(known.map(({ outcome, exit_code, error }) => [outcome, exit_code, error?.code ?? null])).toEqual([
      ['published', 0, null],
      ['unavailable', 4, 'SERVICE_UNREACHABLE'],
      ['killed', null, 'RUN_KILLED'],
      ['held', 5, 'RECONCILE_DRIFT'],
    ]);
    const status = await runAlone(place, 'lotlake status --max-age 26h');
    process.stdout.write(`${(await runAlone(place, 'lotlake runs')).text}\n${status.text}\n`);
    expect(status.code, status.text).toBe(0);
    expect(status.text).toMatch(/runs: +1 published, 1 unavailable, 1 killed, 1 held/);
    expect((await runAlone(place, 'lotlake status --max-age 0.001h')).code).toBe(5);
  },
);
