// The rules of docs/ask/marts.md a second time, in plain JavaScript and lot by lot, to compare the SQL with.

/** An earlier date stands for none, and so does one more than two years ahead. */
const FIRST_DAY = Date.UTC(1990, 0, 1);

/** A lot as the lake has it; times are milliseconds. */
export interface OracleLot {
  readonly id: number;
  readonly vehicle: number;
  readonly domain: number;
  /** Code of the country of the lot, as the feed writes it. */
  readonly country: string | null;
  readonly status: number | null;
  readonly saleDate: number | null;
  readonly finalBid: number | null;
  readonly finalBidAt: number | null;
  readonly buyNow: number | null;
  readonly archived: boolean;
  /** Time at which its own record was last delivered and loaded; null if unknown. */
  readonly lastSeen: number | null;
  readonly main: string | null;
  readonly second: string | null;
  readonly km: number | null;
  readonly repair: number | null;
  readonly before: number | null;
  /** Whether only the archive feed reported the lot, so that the lake has no row of it. */
  readonly isArchiveOnly?: true;
}

export interface OraclePrice {
  readonly id: number;
  readonly lot: number;
  readonly status: number | null;
  readonly saleDate: number | null;
  readonly bid: number | null;
  readonly bidAt: number | null;
  readonly buyNow: number | null;
  readonly gone: number | null;
}

export interface OracleArchiving {
  readonly lot: number;
  readonly vehicle: number;
  readonly domain: number;
  readonly at: number;
  readonly status: number | null;
  readonly saleDate: number | null;
  readonly finalBid: number | null;
  readonly finalBidAt: number | null;
  readonly buyNow: number | null;
}

export interface OracleVehicle {
  readonly id: number;
  readonly manufacturer: number | null;
  readonly model: number | null;
  readonly generation: number | null;
}

/** A period in which a source was observed, from `from` (included) to `to` (excluded). */
interface OracleSpan {
  readonly domain: number;
  readonly from: number;
  readonly to: number;
}

export interface OracleWorld {
  /** Start of the last run. */
  readonly now: number;
  /** Fewest values for a statistic. */
  readonly least: number;
  /** Days within which another offer of the vehicle undoes a sale. */
  readonly relistingDays: number;
  /** The periods in which each source was observed without a gap. */
  readonly spans: readonly OracleSpan[];
  readonly lots: readonly OracleLot[];
  readonly prices: readonly OraclePrice[];
  readonly archivings: readonly OracleArchiving[];
  readonly vehicles: readonly OracleVehicle[];
  /** What the model of prices expects of lots whose currency is known; empty if it fitted none. */
  readonly estimates?: ReadonlyMap<number, OracleEstimate>;
}

/** The estimate of a lot without its own price, and whether the fit left that price out. */
interface OracleEstimate {
  readonly estimate: number;
  readonly isLeftOut: boolean;
}

export interface OracleAttempt {
  readonly lot: OracleLot;
  readonly attempt: number;
  readonly saleDate: number;
  /** Entry of the price history that decides the attempt. */
  readonly priceId: number | null;
  readonly status: number | null;
  readonly outcome: string;
  readonly reason: string;
  readonly amount: number | null;
  readonly price: number | null;
  readonly isTrusted: boolean;
  /** Why its lot alone makes the amount doubtful, sold or not. */
  readonly doubt: string | null;
  /** Why the amount of a trusted sale is no price. */
  readonly outlier: string | null;
  /** Buy Now price that its deciding entry states. */
  readonly buyNow: number | null;
  /** What proves a trusted result. */
  readonly basis: string | null;
  readonly daysSince: number | null;
  readonly change: number | null;
  /** Whether its source was observed at the time of the auction. */
  readonly isObserved: boolean;
  /** Number of the vehicle's way to a sale that held, and number of the attempt on this way. Both start at 1. */
  readonly round: number;
  readonly vehicleAttempt: number;
}

interface Entry {
  readonly isHistory: boolean;
  readonly priceId: number;
  readonly status: number | null;
  readonly saleDate: number;
  readonly amount: number | null;
  readonly buyNow: number | null;
  readonly isSettled: boolean;
  readonly proof: Proof;
}

/** What proves a sale before 12 hours have passed. */
type Proof = 'none' | 'archive_feed' | 'buy_now';

