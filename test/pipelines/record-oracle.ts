/**
 * Derives from a record which value must be in which table, row and column of the lake. It knows the naming rules of
 * the lake (a nested object becomes a prefix, the row's own id is `<entity>_id`), but uses none of the code that applies
 * them.
 */

/** A value of a record and its place in the lake. */
export interface Expectation {
  readonly path: string;
  readonly table: string;
  readonly key: Readonly<Record<string, unknown>>;
  readonly column: string;
  readonly value: unknown;
}

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** The elements of a list; empty for any other value. */
const elementsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Columns that keep a member whole. */
const WHOLE = new Set(['lots.details', 'lots.location_offsite', 'lots.location_is_offsite']);
/** Lists of texts that stay lists; a single text becomes a list of one. */
const LISTS =
  /^(checked_items\.(issue_type_keys|evidence_media_ids)|history_reports\.coverage_section_keys|lots\.tags|lot_images\.(small|normal|big|downloaded|exterior|interior))$/;

/** Expectations of a vehicle record. */
export function expectVehicle(record: Members): Expectation[] {
  const found: Expectation[] = [];
  const key = { vehicle_id: record.id };
  const lists: Record<string, (entry: Members, position: number) => void> = {
    lots: (lot) => expectLot(found, lot, record.id),
    listings: (listing, position) =>
      flat(found, 'listings', { ...key, position }, listing, '', `listings[${position - 1}]`, ''),
    inspections: (report) => expectReport(found, report, 'inspections', 'inspection'),
    vehicle_history_reports: (report) => expectReport(found, report, 'history_reports', 'history'),
  };
  flat(found, 'vehicles', key, record, '', '', 'vehicle', (name, value, path) => {
    const handler = lists[name];
    if (handler === undefined) return false;
    for (const [i, entry] of elementsOf(value).entries()) if (isObject(entry)) handler(entry, i + 1);
    return path !== undefined;
  });
  return found;
}

function expectLot(found: Expectation[], lot: Members, vehicleId: unknown): void {
  const key = { lot_id: lot.id };
  const path = `lots[id=${String(lot.id)}]`;
  found.push({ path, table: 'lots', key, column: 'vehicle_id', value: vehicleId });
  flat(found, 'lots', key, lot, '', path, 'lot', (name, value, at) => {
    if (name === 'prices') {
      for (const [i, price] of elementsOf(value).entries()) {
        if (isObject(price))
          flat(found, 'prices', { price_id: String(price.id) }, price, '', `${at}[${i}]`, 'price');
      }
      return true;
    }
    if (name === 'images') {
      if (isObject(value)) flat(found, 'lot_images', { lot_id: lot.id }, value, '', at, 'images');
      return true;
    }
    if ((name === 'seller' || name === 'seller_type' || name === 'airbags') && typeof value === 'string') {
      found.push({ path: at, table: 'lots', key, column: `${name}_name`, value });
      return true;
    }
    return false;
  });
}

/** Lists of a report, with their tables and the names of their entries' own ids. */
const REPORT_LISTS: Readonly<Record<string, readonly [table: string, entity: string]>> = {
  participants: ['inspection_participants', 'participant'],
  source_claims: ['inspection_claims', 'claim'],
  inspection_blocks: ['inspection_blocks', 'block'],
  checked_items: ['checked_items', 'checked_item'],
  diagnostic_errors: ['diagnostic_errors', 'diagnostic_error'],
  checks: ['checks', 'check'],
  events: ['events', 'event'],
  media: ['report_media', 'media'],
  files: ['report_media', 'media'],
  limitations: ['report_limitations', 'limitation'],
};

/** Lists inside the entries of a report's lists. */
const NESTED_LISTS: typeof REPORT_LISTS = {
  measurements: ['measurements', 'measurement'],
  details: ['event_details', 'detail'],
};

function expectReport(found: Expectation[], report: Members, table: string, type: string): void {
  const ref = isObject(report.vehicle_ref) ? report.vehicle_ref : {};
  const key = { domain_id: ref.domain_id, listing_id: ref.listing_id, report_id: report.report_id };
  const path = `${table}[${String(report.report_id)}]`;
  flat(found, table, key, report, '', path, table, (name, value, at) => {
    const list = REPORT_LISTS[name];
    if (list === undefined) return name === 'report_id';
    const [child, entity] = list;
    const kind = child === 'report_media' ? { media_type: name === 'files' ? 'file' : 'media' } : {};
    const typed = child.startsWith('report_') ? { report_type: type, ...kind } : {};
    for (const [i, entry] of elementsOf(value).entries()) {
      if (!isObject(entry)) continue;
      const own = { ...key, ...typed, position: i + 1 };
      flat(found, child, own, entry, '', `${at}[${i}]`, entity, (inner, nested, place) => {
        const nestedList = NESTED_LISTS[inner];
        if (nestedList === undefined) return false;
        for (const [j, leaf] of elementsOf(nested).entries()) {
          const leafKey = { ...key, [`${entity}_position`]: i + 1, position: j + 1 };
          if (isObject(leaf)) flat(found, nestedList[0], leafKey, leaf, '', `${place}[${j}]`, nestedList[1]);
        }
        return true;
      });
    }
    return true;
  });
}

