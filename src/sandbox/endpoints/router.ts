import type { Endpoint } from './endpoint.js';
import { endpoints } from './registry.js';

/** An endpoint and the values that stand in the path that was asked for. */
export interface Match {
  readonly endpoint: Endpoint;
  readonly path: ReadonlyMap<string, string>;
}

interface Pattern {
  readonly endpoint: Endpoint;
  readonly pattern: RegExp;
}

const patterns: readonly Pattern[] = endpoints.map((endpoint) => ({
  endpoint,
  pattern: patternOf(endpoint.path),
}));

/** `/a/{b}[/{c}]` as an expression with named groups. */
function patternOf(path: string): RegExp {
  const text = path
    .replaceAll('[', '(?:')
    .replaceAll(']', ')?')
    .replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
  return new RegExp(`^${text}/?$`);
}

/** The endpoint of a path below the base URL, or undefined. */
export function matchOf(path: string): Match | undefined {
  for (const { endpoint, pattern } of patterns) {
    const found = pattern.exec(path);
    if (found === null) continue;
    const values = Object.entries(found.groups ?? {}).filter(([, text]) => text !== undefined);
    return { endpoint, path: new Map(values.map(([name, text]) => [name, decoded(text)])) };
  }
  return undefined;
}

/** The text of a path segment; one that is not well encoded is taken as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
