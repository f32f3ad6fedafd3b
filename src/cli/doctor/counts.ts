import { ask } from '../../ask/query/ask.js';
import { readLake } from '../../ask/query/open-lake.js';
import { count } from '../../base/config/printable.js';
import type { Manifest } from '../../core/lake/manifest.js';
import { type Answer, type Client, readJson } from '../../core/service/client.js';
import { enumerations } from '../../core/service/contract/enumerations.js';
import { isFailure, ServiceError } from '../../core/service/errors.js';
import { requests } from '../../core/service/requests.js';
import type { Finding } from './local.js';
import type { Reached } from './service.js';

/**
 * Compares `/search/count` by source with the active vehicles of the lake. No run needs these counts, so that a service that does
 * not give them is a warning.
 * @param given the service, and the manifest of the lake; null if nothing is published
 */
export async function checkCounts({
  reached: { config, client, signal },
  manifest,
}: {
  readonly reached: Reached;
  readonly manifest: Manifest | null;
}): Promise<Finding> {
  if (manifest?.tables.lots === undefined) return { text: 'the lake has no vehicles yet' };
  const active = await readLake(config, { named: 'lots' }, ({ session }) =>
    ask(session.connection, 'cli/active'),
  );
  const counts: string[] = [];
  try {
    for (const [id, name] of Object.entries(enumerations.domain)) {
      const lake = Number(active.find(({ domain_id }) => domain_id === Number(id))?.vehicles ?? 0);
      const service = await countAtService(client, Number(id), signal);
      counts.push(`${name} ${service === null ? 'refused' : count(service)} and ${count(lake)}`);
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return {
      text: `the service does not count its vehicles: ${error.message}`,
      hint: 'no run needs the counts; lotlake status tells how fresh the lake is',
    };
  }
  return { text: `vehicles of the service and of the lake: ${counts.join(', ')}` };
}

/** The service's count of vehicles of a source; null if the key is not enabled for it. */
async function countAtService(client: Client, domain: number, signal: AbortSignal): Promise<number | null> {
  const { path, query } = requests.searchCount.from({ domain_id: domain });
  const read = async (answer: Answer): Promise<number> => {
    const found = countIn(await readJson(answer));
    if (found !== undefined) return found;
    const detail = 'no count in the answer';
    throw new ServiceError('SERVICE_UNEXPECTED', { url: answer.url, status: 200, detail });
  };
  try {
    return await client.get(path, query, read, signal);
  } catch (error) {
    if (isFailure(error, 'SERVICE_SOURCE_REFUSED')) return null;
    throw error;
  }
}

/**
 * Finds the count in an answer, whose form the service does not describe: a number, `count` or `total`, perhaps under
 * `data` or in a list of one.
 */
export function countIn(body: unknown): number | undefined {
  if (typeof body === 'number') return body;
  if (Array.isArray(body)) return body.length === 1 ? countIn(body[0]) : undefined;
  if (typeof body !== 'object' || body === null) return undefined;
  const found = ['count', 'total', 'data'].map((name) => countIn(Reflect.get(body, name)));
  return found.find((number) => number !== undefined);
}