/** Six nines stand for an unknown amount. */
const isPrice = (amount: number): boolean =>
  amount >= 1 && amount <= 5_000_000 && Math.floor(amount) !== 999_999;

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const dayOf = (at: number): number => Math.floor(at / DAY);

/** Every attempt of every auction lot. */
export function attemptsOf(world: OracleWorld): OracleAttempt[] {
  const lots = [...world.lots, ...archiveOnlyLots(world)].sort((a, b) => a.id - b.id);
  const alone = lots.filter((lot) => lot.domain !== 12).flatMap((lot) => attemptsOfLot(world, lot));
  const vehicles = new Map<number, LotAttempt[]>();
  for (const attempt of alone) {
    const others = vehicles.get(attempt.lot.vehicle);
    if (others === undefined) vehicles.set(attempt.lot.vehicle, [attempt]);
    else others.push(attempt);
  }
  const judged = new Map([...vehicles.values()].flatMap((own) => judgeVehicle(world, own)));
  return alone.map((attempt) => {
    const found = judged.get(attempt);
    if (found === undefined) throw new Error(`attempt ${attempt.attempt} of lot ${attempt.lot.id} is lost`);
    const outlier = outlierOf(found, world.estimates?.get(found.lot.id));
    return outlier === null ? found : { ...found, outlier, price: null, change: null };
  });
}

/** Why the amount of a trusted sale is no price; null if it is one. */
function outlierOf(
  { isTrusted, amount, doubt }: OracleAttempt,
  expected: OracleEstimate | undefined,
): string | null {
  if (!isTrusted || amount === null) return null;
  const ratio = expected === undefined ? null : amount / expected.estimate;
  const isFar = ratio !== null && (ratio > 10 || ratio < 0.1);
  if (doubt === 'hundred_times_entry' && ratio !== null && !isFar)
    return expected?.isLeftOut ? 'left_out_by_fit' : null;
  if (doubt !== null) return doubt;
  if (isFar) return 'ten_times_estimate';
  return expected?.isLeftOut ? 'left_out_by_fit' : null;
}

/**
 * Lots that the lake lacks, if the archive feed last reported them after their auction. They have only what the feed
 * reports.
 */
function archiveOnlyLots(world: OracleWorld): OracleLot[] {
  const known = new Set(world.lots.map(({ id }) => id));
  return [...archivingsOf(world)].flatMap(([id, archivings]): OracleLot[] => {
    const last = archivings.reduce((a, b) => (b.at > a.at ? b : a));
    if (known.has(id) || last.saleDate === null || last.at < last.saleDate) return [];
    const none = {
      country: null,
      status: null,
      saleDate: null,
      finalBid: null,
      finalBidAt: null,
      buyNow: null,
    };
    const facts = { lastSeen: null, main: null, second: null, km: null, repair: null, before: null };
    const { vehicle, domain } = last;
    return [{ id, vehicle, domain, ...none, ...facts, archived: true, isArchiveOnly: true }];
  });
}

/** An attempt according to its lot alone. */
type LotAttempt = Omit<OracleAttempt, 'isObserved' | 'round' | 'vehicleAttempt'>;

/**
 * The attempts of a vehicle in order, over all its lots and sources. A sale does not hold if the vehicle is offered
 * again within some days, because a car is not sold so often. After a sale that held, the vehicle is on its next way to
 * a sale.
 */
function judgeVehicle(world: OracleWorld, attempts: readonly LotAttempt[]): [LotAttempt, OracleAttempt][] {
  const inOrder = attempts.toSorted(
    (a, b) => a.saleDate - b.saleDate || a.lot.id - b.lot.id || a.attempt - b.attempt,
  );
  let round = 1;
  let vehicleAttempt = 0;
  return inOrder.map((attempt, place) => {
    const rest = inOrder.slice(place + 1);
    const isOfferedAgain = rest.some(
      ({ saleDate }) => dayOf(saleDate) - dayOf(attempt.saleDate) <= world.relistingDays,
    );
    const isUndone = attempt.outcome === 'sold' && isOfferedAgain;
    vehicleAttempt += 1;
    const judged: OracleAttempt = {
      ...attempt,
      ...(isUndone
        ? { outcome: 'not_sold', reason: 'offered_again', price: null, basis: null, isTrusted: false }
        : {}),
      isObserved: world.spans.some(
        ({ domain, from, to }) =>
          domain === attempt.lot.domain && attempt.saleDate >= from && attempt.saleDate < to,
      ),
      round,
      vehicleAttempt,
    };
    if (judged.outcome === 'sold') {
      round += 1;
      vehicleAttempt = 0;
    }
    return [attempt, judged];
  });
}

