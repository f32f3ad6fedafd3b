import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './package-root.js';

/** Version of lotlake, such as `0.1.0`. */
export const version = String(JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')).version);
