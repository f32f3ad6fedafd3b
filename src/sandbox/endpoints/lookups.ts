import {
  type Found,
  type FoundForm,
  findExternalId,
  findLot,
  findVehicle,
  findVin,
  foundJson,
} from '../lookup/find.js';
import { badRequest, notFound } from '../server/refusal.js';
import { pricesHistory } from './cars.js';
import { domainId, domainName, domainNamed, domainOf } from './domain.js';
import { endpoint, type Question } from './endpoint.js';
import { flag, integer, required, text, withDefault } from './parameter.js';

/** `{data: Vehicle}`; throws a 404 where nothing was found. */
function answerWith({ world }: Question, found: Found | undefined, what: string, form: FoundForm): string {
  if (found === undefined) throw notFound(what);
  return `{"data":${foundJson(world, found, form)}}`;
}

/** `/cars/{car_id}`: a vehicle, also when archived lately. */
export const car = endpoint({
  path: '/cars/{car_id}',
  what: 'One vehicle as {"data": Vehicle}, for about a month after it was archived; reports of active listings only.',
  parameters: { car_id: required(integer('id of the vehicle'), 0), ...pricesHistory },
  answer: (question, { car_id: id, prices_history: withPrices }) => {
    const found = findVehicle(question.world, id, question.access.domains);
    return answerWith(question, found, 'vehicle', { shape: 'detail', withPrices });
  },
});

/** `/listing/{domain_id}/{listing_id}`: the vehicle of a listing with the reports of exactly that listing. */
export const listing = endpoint({
  path: '/listing/{domain_id}/{listing_id}',
  what: 'The vehicle of a listing as {"data": Vehicle}, with the reports of exactly that listing, also while archived.',
  parameters: {
    domain_id: required(domainId('source of the listing'), 0),
    listing_id: required(text('number of the lot on its source'), ''),
    ...pricesHistory,
  },
  answer: (question, { domain_id: id, listing_id: number, prices_history: withPrices }) => {
    const found = findLot(question.world, number, [domainOf(id, question.access)]);
    return answerWith(question, found, 'listing', { shape: 'detail', withPrices, ofLot: true });
  },
});

/** `/search-vin/{vin}`. */
export const searchVin = endpoint({
  path: '/search-vin/{vin}',
  what: 'The vehicle of a VIN as {"data": Vehicle}; of several the newest, active ones first.',
  parameters: { vin: required(text('VIN, in any case'), ''), ...pricesHistory },
  answer: (question, { vin, prices_history: withPrices }) => {
    const found = findVin(question.world, vin, question.access.domains);
    return answerWith(question, found, 'vehicle', { shape: 'feed', withPrices });
  },
});

/** `/search-lot/{lot}[/{domain}]`. */
export const searchLot = endpoint({
  path: '/search-lot/{lot}[/{domain}]',
  what: 'The vehicle that holds a lot as {"data": Vehicle}, also while the lot is archived.',
  parameters: {
    lot: required(text('number of the lot on its source'), ''),
    domain: domainName,
    search_by_id: withDefault(flag('1 takes lot for the external_id that source 1 gave it'), false),
    ...pricesHistory,
  },
  answer: (question, values) => {
    const form = { shape: 'feed', withPrices: values.prices_history } as const;
    const { world, access } = question;
    const domains = values.domain === undefined ? access.domains : [domainNamed(values.domain, access)];
    if (!values.search_by_id) return answerWith(question, findLot(world, values.lot, domains), 'lot', form);
    if (values.domain !== undefined && !domains.includes(1)) {
      throw badRequest('search_by_id', 'The search_by_id is for iaai_com only.');
    }
    const found = domains.includes(1) ? findExternalId(world, values.lot) : undefined;
    return answerWith(question, found, 'lot', form);
  },
});