function attemptsOfLot(world: OracleWorld, lot: OracleLot): LotAttempt[] {
  const auctions: Entry[][] = [];
  const entries = entriesOf(world, lot);
  const lowest = Math.min(
    ...entries.flatMap(({ isSettled, amount }) =>
      isSettled && amount !== null && amount >= 2 ? [amount] : [],
    ),
  );
  const doubtOf = (amount: number | null): string | null => {
    if (amount !== null && amount < 2) return 'one_dollar';
    return amount !== null && amount >= 50 * lowest && amount <= 200 * lowest ? 'hundred_times_entry' : null;
  };
  const settledAmount = (day: readonly Entry[]): number | null => {
    const { amount } = heard(day);
    const isPossible = amount !== null && isPrice(amount);
    return day[0]?.isSettled === true && isPossible && doubtOf(amount) === null ? amount : null;
  };
  for (const day of daysOf(entries)) {
    const [speaker] = day;
    const before = auctions.at(-1)?.[0];
    if (speaker === undefined) continue;
    if (before !== undefined && dayOf(speaker.saleDate) - dayOf(before.saleDate) <= 3)
      auctions[auctions.length - 1] = day;
    else auctions.push(day);
  }
  return auctions.flatMap((day, place): LotAttempt[] => {
    const [speaker] = day;
    if (speaker === undefined) return [];
    const isLast = place === auctions.length - 1;
    const { amount, proof } = heard(day);
    const { outcome, reason } = judge(world.now, { ...speaker, proof }, amount, isLast);
    const isTrusted = reason === 'trusted';
    const previous = auctions[place - 1];
    const [own, before] = [settledAmount(day), settledAmount(previous ?? [])];
    return [
      {
        lot,
        attempt: place + 1,
        saleDate: speaker.saleDate,
        priceId: speaker.isHistory ? speaker.priceId : null,
        status: speaker.status,
        outcome,
        reason,
        amount,
        buyNow: speaker.buyNow,
        price: isTrusted ? amount : null,
        isTrusted,
        doubt: doubtOf(amount),
        outlier: null,
        basis: !isTrusted ? null : proof === 'none' ? '12_hours' : proof,
        daysSince: previous?.[0] === undefined ? null : dayOf(speaker.saleDate) - dayOf(previous[0].saleDate),
        change: own === null || before === null || outcome === 'upcoming' ? null : own - before,
      },
    ];
  });
}

/**
 * Amount and proof of a day. They come from the deciding entry. If that is a sale without an amount, they come from the
 * next entry.
 */
function heard([speaker, second]: readonly Entry[]): { amount: number | null; proof: Proof } {
  if (speaker === undefined) return { amount: null, proof: 'none' };
  const isBorrowed =
    speaker.amount === null && speaker.status === 6 && second?.status === 6 && second.isSettled;
  if (!isBorrowed || second.amount === null) return speaker;
  const proofs: readonly Proof[] = ['buy_now', 'archive_feed', 'none'];
  const proof = proofs.find((p) => p === speaker.proof || p === second.proof) ?? 'none';
  return { amount: second.amount, proof };
}

