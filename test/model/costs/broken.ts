/** Tables of costs that break a rule of docs/ask/costs.md, one each, and what a run must say of it. */

export interface Broken {
  readonly what: string;
  /** The file that the error must name. */
  readonly file: string;
  /** The line that the error must name: of two that conflict the later one. Null if it is about the file as a whole. */
  readonly line: number | null;
  /** Files that replace those of `BASE` or join them. */
  readonly files: Readonly<Record<string, string>>;
  readonly says: RegExp;
  /** Files of `BASE` to leave out. */
  readonly without?: readonly string[];
  /** How to write `files`; utf8 if not given. */
  readonly encoding?: 'latin1';
}

const fileOf = (...lines: readonly string[]): string => [...lines, ''].join('\n');

/** A small set of tables without a fault. */
export const BASE: Readonly<Record<string, string>> = {
  'destinations.csv': fileOf(
    'destination,country,currency,arrives,member,is_default,valid_from,valid_to,note',
    'warsaw,PL,PLN,gdynia,broker,yes,,,',
    'toronto,CA,CAD,,,,,,reached by truck',
  ),
  'buyer_fees.csv': fileOf(
    'fee,source,member,title,from,to,fixed,share,minimum,currency,valid_from,valid_to,note',
    'auction,iaai_com,broker,*,0,1000,100,,,USD,,,',
    'auction,iaai_com,broker,*,1000,,50,0.05,,USD,,,',
    'auction,*,*,*,,,0,,,USD,,,',
    'gate,*,*,*,,,79,,,USD,2025-01-01,2025-12-31,',
    'gate,*,*,*,,,85.5,,,USD,2026-01-01,,"from the list of prices, page 2"',
    'gate,*,*,salvage,,,95,,,USD,,,',
  ),
  'charges.csv': fileOf(
    'charge,source,destination,size,amount,currency,valid_from,valid_to,note',
    'papers,*,*,*,75,USD,,,',
    'handling,*,warsaw,large,300,USD,,,',
    'handling,*,warsaw,*,200,USD,,,',
  ),
  'inland.csv': fileOf(
    'source,branch,postal,state,to,size,amount,currency,valid_from,valid_to,note',
    '*,*,*,TX,houston,*,300,USD,,,',
    '*,*,*,*,newark,*,600,USD,,,',
    '*,*,*,*,toronto,*,900,CAD,,,',
  ),
  'ocean.csv': fileOf(
    'from,to,size,amount,currency,valid_from,valid_to,note',
    'houston,gdynia,*,1200,USD,,,',
    'newark,PL,*,1000,USD,,,',
  ),
  'sizes.csv': fileOf(
    'vehicle_type,body_type,size,valid_from,valid_to,note',
    'automobile,*,small,,,',
    'automobile,suv,large,,,',
    '*,*,large,,,',
  ),
  'taxes.csv': fileOf(
    'country,tax,fuel,age_from,age_to,cm3_from,cm3_to,value_from,value_to,base,fixed,share,per_cm3,per_cm3_year,minimum,minimum_per_cm3,currency,valid_from,valid_to,note',
    'PL,duty,*,,,,,,,price+inland+ocean,,0.1,,,,,PLN,,,',
    'PL,excise,gasoline,,,,2000,,,price+duty,,0.031,,,,,PLN,,,',
    'PL,excise,gasoline,,,2000,,,,price+duty,,0.186,,,,,PLN,,,',
    'PL,excise,*,,,,,,,price+duty,,0.186,,,,,PLN,,,',
    'PL,vat,*,,,,,,,price+fees+inland+ocean+duty+excise,,0.23,,,,,PLN,,,',
    'CA,gst,*,,,,,,,price,,0.05,,,,,CAD,,,',
    'CA,luxury,*,,,,,0,100000,price,,0,,,,,CAD,,,',
    'CA,luxury,*,,,,,100000,,price,,0.1,,,,,CAD,,,',
  ),
  'exchange.csv': fileOf(
    'day,from,to,rate,note',
    '2026-01-01,USD,PLN,3.9,',
    '2026-06-01,USD,PLN,4,',
    '2026-01-01,CAD,PLN,2.8,',
    '2026-01-01,USD,CAD,1.37,',
    '2026-01-01,PLN,CAD,0.35,',
    '2026-01-01,CAD,USD,0.73,',
  ),
  'targets.csv': fileOf(
    'destination,make,model,year_from,year_to,price,market_source,market_country,margin,margin_share,currency,valid_from,valid_to,note',
    'warsaw,toyota,camry,2015,2019,50000,,,2000,0.05,PLN,,,',
    'warsaw,toyota,camry,2020,2022,70000,,,2000,0.05,PLN,,,',
    'toronto,*,*,,,,copart_com,CA,500,,CAD,,,',
  ),
  'repairs.csv': fileOf(
    'damage,title,size,amount,currency,valid_from,valid_to,note',
    'front,*,*,2500,USD,,,',
    'front,salvage,large,3500,USD,,2026-06-30,',
    '*,*,*,10000,PLN,,,"what the workshop asked in May"',
  ),
};

