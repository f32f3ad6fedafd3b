import type { Values } from './check.js';

/** Names of the parameters that stand in a path such as `/models/{manufacturer_id}[/{type}]`. */
export const namesInPath = (template: string): readonly string[] =>
  [...template.matchAll(/\{(\w+)\}/g)].map((found) => found[1] ?? '');

/** The path for some values, escaped; a part in brackets is left out where its value is. */
export function pathOf(template: string, values: Values): string {
  const shortened = template.replaceAll(/\[([^\]]*)\]/g, (_, part: string) =>
    namesInPath(part).every((name) => values[name] !== undefined) ? part : '',
  );
  return shortened.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
}
