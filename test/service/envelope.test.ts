import { describe, expect, it } from 'vitest';
import { envelopeSchema } from '../../src/core/service/contract/envelope.js';

const links = { first: 'f', last: null, prev: null, next: 'http://service.example/api/cars?page=2' };

describe('the envelope of a page', () => {
  it.each([
    [
      'with totals',
      {
        links,
        meta: { current_page: 1, from: 1, last_page: 9, path: 'p', per_page: 50, to: 50, total: 420 },
      },
    ],
    ['with numbered links', { links, meta: { total: 1, links: [{ url: null, label: '1', active: true }] } }],
    ['of simple pagination', { links, meta: { current_page: 1, from: 1, path: 'p', per_page: 50, to: 50 } }],
    [
      'of an empty page',
      { links: { ...links, next: null }, meta: { current_page: 7, from: null, to: null, per_page: 50 } },
    ],
    ['of the scroll form', { scroll_id: 'abc', next_url: 'https://service.example/scroll?id=abc' }],
    ['at the end of a scroll', { scroll_id: null, next_url: '' }],
    ['with members that nobody knows', { links, meta: { total: 3, took: 12 }, debug: {} }],
    ['that is missing', {}],
    ['that is null', { links: null, meta: null }],
    ['of an error', { error: 'search backend unavailable' }],
  ])('may be one %s', (_, envelope) => {
    expect(envelopeSchema.safeParse(envelope)).toMatchObject({ success: true, data: envelope });
  });

  it('may give its page size as a text', () => {
    expect(envelopeSchema.parse({ meta: { per_page: '50' } }).meta?.per_page).toBe(50);
  });

  it.each([
    ['a total that is a text', { meta: { total: 'many' } }],
    ['a total below zero', { meta: { total: -1 } }],
    ['a last page with a fraction', { meta: { last_page: 1.5 } }],
    ['a next link that is a number', { links: { next: 2 } }],
    ['links that are a list', { links: [] }],
    ['a page size that is a word', { meta: { per_page: 'all' } }],
  ])('is refused with %s', (_, envelope) => {
    expect(envelopeSchema.safeParse(envelope).success).toBe(false);
  });
});
