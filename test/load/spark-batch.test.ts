import { describe, expect, it } from 'vitest';
import { lakeTables } from '../../src/lake/tables.js';
import { fieldsOfForms, type SparkBatch, sparkSteps } from '../../src/load/spark-batch.js';
import { textsOf } from '../../src/load/types.js';
import * as Kind from '../../src/service/contract/kinds.js';
import { walkContract } from '../../src/service/contract/node.js';
import { streamNames, streams } from '../../src/service/streams.js';

const batch = (given: Partial<SparkBatch>): SparkBatch => ({
  ...{ stream: streams.cars, learned: [], texts: new Set() },
  ...{ folders: ['/out/landing/cars/a', '/out/landing/cars/b{1}'], plan: '/out/plan', target: '/out/t' },
  ...given,
});
const textOf = (given: Partial<SparkBatch>): string =>
  sparkSteps(batch(given))
    .flatMap(({ statements = [] }) => statements)
    .join(';\n');

describe('a field that comes in several forms', () => {
  it.each(streamNames)('shares its name with no other value, which Spark would mark too: %s', (name) => {
    const { contract } = streams[name];
    const forms = fieldsOfForms(contract);
    // A text inside such a field is read through the field.
    const isInside = (path: string): boolean => forms.some((form) => path.split(/[.[]/).includes(form));
    const others = [...walkContract(contract)].filter(
      ({ duckdb, path }) => !['JSON', 'STRUCT', 'LIST'].includes(duckdb) && !isInside(path),
    );
    expect(others.filter((other) => forms.includes(other.name)).map(({ path }) => path)).toEqual([]);
  });
});

describe('the steps for Spark', () => {
  it.each(streamNames)('stage every table of %s', (stream) => {
    const names = sparkSteps(batch({ stream: streams[stream] })).map(({ name }) => name);
    const tables = lakeTables().filter((table) => table.stream === stream);
    expect(names).toEqual(expect.arrayContaining(tables.map(({ name }) => `the rows of ${name}`)));
  });

  it('read the pages of the passes, whatever the names of their folders', () => {
    expect(textOf({})).toContain('text."file:/out/landing/cars/{a,b\\{1\\}}/?*.ndjson.gz"');
  });

  it('hold no path that spark-sql would read as a comment', () => {
    expect(textOf({})).not.toContain('/*.');
  });

  it('name folders without encoding, since Spark does not decode them', () => {
    const text = textOf({ plan: '/out put/plan[1]', target: '/out put/t' });
    expect(text).toContain(String.raw`json options (path 'file:/out put/plan\\[1\\]')`);
    expect(text).toContain("location 'file:/out put/t/vehicles'");
  });

  it('hold no name that spark-sql would read as the end of a statement', () => {
    const text = textOf({ learned: ['a;b', "it's", 'c--d'] });
    expect(text.replaceAll(/'(\\.|[^'\\])*'|"[^"]*"/gs, '')).not.toMatch(/a;b|it's|c--d/);
  });

  it('keep learned members, and texts as texts', () => {
    const learned = ['lots[].grade note', 'lots[].location.region', 'lots[].seller.rating'];
    const text = textOf({ learned, texts: new Set(['lots[].location.region']) });
    expect(text).toContain('"grade note": string');
    expect(text).toContain(`'"grade note":' || json_text("grade note")`);
    expect(text).toContain(`'"location.region":' || json_of_text("location"."region")`);
    expect(text).toContain(`json_text(get_json_object(json_text("seller"), '$.rating'))`);
  });
});

describe('a learned member', () => {
  const drift = (path: string, kinds: number) => ({ path, kinds });

  it('is a text if all its values are texts', () => {
    const { texts, mixed } = textsOf([
      drift('a', Kind.TEXT | Kind.NULL),
      drift('a', Kind.TIMESTAMP_TEXT),
      drift('b', Kind.INTEGER),
    ]);
    expect([[...texts], [...mixed]]).toEqual([['a'], []]);
  });

  it('is mixed if pages disagree', () => {
    const { mixed } = textsOf([drift('a', Kind.TEXT), drift('a', Kind.OBJECT)]);
    expect([...mixed]).toEqual(['a']);
  });
});
