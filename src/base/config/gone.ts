import { load } from 'js-yaml';
import { z } from 'zod';
import { packageFile } from './package-root.js';

const sentences = z.record(z.string(), z.string());

/** What answers the question of a mart that an earlier lotlake had; undefined for any other name. */
export const insteadOf = (name: string): string | undefined =>
  sentences.parse(load(packageFile('sql/models/gone.yml')))[name.toLowerCase()];