/** The lines of a file of `BASE`, the header first. */
const linesOf = (file: string): string[] => (BASE[file] ?? '').split('\n').slice(0, -1);

/** A file of `BASE` with another text in one line. */
function replaced(file: string, line: number, text: string): Record<string, string> {
  return { [file]: fileOf(...linesOf(file).with(line - 1, text)) };
}

/** A file of `BASE` with rows after its last one. */
function added(file: string, ...rows: readonly string[]): Record<string, string> {
  return { [file]: fileOf(...linesOf(file), ...rows) };
}

/** A case whose fault is one other line. */
function oneLine(what: string, file: string, line: number, text: string, says: RegExp): Broken {
  return { what, file, line, files: replaced(file, line, text), says };
}

/** A case whose fault is the last of some rows after those of `BASE`. */
function moreRows(what: string, file: string, rows: readonly string[], says: RegExp): Broken {
  return { what, file, line: linesOf(file).length + rows.length, files: added(file, ...rows), says };
}

const FEES = 'buyer_fees.csv';
const TAXES = 'taxes.csv';
const TARGETS = 'targets.csv';
const DESTINATIONS = 'destinations.csv';
const CHARGES = 'charges.csv';
const INLAND = 'inland.csv';
const OCEAN = 'ocean.csv';
const SIZES = 'sizes.csv';
const EXCHANGE = 'exchange.csv';
const REPAIRS = 'repairs.csv';

const files: readonly Broken[] = [
  {
    what: 'a file with a name that is no table',
    ...{ file: 'fees.csv', line: null, files: { 'fees.csv': BASE[FEES] ?? '' } },
    says: /fees\.csv/,
  },
  {
    what: 'no destinations.csv',
    ...{ file: DESTINATIONS, line: null, files: {}, without: [DESTINATIONS] },
    says: /missing|must|needs|no file|not there|not found/i,
  },
  {
    what: 'destinations.csv without a row',
    ...{ file: DESTINATIONS, line: null, files: { [DESTINATIONS]: fileOf(linesOf(DESTINATIONS)[0] ?? '') } },
    says: /row|destination/i,
  },
  {
    what: 'an empty file',
    ...{ file: OCEAN, line: null, files: { [OCEAN]: '' } },
    says: /empty|header|column|first line/i,
  },
  {
    what: 'a file that is not UTF-8',
    ...{ file: CHARGES, line: null, files: added(CHARGES, 'dépôt,*,*,*,5,USD,,,'), encoding: 'latin1' },
    says: /utf-?8/i,
  },
];

