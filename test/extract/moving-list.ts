import { setImmediate as turn } from 'node:timers/promises';
import { vi } from 'vitest';
import type { WalkResult } from '../../src/core/extract/plan.js';
import type { Client } from '../../src/core/service/client.js';
import { memorySink, type SeenPage, walked } from './support.js';

/** What happens to the list between two answers. */
export interface Churn {
  /** Positions of records that leave, taken modulo the length. */
  readonly leave: readonly number[];
  /** How many records with higher ids join at the end. */
  readonly join: number;
  /** Positions, taken modulo the length, before which a new record joins. */
  readonly enter?: readonly number[];
}

/** A list that moves while it is read, and how it is read. */
export interface Story {
  readonly size: number;
  readonly perPage: number;
  readonly concurrency: number;
  readonly totals: boolean;
  /** Whether every record of the start is known before the walk. */
  readonly known?: boolean;
  /** One entry for each answer, from the first. It applies before the answer. Nothing happens after the last entry. */
  readonly churn: readonly Churn[];
  /** Which of the waiting requests is answered next, as numbers taken modulo their count. */
  readonly order: readonly number[];
}

/** Distance between neighbouring ids at the start, so that others can join in between. */
export const STEP = 2 ** 20;

/** How a story ended. */
export interface Ending {
  readonly result: WalkResult;
  /** Ids that were in the list during the whole walk but on no page. */
  readonly missed: readonly number[];
  readonly pages: readonly SeenPage[];
}

interface Waiting {
  readonly page: number;
  readonly perPage: number;
  answer(body: string): void;
}

/**
 * Walks a list in memory that changes between answers. Requests in flight wait until the story picks one. Its page is
 * then cut from the current list. Each answer moves the clock by a second.
 */
export async function playStory(story: Story): Promise<Ending> {
  let ids = Array.from({ length: story.size }, (_, i) => (i + 1) * STEP);
  let next = (story.size + 1) * STEP;
  const steady = new Set(ids);
  const waiting: Waiting[] = [];
  const client: Client = {
    get: async (_path, query, consume) => {
      const body = await new Promise<string>((answer) =>
        waiting.push({ page: Number(query.page), perPage: Number(query.per_page), answer }),
      );
      const bytes = (async function* () {
        yield Buffer.from(body);
      })();
      return consume({ url: 'http://list.example', body: bytes });
    },
    close: async () => undefined,
  };
  const move = ({ leave, join, enter = [] }: Churn): void => {
    for (const place of leave) {
      const [gone] = ids.length > 0 ? ids.splice(place % ids.length, 1) : [];
      if (gone !== undefined) steady.delete(gone);
    }
    for (let i = 0; i < join; i++) {
      ids = [...ids, next];
      next += STEP;
    }
    for (const place of enter) {
      const at = place % Math.max(1, ids.length);
      const [low = 0, high = low + STEP] = [ids[at - 1], ids[at]];
      ids.splice(at, 0, Math.floor((low + high) / 2));
    }
  };
  const pageText = ({ page, perPage }: Waiting): string => {
    const data = ids.slice((page - 1) * perPage, page * perPage).map((id) => ({ id }));
    const lastPage = Math.max(1, Math.ceil(ids.length / perPage));
    const from = data.length === 0 ? null : (page - 1) * perPage + 1;
    const place = { current_page: page, per_page: perPage, from, to: from && from + data.length - 1 };
    const meta = story.totals ? { ...place, total: ids.length, last_page: lastPage } : place;
    return JSON.stringify({ data, links: { next: page < lastPage ? `?page=${page + 1}` : null }, meta });
  };

  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 10, 20) });
  try {
    const sink = memorySink();
    let ending: Ending | undefined;
    const { concurrency } = story;
    const known = [...steady];
    const isKnownBetween = (low: number, high: number): boolean => known.some((id) => id > low && id < high);
    const options = {
      client,
      path: '/cars',
      query: { per_page: story.perPage, simple_paginate: story.totals ? 0 : 1 },
      concurrency,
      ascending: true,
      sink,
      ...(story.known === true ? { isKnownBetween } : {}),
    };
    const walking = walked(options).then((result) => {
      const seen = new Set(sink.received.flatMap((page) => page.ids));
      ending = { result, missed: [...steady].filter((id) => !seen.has(id)), pages: sink.received };
    });
    for (let answers = 0; ; answers++) {
      await turn();
      if (ending !== undefined) return ending;
      const pick = (story.order[answers % story.order.length] ?? 0) % Math.max(1, waiting.length);
      const [chosen] = waiting.splice(pick, 1);
      if (chosen === undefined) {
        await walking;
        continue;
      }
      move(story.churn[answers] ?? { leave: [], join: 0 });
      vi.setSystemTime(Date.now() + 1000);
      chosen.answer(pageText(chosen));
    }
  } finally {
    vi.useRealTimers();
  }
}
