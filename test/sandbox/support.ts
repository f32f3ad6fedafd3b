import type { Sandbox, World } from '../../src/sandbox/index.js';

/** An answer with its body as text, and parsed if it is JSON. */
export interface Got {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Page;
}

/** The paged envelope, as far as tests read it. */
interface Page {
  readonly data?: readonly Json[];
  readonly links?: { readonly [name: string]: string | null };
  readonly meta?: Json;
  readonly [name: string]: unknown;
}

export type Json = { readonly [name: string]: unknown };

/** Sends a request to a sandbox with its own key. */
export async function get(
  sandbox: Sandbox,
  path: string,
  headers: Record<string, string> = {},
): Promise<Got> {
  const response = await fetch(sandbox.url + path, { headers: { 'x-api-key': sandbox.apiKey, ...headers } });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parsed(text) };
}

function parsed(text: string): Page {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** Ids of the records of a page. */
export const idsOf = (got: Got, name = 'id'): number[] =>
  (got.body.data ?? []).map((record) => Number(record[name]));

/** Every object and value in a JSON value, with its path; positions in lists are written `[]`. */
export function* walk(value: unknown, path = ''): Generator<readonly [path: string, value: unknown]> {
  yield [path, value];
  if (Array.isArray(value)) for (const entry of value) yield* walk(entry, `${path}[]`);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value))
      yield* walk(member, path === '' ? name : `${path}.${name}`);
  }
}

/** The value at a path such as `odometer.km`; undefined if there is none. */
export const at = (value: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (inner, name) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined),
      value,
    );

/** The elements of a member; empty if it is not a list. */
export const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value : []);

/** A vehicle as the feed writes it, and its lots that are not in the archive feed. */
export interface Seen {
  readonly vehicle: Json;
  readonly lots: readonly Json[];
}

/** Every vehicle in the feed of a world, parsed from its JSON. */
export function seenIn(world: World, pricesHistory = false): Seen[] {
  const archived = new Set(world.archivedLotIds());
  return world.activeIds().map((id) => {
    const vehicle: Json = JSON.parse(world.vehicleJson(id, { pricesHistory }) ?? '');
    return { vehicle, lots: listOf(vehicle.lots).filter((lot) => !archived.has(Number(lot.id))) };
  });
}
