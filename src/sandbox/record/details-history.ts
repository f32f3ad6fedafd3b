import { regions } from '../data/korean.js';
import type { Car } from '../world/car.js';
import { dateOf, type Instant } from '../world/instants.js';
import type { ListingFacts } from '../world/listing-facts.js';
import type { Claim, Visit } from '../world/past.js';
import { pick, type Rng } from '../world/random.js';

interface Entry {
  readonly at: Instant;
  readonly content: object;
}

const months = 'January February March April May June July August September October November December'.split(
  ' ',
);

const longDate = (at: Instant): string => {
  const [year, month, day] = dateOf(at).split('-');
  return `${months[Number(month) - 1]} ${Number(day)}, ${year}`;
};

const monthAndYear = (at: Instant): string => {
  const [year, month] = dateOf(at).split('-');
  return `${months[Number(month) - 1]} ${year?.slice(2)}`;
};

const thousands = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');

const millions = (won: number): string => `${(won / 1_000_000).toFixed(2)} million won`;

/** The past of a listing month by month, oldest first, under keys that are free text. */
export function pastEntries(rng: Rng, car: Car, { past }: ListingFacts): object[] {
  const region = pick(rng, regions);
  const entries: Entry[] = [
    { at: past.registeredAt, content: delivery(car, region, past.registeredAt) },
    ...past.claims.map((claim) => ({ at: claim.at, content: claimEntry(claim) })),
    ...past.owners.map((at) => ({ at, content: ownerEntry(at, pick(rng, regions)) })),
    ...past.visits.map((visit) => ({ at: visit.at, content: visitEntry(visit) })),
  ];
  if (past.uninsured !== null) {
    const [from, to] = past.uninsured;
    const period = `${monthAndYear(from)} ~ ${monthAndYear(to)}`;
    entries.push({
      at: from,
      content: { title: 'No car insurance', sub: `Period: ${period}`, 'Period not covered': period },
    });
  }
  return entries
    .sort((a, b) => a.at - b.at)
    .map((entry) => ({ content: [entry.content], date: monthAndYear(entry.at) }));
}

const delivery = (car: Car, region: string, at: Instant): object => ({
  title: 'New car delivered (private person)',
  sub: `${region}\nPrice when delivered not known`,
  flag: 'INDIVIDUAL',
  'Production country': 'kr',
  'First registration date': longDate(at),
  'New car list price': millions(car.model.newPrice * 1300),
  'first time buyer': 'No information',
  'Address at time of purchase': region,
});

const claimEntry = (claim: Claim): object => ({
  title: claim.own ? 'Insurance paid for damage to this car' : 'Insurance paid for damage to another car',
  sub: `Total ${millions(claim.benefit)}`,
  flag: claim.own ? 'USE_MY_INSURANCE' : 'PROPERTY_DAMAGE',
  'Date of occurrence': longDate(claim.at),
  'Processing type': claim.own ? 'damage to my car' : 'another car damaged',
  'total repair cost': millions(claim.parts + claim.labor + claim.painting),
});

const ownerEntry = (at: Instant, region: string): object => ({
  title: 'Change of owner',
  sub: region,
  'Date of change': longDate(at),
  'Address after change': region,
  'Classification of change': 'Change of owner',
});

function visitEntry(visit: Visit): object {
  const mileage = `${thousands(visit.km)}km`;
  if (visit.statutory) {
    return {
      title: 'Car inspection completed',
      sub: `regular inspection\nMileage ${mileage}`,
      'Inspection date': longDate(visit.at),
      'Driving distance during inspection': mileage,
      'inspection station': visit.place,
    };
  }
  return {
    title: 'Maintenance/repair history',
    sub: `Mileage ${mileage}`,
    'Date of receipt': longDate(visit.at),
    'maintenance company': visit.place,
    'Maintenance company address': 'No information',
    mileage,
  };
}
