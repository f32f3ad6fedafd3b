import { createHash } from 'node:crypto';
import { type StreamName, streams } from '../streams.js';
import { walkContract } from './node.js';

/** Fingerprint of a contract. Pages that were checked against another contract are checked again. */
export function contractFingerprint(stream: StreamName): string {
  const nodes = [...walkContract(streams[stream].contract)].map(
    (node) => `${node.path} ${node.accepts} ${node.duckdb} ${node.lexical} ${node.required}`,
  );
  return createHash('sha256').update(nodes.join('\n')).digest('hex').slice(0, 16);
}