const headers: readonly Broken[] = [
  oneLine(
    'a header without a column',
    OCEAN,
    1,
    'from,to,size,amount,currency,valid_from,valid_to',
    /note|column|header/i,
  ),
  oneLine(
    'a header with a column more',
    OCEAN,
    1,
    'from,to,size,amount,currency,valid_from,valid_to,note,days',
    /days|column|header/i,
  ),
  oneLine(
    'a header in another order',
    OCEAN,
    1,
    'to,from,size,amount,currency,valid_from,valid_to,note',
    /order|column|header/i,
  ),
  oneLine(
    'a header with a misspelled column',
    OCEAN,
    1,
    'from,to,size,amonut,currency,valid_from,valid_to,note',
    /amonut|amount/,
  ),
  oneLine(
    'days of validity for a rate',
    EXCHANGE,
    1,
    'day,from,to,rate,valid_from,valid_to,note',
    /valid_from|column|header/i,
  ),
];

const cells: readonly Broken[] = [
  oneLine('a cell too few', CHARGES, 2, 'papers,*,*,*,75,USD,,', /cell|column|value|field/i),
  oneLine('a cell too many', CHARGES, 2, 'papers,*,*,*,75,USD,,,,', /cell|column|value|field/i),
  moreRows('a quote that is not closed', CHARGES, ['broker,*,*,*,75,USD,,,"the price of May'], /quot/i),
  oneLine('a word for a number', CHARGES, 2, 'papers,*,*,*,much,USD,,,', /much|number|amount/i),
  oneLine('a number with an exponent', CHARGES, 2, 'papers,*,*,*,1e3,USD,,,', /1e3|number|amount/i),
  oneLine('no amount', CHARGES, 2, 'papers,*,*,*,,USD,,,', /amount/i),
  oneLine(
    'a comma as decimal sign',
    CHARGES,
    2,
    'papers,*,*,*,"75,50",USD,,,',
    /75,50|number|decimal|comma/i,
  ),
  oneLine(
    'a comma between thousands',
    CHARGES,
    2,
    'papers,*,*,*,"1,200",USD,,,',
    /1,200|number|thousand|comma/i,
  ),
  oneLine('a negative amount', CHARGES, 2, 'papers,*,*,*,-75,USD,,,', /-75|negative|below 0|less than 0/i),
  oneLine('an amount of three decimals', CHARGES, 2, 'papers,*,*,*,75.505,USD,,,', /75\.505|decimal/i),
  oneLine(
    'an amount with the sign of its currency',
    CHARGES,
    2,
    'papers,*,*,*,$75,USD,,,',
    /\$75|number|amount/i,
  ),
  oneLine('no name', CHARGES, 2, ',*,*,*,75,USD,,,', /charge|name|empty/i),
  oneLine('no name where * is meant', CHARGES, 2, 'papers,,*,*,75,USD,,,', /source|empty|\*/i),
  oneLine('a percentage for a share', FEES, 3, 'auction,iaai_com,broker,*,1000,,50,12,,USD,,,', /share/i),
  oneLine(
    'a share of seven decimals',
    FEES,
    3,
    'auction,iaai_com,broker,*,1000,,50,0.0500001,,USD,,,',
    /decimal|share/i,
  ),
  oneLine(
    'a share with its sign',
    FEES,
    3,
    'auction,iaai_com,broker,*,1000,,50,5%,,USD,,,',
    /5%|share|number/i,
  ),
  oneLine(
    'a day in another notation',
    CHARGES,
    2,
    'papers,*,*,*,75,USD,01.02.2026,,',
    /01\.02\.2026|day|date|valid_from/i,
  ),
  oneLine(
    'a day that does not exist',
    CHARGES,
    2,
    'papers,*,*,*,75,USD,2026-02-30,,',
    /2026-02-30|day|date/i,
  ),
  oneLine(
    'an end before the beginning',
    CHARGES,
    2,
    'papers,*,*,*,75,USD,2026-02-01,2026-01-31,',
    /valid_to|before|after/i,
  ),
  oneLine('a currency that does not exist', CHARGES, 2, 'papers,*,*,*,75,DOLLAR,,,', /DOLLAR|currency/i),
  oneLine('no currency', CHARGES, 2, 'papers,*,*,*,75,,,,', /currency/i),
];

