import { enumerations } from '../../service/contract/enumerations.js';
import { byWeight } from '../world/random.js';

/** A seller as an object; the flags may be unknown. */
export interface SellerRow {
  readonly id: number;
  readonly name: string;
  readonly logo: string | null;
  readonly is_insurance: boolean | null;
  readonly is_rental: boolean | null;
  readonly is_credit_company: boolean | null;
}

const insurer = (id: number, name: string): SellerRow => ({
  id,
  name,
  logo: `https://static.service.example/sellers/${id}.svg`,
  is_insurance: true,
  is_rental: false,
  is_credit_company: null,
});

const other = (id: number, name: string, rental: boolean | null, credit: boolean | null): SellerRow => ({
  id,
  name,
  logo: null,
  is_insurance: null,
  is_rental: rental,
  is_credit_company: credit,
});

/** Sellers of sources 1 and 3 (invented names). */
export const sellers: readonly SellerRow[] = [
  insurer(7, 'Progress Mutual'),
  insurer(8, 'Granite State Casualty'),
  insurer(12, 'Lakeshore Insurance '),
  insurer(15, 'Allied Farmers'),
  other(21, 'Sunrise Rent A Car', true, false),
  other(22, 'First Harbor Credit', null, true),
  other(23, 'O\'Neill & Sons "Autos"', null, null),
];

/** Names that a spreadsheet would take for a formula. */
export const formulaNames: readonly string[] = [
  '=SUM(A1:A9) Motors',
  '+1 Auto Sales',
  '=HYPERLINK("x") Cars',
];

/** Notes as clerks write them: quotes, line breaks, backslashes, control characters, signs of many scripts. */
export const notes: readonly string[] = [
  'Engine starts, "check engine" light on',
  'Second line follows\nkeys in the office\r\nno spare',
  'See C:\\lots\\photos\\front',
  'Tab\there, bell \u0007 there, \u2028 separator',
  'Batería descargada – revisar; Größe: 4,5 m',
  'Owner said: "it\'s fine" \\ not verified',
  '\u00a0 non-breaking \u200b zero width',
  '{"looks":"like json"}, [1, 2]',
];

/** A note that a careless page would run. */
export const scriptNote = 'Runs rough <script>alert(1)</script> <b>sold as is</b>';

/** Tags of the auction sources. */
export const tags: readonly string[] = ['AUTOCHECK', 'CERT-D', 'IV', 'NLC', 'RUN-DRIVE', 'FEATURED', 'TOW'];

/** The names of an enumeration's values by id. */
type Names = Readonly<Record<number, string>>;

/** A value of an enumeration as records write it. */
export interface Named {
  readonly name: string;
  readonly id: number;
}

/** A value of an enumeration as records write it. */
export const named = (values: Names, id: number): Named => ({ name: values[id] ?? '', id });

/** Values of an enumeration in the shares of `id:weight`. */
function weighted(values: Names, weights: string): readonly Named[] {
  const pairs = weights.split(' ').map((pair) => pair.split(':').map(Number));
  return byWeight(pairs, ([, weight = 0]) => weight).map(([id = 0]) => named(values, id));
}

/** Conditions in the shares in which they are drawn. */
export const conditions = weighted(enumerations.condition, '0:60 1:10 2:3 3:12 4:3 5:4 6:14 7:2');

/** Colours in the shares in which they are drawn. */
export const colors = weighted(enumerations.color, '15:24 13:24 9:16 1:12 11:10 5:8 4:2 8:2 3:1 100:1');

/** Colours that few vehicles have, each as rare as the others. */
export const rareColors = [2, 6, 7, 10, 12, 14, 16, 17, 18].map((id) => named(enumerations.color, id));
