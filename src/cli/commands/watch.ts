import {
  carText,
  eventText,
  type Followed,
  type FollowedCar,
  follow,
  followedText,
  readFollowed,
} from '../../ask/query/followed.js';
import { snapshotFolder } from '../../ask/query/open-lake.js';
import { matchText, readWatched, type Watched, watchedText } from '../../ask/query/watched.js';
import { printable } from '../../base/config/printable.js';
import { command, textOf } from '../command.js';
import { wholeNumber } from '../option-values.js';
import { UsageError } from '../usage-error.js';
import { lookupOf } from './lookup.js';

/**
 * Tells what each watched search finds that it did not find the night before, what left, and what happened to the cars that are
 * followed; or follows a car from now on.
 */
export const watch = command({
  options: {
    name: { type: 'string', describe: 'a search; all by default, and the cars that are followed' },
    vin: { type: 'string', conflicts: 'lot', describe: 'follow the car of a VIN from now on' },
    lot: { type: 'string', describe: 'follow the car of a lot number from now on' },
    domain: { type: 'string', implies: 'lot', describe: 'source of the lot (1, 3 or 12)' },
    stop: { type: 'boolean', default: false, describe: 'follow the car no longer' },
    since: { type: 'string', describe: 'id of a snapshot to compare with, instead of the night before' },
  },
  async run({ name, vin, lot, domain, stop, since, config, print }, { signal }) {
    const isCar = vin !== undefined || lot !== undefined;
    if (stop && !isCar)
      throw new UsageError('--stop needs a car', 'name it with --vin or --lot; lotlake watch lists them');
    if (isCar && (name !== undefined || since !== undefined))
      throw new UsageError('a car is followed by itself', 'leave the search and --since out');
    if (isCar) {
      const car = carOf(vin, lot, domain);
      // Throws without a lake.
      snapshotFolder(config);
      const isChanged = follow(config, car, !stop);
      const [found] = await readFollowed(config, { cars: [car], signal });
      return print({ car: carText(car), followed: !stop, changed: isChanged, found: found ?? null }, () =>
        textOf([
          `${found === undefined ? carText(car) : printable(followedText(found))}: ${stop ? (isChanged ? 'not followed any more' : 'it was not followed') : 'followed'}`,
          !stop && found?.name === null && 'the lake has no such car yet; the night that brings it tells',
          !stop &&
            found !== undefined &&
            found.vehicle_ids.length > 1 &&
            `the lake has ${found.vehicle_ids.length} cars of it, all of which are followed`,
        ]),
      );
    }
    const searches = await readWatched(config, { name, since, signal });
    const cars = name === undefined ? await readFollowed(config, { since, signal }) : [];
    print({ searches, cars }, () =>
      searches.length + cars.length === 0
        ? 'nothing is watched: lotlake explore saves searches, and lotlake watch --vin follows a car'
        : [...searches.map(searchText), ...cars.map(carEvents)].join('\n\n'),
    );
  },
});

/** The car that the options name. Throws SERVICE_REQUEST_LIMIT for a VIN or number that the service would not take either. */
function carOf(vin: string | undefined, lot: string | undefined, domain: string | undefined): Followed {
  const domain_id = domain === undefined ? undefined : wholeNumber('the source', domain, 1, 999);
  const id = (vin ?? lot ?? '').trim().toUpperCase();
  lookupOf({ kind: vin === undefined ? 'lot' : 'vin', id, domain: domain_id });
  return vin === undefined ? { lot: id, ...(domain_id === undefined ? {} : { domain_id }) } : { vin: id };
}

const searchText = (watched: Watched): string =>
  [
    watchedText(watched),
    ...watched.entered_rows.map((row) => `  + ${printable(matchText(row))}`),
    ...watched.left_rows.map((row) => `  - ${printable(matchText(row))}`),
  ].join('\n');

function carEvents(car: FollowedCar): string {
  const { name, since, events } = car;
  const nothing =
    name === null
      ? 'the lake has no such car yet'
      : since === null
        ? 'this is its first night'
        : 'nothing new';
  return [
    `${printable(followedText(car))}: ${events.length === 0 ? nothing : ''}`.trimEnd(),
    ...events.map((event) => `  * ${printable(eventText(event))}`),
  ].join('\n');
}