/** Expectations of an archive record, in its newer and its older form. */
export function expectArchivedLot(record: Members): Expectation[] {
  const found: Expectation[] = [];
  const key = { lot_id: record.lot_id };
  flat(found, 'archived_lots', key, record, '', '', 'archived_lots', (name, value, path) => {
    if (name === 'car_id') {
      found.push({ path, table: 'archived_lots', key, column: 'vehicle_id', value });
      return true;
    }
    if (!['bid', 'buy_now', 'sale_date', 'final_bid'].includes(name) || !isObject(value)) return false;
    found.push({ path, table: 'archived_lots', key, column: name, value: value.value });
    found.push({ path, table: 'archived_lots', key, column: `${name}_updated_at`, value: value.updated_at });
    return true;
  });
  return found;
}

function flat(
  found: Expectation[],
  table: string,
  key: Expectation['key'],
  object: Members,
  prefix: string,
  path: string,
  entity: string,
  special: (name: string, value: unknown, path: string) => boolean = () => false,
): void {
  for (const [name, value] of Object.entries(object)) {
    const at = path === '' ? name : `${path}.${name}`;
    if (special(name, value, at)) continue;
    const column = name === 'id' && prefix === '' ? `${entity}_id` : `${prefix}${name}`;
    if (WHOLE.has(`${table}.${column}`)) found.push({ path: at, table, key, column, value });
    else if (LISTS.test(`${table}.${column}`))
      found.push({
        path: at,
        table,
        key,
        column,
        value: value === null || Array.isArray(value) ? value : [value],
      });
    else if (column === 'vehicle_ref_domain_id' || column === 'vehicle_ref_listing_id') continue;
    else if (isObject(value)) flat(found, table, key, value, `${column}_`, at, entity);
    else if (value === null) continue;
    else found.push({ path: at, table, key, column, value });
  }
}

/** Expectations that the rows of a lake do not meet, with the values found instead. */
export function unmet(
  expectations: readonly Expectation[],
  rows: ReadonlyMap<string, readonly Readonly<Record<string, unknown>>[]>,
): (Expectation & { readonly found: unknown })[] {
  const index = new Map<string, Readonly<Record<string, unknown>>>();
  const indexed = new Set<string>();
  const name = (table: string, key: Readonly<Record<string, unknown>>, columns: readonly string[]): string =>
    `${table} ${columns.map((column) => `${column}=${String(key[column] ?? null)}`).join(' ')}`;
  return expectations.flatMap((expectation) => {
    const { table, key, column, value } = expectation;
    const columns = Object.keys(key).sort();
    const group = `${table} ${columns.join(' ')}`;
    if (!indexed.has(group)) {
      indexed.add(group);
      for (const row of rows.get(table) ?? []) index.set(name(table, row, columns), row);
    }
    const row = index.get(name(table, key, columns));
    if (row !== undefined && column in row && isSame(row[column], value)) return [];
    return [
      { ...expectation, found: row === undefined ? 'no row' : column in row ? row[column] : 'no column' },
    ];
  });
}

/**
 * Whether a stored value equals the value of the record. Numbers compare by value, instants by time, other values as
 * text.
 */
function isSame(stored: unknown, expected: unknown): boolean {
  if (expected === null || expected === undefined) return stored === null;
  if (stored === null || stored === undefined) return false;
  if (STORED_INSTANT.test(String(stored))) return instant(stored) === instant(expected);
  if (typeof expected === 'object') {
    const found = typeof stored === 'string' ? JSON.parse(stored) : stored;
    return canonical(found) === canonical(expected);
  }
  if (typeof stored === 'number' || typeof expected === 'number') return Number(stored) === Number(expected);
  if (typeof stored === 'boolean') return stored === expected;
  return String(stored) === String(expected);
}

/** How DuckDB writes a TIMESTAMPTZ in UTC. */
const STORED_INSTANT = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00$/;

function instant(value: unknown): number {
  // A day, month or year of a report means its start.
  if (/^\d{4}(-\d\d){0,2}$/.test(String(value))) return Date.parse(String(value));
  const text = String(value).replace(' ', 'T');
  return Date.parse(
    /([zZ]|[+-]\d\d(:?\d\d)?)$/.test(text) ? text.replace(/([+-]\d\d)$/, '$1:00') : `${text}Z`,
  );
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`)
      .join(',')}}`;
  }
  return JSON.stringify(value);
}
