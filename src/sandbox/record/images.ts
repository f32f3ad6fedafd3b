import { named } from '../data/wording.js';
import type { Car } from '../world/car.js';
import { dateOf } from '../world/instants.js';
import type { LotLife } from '../world/lot-life.js';
import { lotId, lotNumber } from '../world/population.js';
import { below, between, chance, hex, type Rng } from '../world/random.js';
import templates from './templates.json' with { type: 'json' };

const STORE = 'https://photos.auction.example/v1/AUTH_svc.pdoc00001/ids-c-prod-lpp';
const COPIES = 'https://i.service.example';
const LISTINGS = 'https://photos.listing.example/carpicture/carpicture';
const MARK = 'wtmk=http://photos.listing.example/wt_mark/w_mark_04.png&wtmkg=SouthEast&wtmkw=1&wtmkh=1';

const idOfImages = (life: LotLife): number => lotId(life) + 3_000_000;

const copies = (count: number, { model, year, vin }: Car, life: LotLife): string[] => {
  const source = named('domain', life.domain).name.replace('_com', '');
  const path = [COPIES, source, slug(model.manufacturer.name), slug(model.name), year, lotNumber(life)].join(
    '/',
  );
  return Array.from({ length: count }, (_, place) => `${path}/${vin ?? 'novin'}-${place + 1}.webp`);
};

const slug = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-');

/** Images of sources 1 and 3: three sizes of each photograph. Some lots have frames of an outside view, too. */
export function auctionImages(rng: Rng, car: Car, life: LotLife) {
  const date = dateOf(life.start);
  const folder = `${STORE}/${date.slice(5, 7)}${date.slice(2, 4)}/`;
  const photos = Array.from({ length: between(rng, 5, 12) }, () => folder + hex(rng, 4));
  const large = photos.map((photo) => `${photo}_hrs.jpg`);
  const frames = chance(rng, 0.08) ? folder + hex(rng, 4) : null;
  const inside = chance(rng, 0.1) ? `${folder}${hex(rng, 4)}_O.jpeg` : null;
  const video = chance(rng, 0.3) ? `${folder}${hex(rng, 4)}_O.mp4` : null;
  const youtube = chance(rng, 0.02) ? hex(rng, 2).slice(0, 11) : null;
  return {
    id: idOfImages(life),
    small: chance(rng, 0.05) ? null : photos.map((photo) => `${photo}_thb.jpg`),
    normal: large,
    big: large,
    exterior: frames === null ? null : Array.from({ length: 48 }, (_, n) => `${frames}_frames_${n}.jpg`),
    interior: inside,
    video,
    video_youtube_id: youtube,
    external_panorama_url: chance(rng, 0.02) ? `https://pano.auction.example/${lotNumber(life)}` : null,
    downloaded: copies(chance(rng, 0.1) ? 0 : photos.length, car, life),
  };
}

/** Images of source 12: two sizes with long addresses, no small ones. */
export function listingImages(rng: Rng, car: Car, life: LotLife) {
  const lot = lotNumber(life);
  const path = `${LISTINGS}${below(rng, 10)}/pic${lot.slice(0, 4)}/${lot}_`;
  const stamp = dateOf(life.start).replaceAll('-', '');
  const photos = Array.from(
    { length: between(rng, 15, 21) },
    (_, place) => path + String(place + 1).padStart(3, '0'),
  );
  const size = (rh: number, cw: number) =>
    photos.map(
      (photo) => `${photo}.jpg?impolicy=heightRate&rh=${rh}&cw=${cw}&ch=${rh}&cg=Center&${MARK}&t=${stamp}`,
    );
  return {
    ...templates.images,
    id: idOfImages(life),
    normal: size(600, 800),
    big: size(1200, 2000),
    downloaded: copies(between(rng, 0, 4), car, life),
  };
}
