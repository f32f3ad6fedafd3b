import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import type { Mutation } from './mutations.js';

/** How the service changes the answers that a rule applies to. */
export const ruleSchema = z.strictObject({
  path: z.string().default('/cars').describe('Path that the rule applies to.'),
  page: z
    .union([z.number(), z.array(z.number())])
    .optional()
    .describe('Page or pages that the rule applies to; all by default.'),
  probe: z
    .boolean()
    .default(false)
    .describe('Whether the rule applies to requests for one record, which read the total.'),
  after: z.number().default(0).describe('Number of such requests that are answered correctly first.'),
  times: z.number().optional().describe('Number of requests that are changed then; all by default.'),
  keep: z.number().optional().describe('Number of records kept on the page; its meta stays unchanged.'),
  of: z.number().optional().describe('Page whose records replace those of the requested page.'),
  shown: z.number().optional().describe('Number of records kept; from and to agree with it.'),
  ids: z
    .array(z.number())
    .optional()
    .describe('Ids of the records that replace those of the requested page.'),
  meta: z
    .record(z.string(), z.unknown())
    .default({})
    .describe('Changed members of meta; null is sent as null, "-" removes the member.'),
  next: z.string().nullable().optional().describe('Link to the next page; null for none.'),
  links: z.boolean().default(true).describe('Whether the page has links.'),
  unlike: z.boolean().default(false).describe('Whether the page differs by some bytes at every request.'),
  poison: z
    .union([z.number(), z.array(z.number())])
    .optional()
    .describe(
      'Ids of records that cannot be served: the rule applies to every request for a page with one of them.',
    ),
  cut: z
    .boolean()
    .default(false)
    .describe('Whether the body breaks off in its middle, and the connection with it.'),
  mark: z.boolean().default(false).describe('Whether a byte order mark stands before the body.'),
  gzip: z.boolean().default(false).describe('Whether the body is gzipped, without a header that says so.'),
  numbered: z
    .boolean()
    .default(false)
    .describe('Whether the list is an object with numbers as names, with a gap.'),
  members: z
    .record(z.string(), z.string())
    .default({})
    .describe(
      'JSON texts of further members of each lot; that of id takes the place of the id of the vehicle.',
    ),
  status: z.number().optional(),
  headers: z.record(z.string(), z.string()).default({}),
  body: z.string().optional().describe('Text that replaces the body.'),
  fill: z
    .string()
    .optional()
    .describe('Text that is sent instead of the records until the client disconnects.'),
  pad: z.number().optional().describe('How often the text of the body is repeated.'),
  drip: z
    .boolean()
    .default(false)
    .describe('Whether the body is an endless stream of one byte every fifth of a second.'),
});

type Rule = z.output<typeof ruleSchema>;

/** A service whose list of vehicles is changed by rules. */
export interface HostileService {
  readonly url: string;
  /** Requested pages of vehicles. */
  readonly requested: readonly number[];
  /** Serves these ids by these rules from now on; `mutate` may change a page that no rule applies to. */
  become(
    ids: readonly number[],
    totals: boolean,
    rules: readonly Rule[],
    mutate?: (page: number) => Mutation | undefined,
  ): void;
  close(): Promise<void>;
}

const lot = (id: number) => ({
  id: id * 10,
  lot: String(id * 100),
  domain: { id: 3, name: 'copart_com' },
  status: { id: 3, name: 'sale' },
  updated_at: '2026-11-01T00:00:00.000000Z',
});

const vehicle = (id: number): object => ({
  id,
  year: 2020,
  vin: `VIN${String(id).padStart(14, '0')}`,
  lots: [lot(id)],
});

