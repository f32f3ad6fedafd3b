import { createHash } from 'node:crypto';
import { join, parse } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Config } from '../../base/config/config.js';
import { append, ownNamed } from '../../base/config/owned.js';
import { sumOf } from '../../base/config/printable.js';
import { isUrl } from '../../base/config/problems.js';
import type { TestFailures } from '../../core/job/beside.js';
import type { RunRecord } from '../../core/job/run-records.js';
import { layoutOf } from '../../core/lake/layout.js';
import { allTables, type Manifest, manifestIn } from '../../core/lake/manifest.js';
import { listPasses } from '../../core/lake/passes/pass.js';
import { dictionary } from '../../core/model/dictionary.js';
import { streamNames } from '../../core/service/streams.js';
import { post } from './post.js';

/** Type of a run event in OpenLineage. */
export type EventType = 'START' | 'COMPLETE' | 'FAIL' | 'ABORT';

const SPEC = 'https://openlineage.io/spec';

/** What an event has besides the record of its run. */
interface Context {
  readonly config: Config;
  readonly tests: readonly TestFailures[];
}

/** The event for the end of a run. */
export function eventTypeOf({ outcome }: Pick<RunRecord, 'outcome'>): EventType {
  if (outcome === 'published' || outcome === 'nothing_new') return 'COMPLETE';
  return outcome === 'interrupted' ? 'ABORT' : 'FAIL';
}

/**
 * A run event of OpenLineage (spec 2-0-2). Its inputs are the streams that the run landed records of, its outputs the tables
 * and marts that it published or tested.
 */
export function eventOf(type: EventType, record: RunRecord, { config, tests }: Context) {
  const { run_id, pipeline, version, error, started_at, ended_at } = record;
  const producer = `urn:lotlake:${version}`;
  const facet = (name: string, number: string, facts: object) => ({
    _producer: producer,
    _schemaURL: `${SPEC}/facets/${number}/${name}.json#/$defs/${name}`,
    ...facts,
  });
  const layout = layoutOf(config.output);
  const manifest =
    record.snapshot_id === null ? undefined : manifestIn(join(layout.snapshots, record.snapshot_id));
  const failure = {
    message: error === null ? '' : `${error.code}: ${error.message}`,
    programmingLanguage: 'JavaScript',
  };
  return {
    eventType: type,
    eventTime: type === 'START' ? started_at : (ended_at ?? started_at),
    producer,
    schemaURL: `${SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent`,
    run: {
      runId: uuidOf(run_id),
      facets: error === null ? {} : { errorMessage: facet('ErrorMessageRunFacet', '1-0-1', failure) },
    },
    job: { namespace: config.lineage.namespace, name: pipeline },
    inputs: type === 'START' ? [] : inputsOf(record, manifest, layout.landing, facet),
    outputs: type === 'START' ? [] : outputsOf(manifest, { config, tests }, facet),
  };
}

type MakeFacet = (name: string, number: string, facts: object) => object;

function inputsOf(
  { run_id, origin }: RunRecord,
  manifest: Manifest | undefined,
  landing: string,
  facet: MakeFacet,
) {
  const merged = new Set(manifest?.pass_ids);
  return streamNames.flatMap((name) => {
    const passes = listPasses(landing, name).filter(
      ({ record: pass }) => pass.run_id === run_id || merged.has(pass.pass_id),
    );
    if (passes.length === 0) return [];
    const pages = passes.flatMap((pass) => pass.pages);
    const dataQualityMetrics = facet('DataQualityMetricsInputDatasetFacet', '1-0-2', {
      rowCount: sumOf(pages, ({ records }) => records),
      bytes: sumOf(pages, ({ bytes }) => bytes),
      columnMetrics: {},
    });
    const namespace = origin ?? passes[0]?.record.origin ?? 'landing';
    return [{ namespace, name, inputFacets: { dataQualityMetrics } }];
  });
}

function outputsOf(manifest: Manifest | undefined, { config, tests }: Context, facet: MakeFacet) {
  const namespace = config.publish.to ?? pathToFileURL(config.output).href;
  const stored: Manifest['tables'] = manifest === undefined ? {} : allTables(manifest);
  const tableOf = (name: string) => (Object.hasOwn(stored, name) ? stored[name] : undefined);
  const entries = manifest === undefined ? [] : dictionary(manifest);
  const tested = tests.map(({ model }) => model).filter((model) => model !== 'checks');
  return [...new Set([...Object.keys(stored), ...tested])].map((name) => {
    const assertions = tests
      .filter(({ model }) => model === name)
      .map(({ test, failures }) => ({ assertion: test, success: failures === 0 }));
    const table = tableOf(name);
    const fields = (entries.find((entry) => entry.name === name)?.columns ?? []).map(
      ({ name, type, description }) => ({ name, type, description }),
    );
    return {
      namespace,
      name,
      facets: {
        ...(table && { schema: facet('SchemaDatasetFacet', '1-1-1', { fields }) }),
        ...(assertions.length > 0 && {
          dataQualityAssertions: facet('DataQualityAssertionsDatasetFacet', '1-0-1', { assertions }),
        }),
      },
      outputFacets: table && {
        outputStatistics: facet('OutputStatisticsOutputDatasetFacet', '1-0-2', {
          rowCount: table.rows,
          size: table.bytes,
          fileCount: table.files.length,
        }),
      },
    };
  });
}

/** A UUID of version 5 that is always the same for a run id. */
function uuidOf(runId: string): string {
  const hex = createHash('sha1').update(`lotlake run ${runId}`).digest('hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * The file that an event is appended to: a new one each month, such as `events-2026-11.ndjson` for `events.ndjson`, so that
 * old ones can be moved or removed while runs write.
 */
function monthlyFile(path: string, { eventTime }: Pick<ReturnType<typeof eventOf>, 'eventTime'>): string {
  const { dir, name, ext } = parse(path);
  return join(dir, `${name}-${eventTime.slice(0, 7)}${ext}`);
}

/** Appends an event to the file of its month as one line, or posts it. Throws the error of the system or of `post`. */
export async function sendEvent(
  { to, key }: { readonly to: string; readonly key?: string | undefined },
  event: ReturnType<typeof eventOf>,
  signal: AbortSignal,
): Promise<void> {
  if (isUrl(to))
    return post(to, event, signal, key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } });
  append(ownNamed(monthlyFile(to, event)), `${JSON.stringify(event)}\n`);
}
