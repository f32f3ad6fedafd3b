import { markdownTable } from '../../core/model/dictionary.js';
import { type Endpoint, endpoints } from '../../core/service/endpoints.js';
import { parametersOf } from './help.js';
import { BASE_PATH } from './list-page.js';

/** Every endpoint with its parameters, as Markdown; the build writes it as docs/change/endpoints.md. */
export const endpointsPage = (): string =>
  [
    '# Endpoints',
    'Made by the build from `src/core/service/endpoints.ts`; `lotlake sandbox --endpoints` prints the same as text.',
    `All are GET below \`${BASE_PATH}\`. The service refuses a wrong value with 400 and names the parameter, and ignores a parameter that the endpoint does not have. A parameter without a default has no effect if it is left out.`,
    ...Object.values(endpoints).map(sectionOf),
  ]
    .join('\n\n')
    .concat('\n');

function sectionOf(endpoint: Endpoint): string {
  const { described, shared } = parametersOf(endpoint);
  const rows = described.map(({ name, form, what }) => [`\`${name}\``, form, what]);
  const parts = [
    rows.length === 0 ? '' : markdownTable([['parameter', 'valid', 'effect'], ...rows]),
    shared.length === 0 ? '' : `As for \`/cars\`: ${shared.map((name) => `\`${name}\``).join(', ')}.`,
  ].filter((part) => part !== '');
  const text = parts.length === 0 ? 'No parameters.' : parts.join('\n\n');
  return `## GET ${endpoint.path}\n\n${endpoint.what}\n\n${text}`;
}
