import { byWeight, type NonEmpty } from '../world/random.js';

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
export const sellers: NonEmpty<SellerRow> = [
  insurer(7, 'Progress Mutual'),
  insurer(8, 'Granite State Casualty'),
  insurer(12, 'Lakeshore Insurance '),
  insurer(15, 'Allied Farmers'),
  other(21, 'Sunrise Rent A Car', true, false),
  other(22, 'First Harbor Credit', null, true),
  other(23, 'O\'Neill & Sons "Autos"', null, null),
];

/** Names that a spreadsheet would take for a formula. */
export const formulaNames: NonEmpty<string> = ['=SUM(A1:A9) Motors', '+1 Auto Sales', '=HYPERLINK("x") Cars'];

/** Notes as clerks write them: quotes, line breaks, backslashes, control characters, signs of many scripts. */
export const notes: NonEmpty<string> = [
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
export const tags: NonEmpty<string> = ['AUTOCHECK', 'CERT-D', 'IV', 'NLC', 'RUN-DRIVE', 'FEATURED', 'TOW'];

const conditionRows: NonEmpty<readonly [id: number, name: string, weight: number]> = [
  [0, 'run_and_drives', 60],
  [1, 'for_repair', 10],
  [2, 'to_be_dismantled', 3],
  [3, 'not_run', 12],
  [4, 'used', 3],
  [5, 'unconfirmed', 4],
  [6, 'engine_starts', 14],
  [7, 'enhanced', 2],
];

/** Conditions, as the wire writes them, in the shares in which they are drawn. */
export const conditions = byWeight(conditionRows, (condition) => condition[2]);

const colorRows: NonEmpty<readonly [id: number, name: string, weight: number]> = [
  [15, 'black', 24],
  [13, 'white', 24],
  [9, 'grey', 16],
  [1, 'silver', 12],
  [11, 'blue', 10],
  [5, 'red', 8],
  [4, 'green', 2],
  [8, 'brown', 2],
  [3, 'orange', 1],
  [100, 'two_colors', 1],
];

/** Colours in the shares in which they are drawn. */
export const colors = byWeight(colorRows, (color) => color[2]);

/** Colours that few vehicles have, each as rare as the others. */
export const rareColors: NonEmpty<readonly [id: number, name: string, weight: number]> = [
  [2, 'purple', 1],
  [6, 'gold', 1],
  [7, 'charcoal', 1],
  [10, 'turquoise', 1],
  [12, 'bronze', 1],
  [14, 'cream', 1],
  [16, 'yellow', 1],
  [17, 'beige', 1],
  [18, 'pink', 1],
];

export const domainNames: ReadonlyMap<number, string> = new Map([
  [1, 'iaai_com'],
  [3, 'copart_com'],
  [12, 'encar_com'],
]);
