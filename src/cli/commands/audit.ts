import { ask } from '../../ask/query/ask.js';
import { readLake } from '../../ask/query/open-lake.js';
import { gridOf } from '../../ask/query/table.js';
import { count } from '../../base/config/printable.js';
import type { Row } from '../../base/duck/session.js';
import { assertOrigin } from '../../core/job/job.js';
import { layoutOf } from '../../core/lake/layout.js';
import { type Answer, assertService, type Client, openClient, readJson } from '../../core/service/client.js';
import { enumerations } from '../../core/service/contract/enumerations.js';
import { isFailure, ServiceError } from '../../core/service/errors.js';
import { requests } from '../../core/service/requests.js';
import { command } from '../command.js';
import { onService, sandboxOptions } from '../on-sandbox.js';

/**
 * Compares `/search/count` by source with the active vehicles of the lake. Throws LAKE_ORIGIN if the lake is that of another
 * service.
 */
export const audit = command({
  options: sandboxOptions,
  async run(given, effects) {
    const comparisons = await onService(given, effects, async ({ config }) => {
      assertService(config);
      const { active, manifest } = await readLake(config, {}, async ({ session, manifest }) => ({
        active: await ask(session.connection, 'cli/active'),
        manifest,
      }));
      assertOrigin({ base: { manifest }, layout: layoutOf(config.output), config });
      const client = openClient(config);
      return compare(client, active, effects.signal).finally(() => client.close());
    });
    const number = (value: number | null): string => (value === null ? 'refused' : count(value));
    given.print(comparisons, () =>
      gridOf(
        ['source', '>service', '>lake', '>difference'],
        comparisons.map(({ domain_name, service, lake, difference }) => [
          ...[domain_name, number(service), count(lake)],
          difference === null ? '' : count(difference),
        ]),
      ),
    );
  },
});

async function compare(client: Client, active: readonly Row[], signal: AbortSignal) {
  const found = [];
  for (const [id, domain_name] of Object.entries(enumerations.domain)) {
    const domain_id = Number(id);
    const lake = Number(active.find((row) => row.domain_id === domain_id)?.vehicles ?? 0);
    const service = await countAtService(client, domain_id, signal);
    const difference = service === null ? null : lake - service;
    found.push({ domain_id, domain_name, service, lake, difference });
  }
  return found;
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