const names: readonly Broken[] = [
  moreRows('two defaults', DESTINATIONS, ['poznan,PL,PLN,gdynia,,yes,,,'], /default/i),
  {
    what: 'several destinations and no default',
    ...{
      file: DESTINATIONS,
      line: null,
      files: replaced(DESTINATIONS, 2, 'warsaw,PL,PLN,gdynia,broker,,,,'),
    },
    says: /default/i,
  },
  oneLine(
    'a default of neither yes nor nothing',
    DESTINATIONS,
    3,
    'toronto,CA,CAD,,,maybe,,,',
    /maybe|default|yes/i,
  ),
  moreRows(
    'a destination twice',
    DESTINATIONS,
    ['Warsaw,PL,EUR,gdynia,,,,,'],
    /warsaw|twice|already|same|line 2/i,
  ),
  oneLine(
    'a member that no fee names',
    DESTINATIONS,
    2,
    'warsaw,PL,PLN,gdynia,dealer,yes,,,',
    /dealer|member/i,
  ),
  oneLine('a country that does not exist', DESTINATIONS, 3, 'toronto,XX,CAD,,,,,,', /XX|country/i),
  oneLine('a source that does not exist', FEES, 4, 'auction,manheim,*,*,,,0,,,USD,,,', /manheim|source/i),
  oneLine('a number of no source', FEES, 4, 'auction,2,*,*,,,0,,,USD,,,', /source|"2"|'2'/i),
  oneLine(
    'a brand of titles that does not exist',
    FEES,
    7,
    'gate,*,*,salvaged,,,95,,,USD,,,',
    /salvaged|title/i,
  ),
  moreRows(
    'a charge for an unknown destination',
    CHARGES,
    ['gate out,*,berlin,*,75,USD,,,'],
    /berlin|destination/i,
  ),
  moreRows('a size that sizes.csv does not give', CHARGES, ['lift,*,*,huge,75,USD,,,'], /huge|size/i),
  {
    what: 'sizes without sizes.csv',
    ...{ file: CHARGES, line: 3, files: {}, without: [SIZES] },
    says: /size/i,
  },
  moreRows('a state that does not exist', INLAND, ['*,*,*,QQ,houston,*,75,USD,,,'], /QQ|state/i),
  moreRows('a port without a ship', INLAND, ['*,*,*,*,savannah,*,75,USD,,,'], /savannah|port|ocean/i),
  moreRows('a ship to nowhere', OCEAN, ['newark,rotterdam,*,900,USD,,,'], /rotterdam|arrives|port|country/i),
  moreRows(
    'a type of vehicles that does not exist',
    SIZES,
    ['spaceship,*,large,,,'],
    /spaceship|vehicle_type|type/i,
  ),
  moreRows('a body that does not exist', SIZES, ['automobile,sphere,large,,,'], /sphere|body/i),
  oneLine(
    'a fuel that does not exist',
    TAXES,
    3,
    'PL,excise,petrol,,,,2000,,,price+duty,,0.031,,,,,PLN,,,',
    /petrol|fuel/i,
  ),
  moreRows(
    'a tax of a country that does not exist',
    TAXES,
    ['XX,toll,*,,,,,,,price,,0.05,,,,,USD,,,'],
    /XX|country/i,
  ),
  moreRows(
    'a target for an unknown destination',
    TARGETS,
    ['berlin,*,*,,,5000,,,,,EUR,,,'],
    /berlin|destination/i,
  ),
  oneLine('a market of no source', TARGETS, 4, 'toronto,*,*,,,,manheim,CA,500,,CAD,,,', /manheim|source/i),
  oneLine('a market in no country', TARGETS, 4, 'toronto,*,*,,,,copart_com,XX,500,,CAD,,,', /XX|country/i),
  moreRows(
    'a fee with the name of a part',
    FEES,
    ['Inland,*,*,*,,,5,,,USD,,,'],
    /inland|name|reserved|part/i,
  ),
  moreRows('a fee with the name price', FEES, ['price,*,*,*,,,5,,,USD,,,'], /price|name|reserved|part/i),
  moreRows(
    'a charge with the name of a part',
    CHARGES,
    ['charges,*,*,*,75,USD,,,'],
    /charges|name|reserved|part/i,
  ),
  moreRows(
    'a tax with the name of a part',
    TAXES,
    ['PL,fees,*,,,,,,,price,,0.05,,,,,PLN,,,'],
    /fees|name|reserved|part/i,
  ),
  moreRows('a charge with the name of a fee', CHARGES, ['Gate,*,*,*,75,USD,,,'], /gate|name|fee/i),
  moreRows(
    'a tax with the name of a charge',
    TAXES,
    ['PL,papers,*,,,,,,,price,,0.05,,,,,PLN,,,'],
    /papers|name|charge/i,
  ),
];

