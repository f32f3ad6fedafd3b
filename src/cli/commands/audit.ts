import { rows } from '../../duck/session.js';
import { assertService, openClient, readJson } from '../../extract/client.js';
import { readLake } from '../../query/open-lake.js';
import { count } from '../../query/printable.js';
import { gridOf } from '../../query/table.js';
import { enumerations } from '../../service/contract/enumerations.js';
import { SourceRefusedError, UnexpectedAnswerError } from '../../service/errors.js';
import { requests } from '../../service/requests.js';
import { command } from '../command.js';

/** Vehicles of one source as the service counts them and as the lake has them active. */
interface Comparison {
  readonly domain_id: number;
  readonly domain_name: string;
  /** Null if the key is not enabled for the source. */
  readonly service: number | null;
  readonly lake: number;
  /** Lake minus service. */
  readonly difference: number | null;
}

const ACTIVE =
  'select domain_id, count(distinct vehicle_id) as vehicles from lots where not archived group by domain_id';

/** Compares `/search/count` by source with the active vehicles of the lake. */
export const audit = command({
  async run({ print, config }, effects) {
    assertService(config);
    const comparisons = await readLake(config, {}, async (lake) => {
      const client = openClient(config);
      try {
        const active = await rows(lake.session.connection, ACTIVE);
        const found: Comparison[] = [];
        for (const [id, domain_name] of Object.entries(enumerations.domain)) {
          const domain_id = Number(id);
          const inLake = Number(active.find((row) => row.domain_id === domain_id)?.vehicles ?? 0);
          const service = await countAtService(client, domain_id, effects.signal);
          const difference = service === null ? null : inLake - service;
          found.push({ domain_id, domain_name, service, lake: inLake, difference });
        }
        return found;
      } finally {
        await client.close();
      }
    });
    print(comparisons, () => table(comparisons));
  },
});

async function countAtService(
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
        const found = countIn(await readJson(answer));
        if (found !== undefined) return found;
        throw new UnexpectedAnswerError({ ...answer.request, status: 200, detail: 'no count in the answer' });
      },
      signal,
    );
  } catch (error) {
    if (error instanceof SourceRefusedError) return null;
    throw error;
  }
}

/**
 * The count in an answer. The service does not describe its form: a number, `count` or `total`, maybe below `data` or in
 * a list of one.
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
  const number = (value: number | null): string => (value === null ? 'refused' : count(value));
  return gridOf(
    ['source', '>service', '>lake', '>difference'],
    comparisons.map(({ domain_name, service, lake, difference }) => [
      domain_name,
      number(service),
      number(lake),
      difference === null ? '' : number(difference),
    ]),
  );
}
