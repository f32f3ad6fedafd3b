import { sumOf } from '../../base/config/printable.js';
import { growthOf, type RunRecord } from '../../core/job/run-records.js';
import { allTables, type Manifest } from '../../core/lake/manifest.js';

/** A value; an unknown one is left out. */
type Value = number | null | undefined;

/** A value of a part of a run, such as a stage. */
type Part = readonly [part: string, value: Value];

const seconds = (instant: string | null | undefined): Value =>
  instant === null || instant === undefined ? null : Date.parse(instant) / 1000;

const between = (start: string, end: string | null): Value =>
  end === null ? null : (Date.parse(end) - Date.parse(start)) / 1000;

const isGood = ({ exit_code }: RunRecord): boolean => exit_code === 0;

/** A figure of a run: one value, or a value for each part of the run under a label. */
type Figure = readonly [name: string, help: string, of: (run: RunRecord) => Value | Part[], label?: string];

/** Figures of the last run of each pipeline. */
const FIGURES: readonly Figure[] = [
  ['start_timestamp_seconds', 'Start', (run) => seconds(run.started_at)],
  ['end_timestamp_seconds', 'End', (run) => seconds(run.ended_at)],
  ['duration_seconds', 'Duration', (run) => between(run.started_at, run.ended_at)],
  ['success', 'Success (1 if it published or found nothing new, otherwise 0)', (run) => Number(isGood(run))],
  ['exit_code', 'Exit code', (run) => run.exit_code],
  ['records', 'Records landed', (run) => run.records],
  ['loaded_records', 'Records loaded', (run) => run.loaded],
  ['rejected_records', 'Records rejected', (run) => run.rejected],
  ['rejected_values', 'Values rejected', (run) => run.rejected_values],
  ['retries', 'Requests sent again', (run) => run.retries],
  ['drift_members', 'Members that the contract does not know', (run) => run.drift.length],
  ['tests_passed', 'Data tests passed', (run) => run.tests?.passed],
  ['tests_failed', 'Data tests failed', (run) => run.tests?.failed.length],
  ['outcome', 'Outcome', ({ outcome }) => [[outcome, 1]], 'outcome'],
  ['requests', 'Requests by status', ({ requests }) => Object.entries(requests), 'status'],
  ['stage_duration_seconds', 'Duration of the stages', stagesOf, 'stage'],
];

/**
 * Metrics of a lake for the textfile collector of Prometheus. The text has its format 0.0.4, and is valid OpenMetrics, too.
 * @param runs records of all runs, oldest first
 * @param manifest manifest of the published snapshot
 * @param alarms number of open alarms; undefined if it is not known
 */
export function metricsText(
  runs: readonly RunRecord[],
  manifest: Manifest | undefined,
  alarms: number | undefined,
): string {
  const ended = runs.filter(({ outcome }) => outcome !== 'running' && outcome !== 'locked');
  const last = lastOfEach(ended);
  const disk = ended.findLast((run) => run.disk !== null)?.disk;
  const tables = manifest === undefined ? [] : Object.entries(allTables(manifest));
  const size = manifest && sumOf(tables, ([, { bytes }]) => bytes);
  return [
    family(
      'info',
      'Version and service of a last run.',
      last.slice(-1).map(({ version, origin }) => [{ version, origin: origin ?? '' }, 1]),
    ),
    ...FIGURES.map(([name, help, of, label = '']) => {
      const samples = (run: RunRecord): Sample[] => {
        const { pipeline } = run;
        const found = of(run);
        if (!Array.isArray(found)) return [[{ pipeline }, found]];
        return found.map(([part, value]) => [{ pipeline, [label]: part }, value]);
      };
      return family(`run_${name}`, `${help} of the last run.`, last.flatMap(samples));
    }),
    family(
      'last_success_timestamp_seconds',
      'End of the last run that published or found nothing new.',
      lastOfEach(ended.filter(isGood)).map(({ pipeline, ended_at }) => [{ pipeline }, seconds(ended_at)]),
    ),
    single(
      'snapshot_timestamp_seconds',
      'Publication of the current snapshot.',
      seconds(manifest?.created_at),
    ),
    single('snapshot_size_bytes', 'Data files of the current snapshot.', size),
    family(
      'table_rows',
      'Rows of the tables and marts of the current snapshot.',
      tables.map(([table, { rows }]) => [{ table }, rows]),
    ),
    single('disk_used_bytes', 'Size of the output folder.', disk?.used_bytes),
    single('disk_free_bytes', 'Room left on the disk of the output folder.', disk?.free_bytes),
    single('disk_growth_bytes', 'Growth of the output folder a night.', growthOf(runs)),
    single('alarms_open', 'Open alarms, as lotlake status lists them.', alarms),
    '# EOF\n',
  ].join('');
}

type Sample = readonly [labels: Readonly<Record<string, string>>, value: Value];

/** A gauge with its samples; nothing if it has none. */
function family(name: string, help: string, samples: readonly Sample[]): string {
  const lines = samples.flatMap(([labels, value]) => {
    if (value === null || value === undefined) return [];
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
    return [`lotlake_${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`];
  });
  const head = `# HELP lotlake_${name} ${help}\n# TYPE lotlake_${name} gauge\n`;
  return lines.length === 0 ? '' : `${head}${lines.join('')}`;
}

const single = (name: string, help: string, value: Value): string => family(name, help, [[{}, value]]);

const escaped = (text: string): string => text.replaceAll(/[\\"]/g, '\\$&').replaceAll('\n', '\\n');

const lastOfEach = (runs: readonly RunRecord[]): RunRecord[] => [
  ...new Map(runs.map((run) => [run.pipeline, run])).values(),
];

/** Seconds by stage. The steps of a stage add up. */
function stagesOf({ stages }: RunRecord): Part[] {
  const sums = new Map<string, number>();
  for (const { name, started_at, ended_at } of stages)
    sums.set(name, (sums.get(name) ?? 0) + (between(started_at, ended_at) ?? 0));
  return [...sums];
}