const bands: readonly Broken[] = [
  oneLine(
    'bands that overlap',
    FEES,
    3,
    'auction,iaai_com,broker,*,999.99,,50,0.05,,USD,,,',
    /overlap|999\.99|line 2/i,
  ),
  oneLine(
    'bands that leave a gap',
    FEES,
    3,
    'auction,iaai_com,broker,*,1000.01,,50,0.05,,USD,,,',
    /gap|1000\.01|line 2/i,
  ),
  oneLine(
    'a band that ends where it begins',
    FEES,
    2,
    'auction,iaai_com,broker,*,1000,1000,100,,,USD,,,',
    /from|to|band|above|empty/i,
  ),
  oneLine(
    'a band that ends before it begins',
    FEES,
    2,
    'auction,iaai_com,broker,*,1000,10,100,,,USD,,,',
    /from|to|band|above/i,
  ),
  oneLine(
    'a fee that does not begin at 0',
    FEES,
    2,
    'auction,iaai_com,broker,*,1,1000,100,,,USD,,,',
    /begin|start|0/i,
  ),
  oneLine('a fee of two currencies', FEES, 3, 'auction,1,broker,*,1000,,50,0.05,,EUR,,,', /currenc|EUR/i),
  oneLine(
    'days that leave a gap',
    FEES,
    6,
    'gate,*,*,*,,,85,,,USD,2026-01-02,,',
    /gap|day|2026-01-0[12]|line 5/i,
  ),
  oneLine('days that overlap', FEES, 6, 'gate,*,*,*,,,85,,,USD,2025-12-31,,', /overlap|day|twice|line 5/i),
  moreRows('a band twice', FEES, ['GATE,*,*, Salvage ,,,99,,,USD,,,'], /overlap|twice|same|line 7/i),
  moreRows('a charge twice', CHARGES, ['Handling,*,Warsaw,*,250,USD,,,'], /overlap|twice|same|line 4/i),
  moreRows('a tow twice', INLAND, ['*,*,*,*,Newark,*,650,USD,2026-01-01,,'], /overlap|twice|same|line 3/i),
  moreRows(
    'a tow twice, once by the number and once by the name of the source',
    INLAND,
    ['3,*,*,*,newark,*,1,USD,,,', 'copart_com,*,*,*,newark,*,2,USD,,,'],
    /overlap|twice|same|line 5/i,
  ),
  moreRows('a ship twice', OCEAN, ['newark,PL,*,1100,USD,,,'], /overlap|twice|same|line 3/i),
  moreRows('a kind of car in two sizes', SIZES, ['automobile,SUV,small,,,'], /overlap|twice|same|line 3/i),
  oneLine(
    'volumes that overlap',
    TAXES,
    4,
    'PL,excise,gasoline,,,1999,,,,price+duty,,0.186,,,,,PLN,,,',
    /overlap|1999|line 3/i,
  ),
  oneLine(
    'volumes that leave a gap',
    TAXES,
    4,
    'PL,excise,gasoline,,,2001,,,,price+duty,,0.186,,,,,PLN,,,',
    /gap|2001|line 3/i,
  ),
  oneLine(
    'values that overlap',
    TAXES,
    9,
    'CA,luxury,*,,,,,99999,,price,,0.1,,,,,CAD,,,',
    /overlap|99999|line 8/i,
  ),
  oneLine(
    'values that leave a gap',
    TAXES,
    9,
    'CA,luxury,*,,,,,100000.01,,price,,0.1,,,,,CAD,,,',
    /gap|100000\.01|line 8/i,
  ),
  oneLine(
    'a band of ages that ends where it begins',
    TAXES,
    7,
    'CA,gst,*,3,3,,,,,price,,0.05,,,,,CAD,,,',
    /age|from|to|band/i,
  ),
  oneLine('an age of a half', TAXES, 7, 'CA,gst,*,,2.5,,,,,price,,0.05,,,,,CAD,,,', /2\.5|age|whole|number/i),
  oneLine(
    'a tax of two currencies',
    TAXES,
    9,
    'CA,luxury,*,,,,,100000,,price,,0.1,,,,,USD,,,',
    /currenc|USD/i,
  ),
  oneLine(
    'years that end before they begin',
    TARGETS,
    2,
    'warsaw,toyota,camry,2019,2015,50000,,,2000,0.05,PLN,,,',
    /year/i,
  ),
  oneLine(
    'years that overlap',
    TARGETS,
    3,
    'warsaw,toyota,camry,2019,2022,70000,,,2000,0.05,PLN,,,',
    /overlap|year|twice|line 2/i,
  ),
];

