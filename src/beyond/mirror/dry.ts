import { type Listed, noRequests, type ObjectStore, tagOf, type Versioned } from './store.js';

/** An object that was written or removed in a dry run. Files have no body, because nothing reads them. */
type Change = (Listed & { readonly body?: Buffer }) | 'removed';

/**
 * A store that reads from another one and keeps in memory what is written, so that a dry run does everything but send. It
 * counts the requests that would be sent.
 */
export function dryStore(store: ObjectStore, now: () => Date): ObjectStore {
  const changes = new Map<string, Change>();
  const own = noRequests();
  const put = (name: string, body: Buffer): string => {
    const tag = tagOf(body);
    own.put++;
    own.bytes += body.length;
    changes.set(name, { bytes: body.length, modified: now(), tag, body });
    return tag;
  };
  const read = async (name: string): Promise<Versioned | undefined> => {
    const change = changes.get(name);
    if (change === undefined) return store.read(name);
    own.get++;
    return change === 'removed' || change.body === undefined
      ? undefined
      : { body: change.body, tag: change.tag };
  };
  return {
    place: store.place,
    concurrency: store.concurrency,
    signal: store.signal,
    get requests() {
      const { put, get, list, remove, bytes } = store.requests;
      return {
        put: put + own.put,
        get: get + own.get,
        list: list + own.list,
        remove: remove + own.remove,
        bytes: bytes + own.bytes,
      };
    },
    async list(below) {
      const listed = await store.list(below);
      for (const [name, change] of changes) {
        if (!name.startsWith(below)) continue;
        if (change === 'removed') listed.delete(name);
        else listed.set(name, change);
      }
      return listed;
    },
    read,
    fetch: (name, path) => store.fetch(name, path),
    async sendFile(name, _path, { bytes }) {
      own.put++;
      own.bytes += bytes;
      changes.set(name, { bytes, modified: now(), tag: '' });
    },
    async send(name, body) {
      put(name, Buffer.from(body));
    },
    async replace(name, text, tag) {
      const found = await read(name);
      if (found?.tag !== tag) {
        own.put++;
        own.bytes += Buffer.byteLength(text);
        return undefined;
      }
      // A service compares by itself.
      own.get--;
      return put(name, Buffer.from(text));
    },
    async remove(names) {
      own.remove++;
      for (const name of names) changes.set(name, 'removed');
    },
  };
}
