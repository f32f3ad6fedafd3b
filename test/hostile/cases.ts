import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';
import { z } from 'zod';

const ROOT = dirname(fileURLToPath(import.meta.url));

/** A case with the name of its file, such as `query/copy-behind-a-comment`. */
export type Named<T> = T & { readonly name: string };

/** All cases below a folder of this suite, one per file. Throws for a file that does not fit the schema. */
export function readCases<T extends z.ZodType<object>>(folder: string, schema: T): Named<z.output<T>>[] {
  const top = join(ROOT, folder);
  return readdirSync(top, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.yml'))
    .sort()
    .map((file) => {
      const name = file
        .split(sep)
        .join('/')
        .replace(/\.yml$/, '');
      const parsed = schema.safeParse(load(readFileSync(join(top, file), 'utf8')));
      if (!parsed.success) throw new Error(`${file}: ${z.prettifyError(parsed.error)}`);
      return { ...(parsed.data as z.output<T>), name };
    });
}