const bases: readonly Broken[] = [
  oneLine(
    'a base of an unknown part',
    TAXES,
    7,
    'CA,gst,*,,,,,,,price+insurance,,0.05,,,,,CAD,,,',
    /insurance|base/i,
  ),
  oneLine(
    'a base of a tax of another country',
    TAXES,
    7,
    'CA,gst,*,,,,,,,price+duty,,0.05,,,,,CAD,,,',
    /duty|base/i,
  ),
  oneLine('a base with two signs', TAXES, 7, 'CA,gst,*,,,,,,,price++fees,,0.05,,,,,CAD,,,', /base|part/i),
  oneLine(
    'a base of the tax itself',
    TAXES,
    7,
    'CA,gst,*,,,,,,,price+gst,,0.05,,,,,CAD,,,',
    /gst|itself|circle|cycle/i,
  ),
  {
    what: 'bases in a circle',
    ...{ file: TAXES, line: 11 },
    files: added(
      TAXES,
      'CA,green,*,,,,,,,price+road,,0.01,,,,,CAD,,,',
      'CA,road,*,,,,,,,price+green,,0.01,,,,,CAD,,,',
    ),
    says: /green|road|circle|cycle/i,
  },
  oneLine('a share without a base', TAXES, 7, 'CA,gst,*,,,,,,,,,0.05,,,,,CAD,,,', /base/i),
  oneLine('two bases of one tax', TAXES, 9, 'CA,luxury,*,,,,,100000,,price+fees,,0.1,,,,,CAD,,,', /base/i),
];

