import { type Endpoint, endpoints, namesInPath } from '../../core/service/endpoints.js';
import { requestsPerDay } from '../../core/service/limits.js';
import type { Parameters } from '../../core/service/parameter.js';
import { ADMIN_PATH, BASE_PATH } from './list-page.js';

const WIDTH = 110;
const NAME = 26;

const opening = [
  `Endpoints of the sandbox. All are GET below ${BASE_PATH} and answer JSON; the key goes into the header x-api-key.`,
  'Lists answer {"data": [...], "links": {...}, "meta": {...}}. With simple_paginate=1, which is the default of the key unless the sandbox was told otherwise, meta has no totals and links.next alone says whether a page follows. Links name another host and drop parameters: take only the page number from them.',
  `Errors have a JSON body with "message" or "error": 400 a parameter is wrong (the message names it), 401 the source is not enabled for the key, 403 the key is missing or wrong, 404 nothing found, 405 not a GET, 429 too many requests a second or a day (${requestsPerDay.demo} a day on Demo), 500 on request only.`,
];

const closing = [
  `Only the sandbox has these, outside ${BASE_PATH} and with the key; they count as no request of the service:`,
  `POST ${ADMIN_PATH}/clock\n    Moves the clock to {"clock": "2026-11-21T00:00:00Z"}; GET tells it.`,
  `GET ${ADMIN_PATH}/requests\n    Requests so far, and the highest number of them in any one second.`,
  'A request with the header x-sandbox-fault is answered badly on purpose; docs/change/sandbox.md lists the faults.',
];

/** A plain text list of all endpoints with their parameters, for someone who writes a client. */
export const endpointHelp = (): string =>
  [...opening.map((text) => wrapped(text, 0)), ...Object.values(endpoints).map(entryOf), ...closing]
    .join('\n\n')
    .concat('\n');

/** An endpoint with this many parameters of `/cars` or more lists only their names. */
const MANY = 10;

/** Parameters of an endpoint: those that are described with it, and the names of those that `/cars` describes. */
export function parametersOf({ path, parameters }: Endpoint) {
  const ofCars: Parameters = endpoints.cars.parameters;
  const entries = Object.entries(parameters);
  const common = entries.filter(([name, parameter]) => path !== '/cars' && parameter === ofCars[name]);
  const shared = common.length >= MANY ? common.map(([name]) => name) : [];
  const inPath = namesInPath(path);
  const described = entries
    .filter(([name]) => !shared.includes(name))
    .map(([name, { form, what }]) => ({
      name,
      form: `${form}${inPath.includes(name) ? ' (in the path)' : ''}`,
      what,
    }));
  return { described, shared };
}

function entryOf(endpoint: Endpoint): string {
  const { described, shared } = parametersOf(endpoint);
  const rows = described.map(({ name, form, what }) => row(name, `${form}: ${what}`));
  const named = shared.length === 0 ? [] : [row('as GET /cars', shared.join(', '))];
  return [`GET ${endpoint.path}`, `    ${wrapped(endpoint.what, 4)}`, ...rows, ...named].join('\n');
}

/** A name and its text beside it, or below it if the name is too long. */
function row(name: string, text: string): string {
  const head = `  ${name}`;
  const gap = head.length < NAME ? ' '.repeat(NAME - head.length) : `\n${' '.repeat(NAME)}`;
  return head + gap + wrapped(text, NAME);
}

/** A text wrapped at spaces. All lines but the first are indented. */
const wrapped = (text: string, indent: number): string =>
  text.replaceAll(new RegExp(`(.{1,${WIDTH - indent}})( |$)`, 'g'), `$1\n${' '.repeat(indent)}`).trimEnd();
