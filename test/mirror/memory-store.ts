import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { type Content, noRequests, type ObjectStore, tagOf } from '../../src/beyond/mirror/store.js';

interface Stored {
  readonly body: Buffer;
  readonly modified: Date;
  readonly tag: string;
}

/** An object store in memory that behaves like S3: whole objects, conditional writes, listings by prefix. */
export interface MemoryStore extends ObjectStore {
  readonly objects: Map<string, Stored>;
  /** Names of the objects that were sent, in order. */
  readonly sent: string[];
  /** Called before each call, with its name. If it throws, the call fails. */
  before: (call: string) => void | Promise<void>;
  /** Called after each change. */
  after: () => void;
  now: Date;
}

export const contentOf = (body: Buffer): Content => ({
  bytes: body.length,
  sha256: createHash('sha256').update(body).digest('hex'),
});

export function memoryStore(objects = new Map<string, Stored>()): MemoryStore {
  const requests = noRequests();
  const store: MemoryStore = {
    ...{ place: 's3://bucket/lake', concurrency: 2, signal: new AbortController().signal },
    ...{ objects, requests },
    sent: [],
    before: () => undefined,
    after: () => undefined,
    now: new Date('2026-11-20T02:00:00Z'),
    async list(below) {
      await store.before(`list ${below}`);
      const found = [...objects].filter(([name]) => name.startsWith(below));
      requests.list += Math.max(1, Math.ceil(found.length / 1000));
      return new Map(
        found.map(([name, { body, modified, tag }]) => [name, { bytes: body.length, modified, tag }]),
      );
    },
    async read(name) {
      await store.before(`read ${name}`);
      requests.get++;
      return objects.get(name);
    },
    async fetch(name, path) {
      await store.before(`fetch ${name}`);
      const body = objects.get(name)?.body;
      if (body === undefined) return undefined;
      writeFileSync(path, body);
      return contentOf(body).sha256;
    },
    async sendFile(name, path, content) {
      const body = readFileSync(path);
      if (contentOf(body).sha256 !== content.sha256) throw new Error(`${name} has another checksum`);
      await store.send(name, body);
    },
    async send(name, body) {
      await store.before(`send ${name}`);
      put(name, body);
    },
    async replace(name, text, tag) {
      await store.before(`replace ${name}`);
      const found = objects.get(name);
      if (found?.tag !== tag) {
        requests.put++;
        requests.bytes += Buffer.byteLength(text);
        requests.get++;
        // The answer to a first attempt may be lost.
        return found?.body.toString() === text ? found.tag : undefined;
      }
      put(name, text);
      return objects.get(name)?.tag;
    },
    async remove(names) {
      await store.before(`remove ${names.join(' ')}`);
      requests.remove++;
      for (const name of names) objects.delete(name);
      store.after();
    },
  };
  const put = (name: string, body: string | Uint8Array): void => {
    requests.put++;
    requests.bytes += Buffer.byteLength(body);
    objects.set(name, { body: Buffer.from(body), modified: store.now, tag: tagOf(body) });
    store.sent.push(name);
    store.after();
  };
  return store;
}
