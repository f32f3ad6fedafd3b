import { type ConfigInput, readConfig } from '../../config/config.js';
import { rows } from '../../duck/session.js';
import { assertService, openClient, readJson } from '../../extract/client.js';
import { openLake } from '../../query/open-lake.js';
import { enumerations } from '../../service/contract/enumerations.js';
import { SourceRefusedError } from '../../service/errors/source-refused-error.js';
import { UnexpectedAnswerError } from '../../service/errors/unexpected-answer-error.js';
import { requests } from '../../service/requests/registry.js';
import type { Effects } from '../effects.js';
import { gridOf } from '../grid.js';

/** Vehicles of one source as the service counts them and as the lake has them active. */
interface Comparison {
  readonly domain_id: number;
  readonly domain_name: string;
  /** Null where the key is not enabled for the source. */
  readonly service: number | null;
  readonly lake: number;
  /** Lake minus service. */
  readonly difference: number | null;
}

/** Compares `/search/count` by source with the active vehicles of the lake. */
export async function audit(
  options: { readonly json: boolean; readonly config: ConfigInput },
  effects: Effects,
): Promise<void> {
  const config = readConfig(options.config, effects);
  assertService(config);
  const lake = await openLake(config);
  const client = openClient(config);
  try {
    const active = await rows(
      lake.session.connection,
      'select domain_id, count(distinct vehicle_id) as vehicles from lots where not archived group by domain_id',
    );
    const comparisons: Comparison[] = [];
    for (const [id, domain_name] of Object.entries(enumerations.domain)) {
      const domain_id = Number(id);
      const inLake = Number(active.find((row) => row.domain_id === domain_id)?.vehicles ?? 0);
      const service = await countOf(client, domain_id, effects.signal);
      const difference = service === null ? null : inLake - service;
      comparisons.push({ domain_id, domain_name, service, lake: inLake, difference });
    }
    effects.out(options.json ? `${JSON.stringify(comparisons)}\n` : table(comparisons));
  } finally {
    await client.close();
    lake.close();
  }
}

async function countOf(
  client: ReturnType<typeof openClient>,
  domainId: number,
  signal: AbortSignal,
): Promise<number | null> {
  const request = requests.searchCount.from({ domain_id: domainId });
  try {
    return await client.get(
      request.path,
      request.query,
      async (answer) => {
        const count = countIn(await readJson(answer));
        if (count === undefined)
          throw new UnexpectedAnswerError({
            ...answer.request,
            status: 200,
            detail: 'no count in the answer',
          });
        return count;
      },
      signal,
    );
  } catch (error) {
    if (error instanceof SourceRefusedError) return null;
    throw error;
  }
}

/**
 * The count of an answer whose form the service does not describe: a number, `count` or `total`, maybe below `data` and
 * in a list of one.
 */
export function countIn(body: unknown): number | undefined {
  if (typeof body === 'number') return body;
  if (Array.isArray(body)) return body.length === 1 ? countIn(body[0]) : undefined;
  if (typeof body !== 'object' || body === null) return undefined;
  for (const name of ['count', 'total', 'data']) {
    const found = countIn(Reflect.get(body, name));
    if (found !== undefined) return found;
  }
  return undefined;
}

function table(comparisons: readonly Comparison[]): string {
  const grid = gridOf(['source', '>service', '>lake', '>difference']);
  const number = (value: number | null): string => (value === null ? 'refused' : value.toLocaleString('en'));
  for (const row of comparisons)
    grid.push([
      row.domain_name,
      number(row.service),
      number(row.lake),
      row.difference === null ? '' : number(row.difference),
    ]);
  return `${grid.toString()}\n`;
}
