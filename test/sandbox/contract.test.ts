import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { contractOf } from '../../src/core/service/contract/node.js';
import { schemas } from '../../src/core/service/contract/records.js';
import { createWorld } from '../../src/sandbox/index.js';
import { recordsOf } from '../served.js';
import { walk } from './support.js';

const world = createWorld({ vehicles: 1500 });
const vehicles = recordsOf(world);
const archived = world.archivedLotIds().map((id) => world.archivedLot(id));
const statistics = world.statistics();

/** Paths that a contract describes; positions in lists are written `[]`. */
function pathsOf(schema: z.core.$ZodType): { known: Set<string>; opaque: Set<string> } {
  const [known, opaque] = [new Set<string>(), new Set<string>()];
  const visit = (node: ReturnType<typeof contractOf>): void => {
    known.add(node.path);
    if (node.opaque) opaque.add(node.path);
    for (const member of node.members.values()) visit(member);
    if (node.element !== undefined) visit(node.element);
  };
  visit(contractOf(schema));
  return { known, opaque };
}

function unknownPaths(schema: z.core.$ZodType, records: readonly unknown[]): string[] {
  const { known, opaque } = pathsOf(schema);
  const found = new Set(records.flatMap((record) => [...walk(record)].map(([path]) => path)));
  const inside = (path: string): boolean =>
    [...opaque].some((head) => path.startsWith(`${head}.`) || path.startsWith(`${head}[]`));
  return [...found].filter((path) => !known.has(path) && !path.endsWith('[]') && !inside(path));
}

describe.each([
  ['vehicles', schemas.vehicle, vehicles],
  ['archived lots', schemas.archived_lot, archived],
  ['statistics', schemas.statistic, statistics],
] as const)('records of %s', (_, schema, records) => {
  it('satisfy the contract', () => {
    expect(records.length).toBeGreaterThan(100);
    const misfits = records.flatMap((record) => schema.safeParse(record).error?.issues ?? []);
    expect(misfits).toEqual([]);
  });

  it('have no unknown member', () => {
    expect(unknownPaths(schema, records)).toEqual([]);
  });
});

describe('records of vehicles', () => {
  it('fill every member of the contract', () => {
    const found = new Set<string>();
    for (const [path, value] of vehicles.flatMap((record) => [...walk(record)])) {
      if (value !== null) found.add(path);
    }
    // The values of these paths are not documented.
    const empty = ['lots[].location.is_offsite', 'lots[].location.offsite', 'lots[].selling_branch.link'];
    const wanted = [...pathsOf(schemas.vehicle).known].filter((path) => path !== '' && !path.endsWith('[]'));
    expect(wanted.filter((path) => !found.has(path)).sort()).toEqual(empty);
  });
});