/** Starts the service on 127.0.0.1. */
export async function startService(): Promise<HostileService> {
  let ids: readonly number[] = [];
  let totals = true;
  let rules: readonly Rule[] = [];
  let mutate: (page: number) => Mutation | undefined = () => undefined;
  let counts = new Map<Rule, number>();
  let requested: number[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://127.0.0.1');
    response.sendDate = false;
    const path = url.pathname.replace(/^\/api/, '');
    const page = Number(url.searchParams.get('page') ?? 1);
    const size = Number(url.searchParams.get('per_page') ?? 20);
    if (path === '/cars') requested.push(page);
    const rule = rules.find((candidate) => {
      if (candidate.path !== path) return false;
      if (candidate.poison === undefined && candidate.probe !== (size === 1)) return false;
      const asked = ids.slice((page - 1) * size, page * size);
      if (candidate.poison !== undefined && ![candidate.poison].flat().some((id) => asked.includes(id)))
        return false;
      if (candidate.page !== undefined && ![candidate.page].flat().includes(page)) return false;
      const count = (counts.get(candidate) ?? 0) + 1;
      counts.set(candidate, count);
      return (
        count > candidate.after && count <= candidate.after + (candidate.times ?? Number.POSITIVE_INFINITY)
      );
    });
    if (path !== '/cars' && rule === undefined) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"message":"not here"}');
      return;
    }
    const mutation = rule === undefined && size > 1 ? mutate(page) : undefined;
    if (mutation !== undefined) {
      void sendMutated(response, mutation(pageOf(ids, { page, size, totals }, undefined)));
      return;
    }
    void send(response, rule, () => pageOf(ids, { page, size, totals }, rule));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}/api`,
    get requested() {
      return requested;
    },
    become: (...given) => {
      [ids, totals, rules, mutate = () => undefined] = given;
      counts = new Map();
      requested = [];
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

interface PageRequest {
  readonly page: number;
  readonly size: number;
  readonly totals: boolean;
}

let unlike = 0;

/** A page as the real service sends it, changed by the rule. */
function pageOf(ids: readonly number[], { page, size, totals }: PageRequest, rule: Rule | undefined): string {
  const last = Math.max(1, Math.ceil(ids.length / size));
  const cut = (number: number): number[] => ids.slice((number - 1) * size, number * size);
  const own = cut(page).slice(0, rule?.shown);
  const shown = rule?.ids ?? (rule?.of === undefined ? own : cut(rule.of));
  const from = own.length === 0 ? null : (page - 1) * size + 1;
  const meta = {
    current_page: page,
    from,
    to: from === null ? null : from + own.length - 1,
    per_page: size,
    ...(totals ? { total: ids.length, last_page: last } : {}),
    ...rule?.meta,
  };
  const next = page < last ? `http://service.example/api/cars?page=${page + 1}` : null;
  const records = shown.slice(0, rule?.keep).map(vehicle);
  const data = rule?.unlike === true ? records.map((record) => ({ ...record, seen: unlike++ })) : records;
  const links = { next: rule?.next === undefined ? next : rule.next };
  const list = rule?.numbered === true ? Object.fromEntries(data.map((record, i) => [i * 2, record])) : data;
  const text = JSON.stringify({
    data: list,
    ...(rule?.links === false ? {} : { links }),
    meta: without(meta),
  });
  return Object.entries(rule?.members ?? {}).reduce(
    (changed, [name, json]) =>
      name === 'id'
        ? changed.replaceAll(/\{"id":\d+,"year"/g, `{"id":${json},"year"`)
        : changed.replaceAll('"domain":', `"${name}":${json},"domain":`),
    text,
  );
}

const without = (meta: object): object =>
  Object.fromEntries(Object.entries(meta).filter(([, value]) => value !== '-'));

async function send(response: ServerResponse, rule: Rule | undefined, page: () => string): Promise<void> {
  const text = rule?.body === undefined ? page() : rule.body.repeat(rule.pad ?? 1);
  response.writeHead(rule?.status ?? 200, { 'content-type': 'application/json', ...rule?.headers });
  const isThere = (): boolean => !response.destroyed && response.writable;
  if (rule?.drip === true) {
    for (let i = 0; isThere(); i++) {
      response.write(text[i] ?? ' ');
      await sleep(200);
    }
    return;
  }
  if (rule?.fill !== undefined) {
    const chunk = rule.fill.repeat(Math.ceil(65_536 / rule.fill.length));
    response.write('{"data":[');
    while (isThere())
      if (!response.write(chunk)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    return;
  }
  if (rule?.cut === true) {
    response.write(text.slice(0, text.length / 2), () => response.destroy());
    return;
  }
  const marked = rule?.mark === true ? `\ufeff${text}` : text;
  response.end(rule?.gzip === true ? gzipSync(marked) : marked);
}

async function sendMutated(response: ServerResponse, sent: ReturnType<Mutation>): Promise<void> {
  const { body, status = 200, headers = {}, delay = 0, ending = 'whole' } = sent;
  await sleep(delay);
  const length = ending === 'whole' ? {} : { 'content-length': String(body.length + 1000) };
  response.writeHead(status, { 'content-type': 'application/json', ...length, ...headers });
  if (ending === 'whole') response.end(body);
  else response.write(body, () => ending === 'reset' && response.destroy());
}