function entriesOf(world: OracleWorld, lot: OracleLot): Entry[] {
  const seen = lot.lastSeen === null ? null : Math.min(world.now, lot.lastSeen);
  const settled = (saleDate: number, seenAt: number | null, recordedAt: number | null): boolean =>
    world.now - saleDate >= 12 * HOUR &&
    ((seenAt !== null && seenAt - saleDate >= 12 * HOUR) || (recordedAt !== null && recordedAt >= saleDate));
  const archiving = (archivingsOf(world).get(lot.id) ?? []).toSorted((a, b) => b.at - a.at)[0];
  const proofOf = (
    status: number | null,
    saleDate: number,
    amount: number | null,
    buyNow: number | null,
  ): Proof => {
    if (status !== 6) return 'none';
    if (amount !== null && amount > 0 && amount === buyNow) return 'buy_now';
    const isConfirmed =
      archiving?.status === 6 &&
      archiving.finalBid === amount &&
      amount !== null &&
      archiving.saleDate !== null &&
      dayOf(archiving.saleDate) === dayOf(saleDate) &&
      archiving.at >= archiving.saleDate;
    return isConfirmed ? 'archive_feed' : 'none';
  };
  const entry = (
    isHistory: boolean,
    priceId: number,
    from: {
      status: number | null;
      saleDate: number | null;
      amount: number | null;
      recordedAt: number | null;
      buyNow: number | null;
    },
    seenAt: number | null,
  ): Entry[] =>
    from.saleDate === null || from.saleDate < FIRST_DAY || from.saleDate > world.now + 731 * 24 * HOUR
      ? []
      : [
          {
            isHistory,
            priceId,
            status: from.status,
            saleDate: from.saleDate,
            amount: from.amount === 0 ? null : from.amount,
            buyNow: from.buyNow,
            proof: proofOf(from.status, from.saleDate, from.amount, from.buyNow),
            isSettled:
              proofOf(from.status, from.saleDate, from.amount, from.buyNow) !== 'none' ||
              settled(from.saleDate, seenAt, from.recordedAt),
          },
        ];
  const history = (historiesOf(world).get(lot.id) ?? [])
    .filter(({ gone, saleDate }) => gone === null || (saleDate !== null && gone > saleDate))
    .flatMap((price) =>
      entry(
        true,
        price.id,
        {
          status: price.status,
          saleDate: price.saleDate,
          amount: price.bid,
          recordedAt: price.bidAt,
          buyNow: price.buyNow ?? lot.buyNow,
        },
        price.gone === null ? seen : null,
      ),
    );
  const isArchiveNewer = archiving !== undefined && (seen === null || archiving.at > seen);
  const word = isArchiveNewer ? archiving : lot;
  const last = {
    status: word.status,
    saleDate: word.saleDate,
    amount: word.finalBid,
    recordedAt: word.finalBidAt,
    buyNow: word.buyNow,
  };
  return [...history, ...entry(false, 0, last, isArchiveNewer ? archiving.at : seen)];
}

const historiesOf = byLot((world) => world.prices);
const archivingsOf = byLot((world) => world.archivings);

/** Groups items of a world by lot, once for each world. */
function byLot<T extends { readonly lot: number }>(read: (world: OracleWorld) => readonly T[]) {
  const gathered = new WeakMap<OracleWorld, Map<number, T[]>>();
  return (world: OracleWorld): ReadonlyMap<number, readonly T[]> => {
    const known = gathered.get(world);
    if (known !== undefined) return known;
    const lots = new Map<number, T[]>();
    for (const item of read(world)) {
      const list = lots.get(item.lot);
      if (list === undefined) lots.set(item.lot, [item]);
      else list.push(item);
    }
    gathered.set(world, lots);
    return lots;
  };
}

/** Entries by day. The deciding entry of each day comes first. */
function daysOf(entries: readonly Entry[]): Entry[][] {
  const days = new Map<number, Entry[]>();
  for (const entry of entries) {
    const day = dayOf(entry.saleDate);
    days.set(day, [...(days.get(day) ?? []), entry]);
  }
  return [...days.keys()]
    .sort((a, b) => a - b)
    .map((day) =>
      (days.get(day) ?? []).sort(
        (a, b) =>
          Number(b.isSettled) - Number(a.isSettled) ||
          Number(b.isHistory) - Number(a.isHistory) ||
          b.saleDate - a.saleDate ||
          b.priceId - a.priceId,
      ),
    );
}

function judge(now: number, entry: Entry, amount: number | null, isLast: boolean) {
  const as = (outcome: string, reason: string) => ({ outcome, reason });
  const isProven = entry.proof !== 'none';
  if (isProven && !isLast) return as('not_sold', 'relisted');
  if (!isProven && entry.saleDate > now) return as('upcoming', 'upcoming');
  if (!isProven && now - entry.saleDate < 12 * HOUR) return as('unresolved', 'too_recent');
  if (!entry.isSettled) return as('unresolved', 'not_seen_after_sale');
  if (!isLast && (entry.status === 6 || entry.status === 4)) return as('not_sold', 'relisted');
  if (entry.status === 7 || entry.status === 8) return as('not_sold', 'not_sold');
  if (entry.status === 4) return as('on_approval', 'on_approval');
  if (entry.status !== 6) return as('unresolved', 'no_result');
  if (amount === null) return as('sold', 'no_price');
  return isPrice(amount) ? as('sold', 'trusted') : as('sold', 'out_of_bounds');
}