const ratesAndTargets: readonly Broken[] = [
  moreRows('a rate of 0', EXCHANGE, ['2026-07-01,USD,PLN,0,'], /rate|0/i),
  moreRows('a negative rate', EXCHANGE, ['2026-07-01,USD,PLN,-4,'], /-4|rate|negative/i),
  moreRows('a rate of nine decimals', EXCHANGE, ['2026-07-01,USD,PLN,4.000000001,'], /decimal|rate/i),
  moreRows('no rate', EXCHANGE, ['2026-07-01,USD,PLN,,'], /rate/i),
  moreRows('a rate without a day', EXCHANGE, [',EUR,PLN,4.3,'], /day/i),
  moreRows(
    'a rate of a currency that does not exist',
    EXCHANGE,
    ['2026-07-01,ZŁ,PLN,4,'],
    /ZŁ|currency|from/i,
  ),
  moreRows('two rates of one day', EXCHANGE, ['2026-06-01,USD,PLN,4.1,'], /2026-06-01|twice|same|line 3/i),
  moreRows(
    'the same rate of one day twice',
    EXCHANGE,
    ['2026-06-01,USD,PLN,4,'],
    /2026-06-01|twice|same|line 3/i,
  ),
  oneLine(
    'a target of neither price nor market',
    TARGETS,
    4,
    'toronto,*,*,,,,,,500,,CAD,,,',
    /price|market/i,
  ),
  oneLine(
    'a target of both price and market',
    TARGETS,
    4,
    'toronto,*,*,,,9000,copart_com,CA,500,,CAD,,,',
    /price|market|both/i,
  ),
  oneLine('a market without a country', TARGETS, 4, 'toronto,*,*,,,,copart_com,,500,,CAD,,,', /country/i),
  oneLine('a market without a source', TARGETS, 4, 'toronto,*,*,,,,,CA,500,,CAD,,,', /source/i),
  oneLine(
    'a margin above the price',
    TARGETS,
    2,
    'warsaw,toyota,camry,2015,2019,50000,,,2000,1.05,PLN,,,',
    /margin_share|share/i,
  ),
];

const repairs: readonly Broken[] = [
  oneLine(
    'repairs with a column more',
    REPAIRS,
    1,
    'damage,title,size,amount,currency,hours,valid_from,valid_to,note',
    /hours|column|first line/i,
  ),
  oneLine('a repair of no damage', REPAIRS, 2, ',*,*,2500,USD,,,', /damage|empty/i),
  oneLine(
    'a repair of a damage by its name in the feed',
    REPAIRS,
    2,
    'Front End,*,*,2500,USD,,,',
    /Front End/,
  ),
  oneLine('a repair of a damage that does not exist', REPAIRS, 2, 'frunt,*,*,2500,USD,,,', /front/),
  oneLine('a repair of a title that does not exist', REPAIRS, 3, 'front,salvaged,*,2500,USD,,,', /salvage\b/),
  oneLine(
    'a repair of a size that sizes.csv does not give',
    REPAIRS,
    3,
    'front,*,huge,2500,USD,,,',
    /huge|size/i,
  ),
  oneLine('a repair without an amount', REPAIRS, 2, 'front,*,*,,USD,,,', /amount/i),
  oneLine('a repair below 0', REPAIRS, 2, 'front,*,*,-2500,USD,,,', /-2500|amount/i),
  oneLine('a repair without a currency', REPAIRS, 2, 'front,*,*,2500,,,,', /currency/i),
  moreRows('a repair twice', REPAIRS, ['Front,*,*,2600,USD,,,'], /line 2/),
  moreRows(
    'a repair that is valid while another is',
    REPAIRS,
    ['front,salvage,large,1,PLN,2026-06-30,,'],
    /line 3/,
  ),
  moreRows('a repair with a gap of days', REPAIRS, ['front,salvage,large,1,PLN,2026-08-01,,'], /2026-07-01/),
];

export const BROKEN: readonly Broken[] = [
  {
    what: 'a base with all charges and one of them',
    file: 'taxes.csv',
    line: 2,
    files: {
      'taxes.csv': fileOf(
        'country,tax,fuel,age_from,age_to,cm3_from,cm3_to,value_from,value_to,base,fixed,share,per_cm3,per_cm3_year,minimum,minimum_per_cm3,currency,valid_from,valid_to,note',
        'PL,duty,*,,,,,,,price+charges+papers,,0.1,,,,,PLN,,,',
      ),
    },
    says: /both charges and "papers"/,
  },
  ...files,
  ...headers,
  ...cells,
  ...names,
  ...bands,
  ...bases,
  ...ratesAndTargets,
  ...repairs,
];
