import type { NonEmpty } from '../world/random.js';

/** An engine of a model: name as the sources write it, cylinders, and id of the fuel. */
export interface EngineRow {
  readonly id: number;
  readonly name: string;
  readonly cylinders: number | null;
  readonly fuel: number;
}

/** A generation of a model; `to` is the last model year, null while it is built. */
export interface GenerationRow {
  readonly id: number;
  readonly name: string;
  readonly from: number;
  readonly to: number | null;
}

/** A model of the planted market. */
export interface ModelRow {
  readonly id: number;
  readonly name: string;
  readonly manufacturer: { readonly id: number; readonly name: string };
  /** Price when new, USD; the start of every fair value. */
  readonly newPrice: number;
  readonly body: number;
  readonly vehicleType: number;
  /** Share among the vehicles of its market, relative to the others. */
  readonly weight: number;
  readonly generations: NonEmpty<GenerationRow>;
  readonly engines: NonEmpty<EngineRow>;
}

/** Engines by name: cylinders, fuel (1 diesel, 2 electric, 3 hybrid, 4 gasoline, 5 gas, 6 flexible, 7 hydrogen). */
const engines: Readonly<Record<string, readonly [id: number, cylinders: number | null, fuel: number]>> = {
  '1.0l 3': [11, 3, 4],
  '1.4l 4': [14, 4, 4],
  '1.5l 4': [15, 4, 4],
  '1.6l 4': [16, 4, 4],
  '1.8l 4': [18, 4, 4],
  '2.0l 4': [26, 4, 4],
  '2.0l i-4 di, dohc, vvt, turbo, 240hp': [7124, 4, 4],
  '2.4l 4': [24, 4, 4],
  '2.5l 4': [25, 4, 4],
  '2.5l hybrid': [125, 4, 3],
  '2.7l 6': [27, 6, 4],
  '3.0l 6': [30, 6, 4],
  '3.3l 6': [33, 6, 4],
  '3.5l 6': [2, 6, 4],
  '3.6l 6': [36, 6, 4],
  '5.0l 8': [50, 8, 4],
  '5.3l 8': [53, 8, 4],
  '5.7l 8': [57, 8, 4],
  '6.7l 8 diesel': [67, 8, 1],
  'electric unit': [1001, null, 2],
  'fuel cell': [1002, null, 7],
  '3.5l 6 flex fuel': [361, 6, 6],
  ' 204DT': [19569, null, 1],
  D4CB: [19570, null, 1],
  G4KN: [19571, null, 4],
  L6EA: [19572, null, 5],
  '0.6l 2': [6, 2, 4],
};

/** One line of a table of models. */
export type ModelLine = readonly [
  maker: string,
  model: readonly [id: number, name: string],
  newPrice: number,
  body: number,
  weight: number,
  generations: string,
  engines: NonEmpty<string>,
  vehicleType?: number,
];

/** Ids of the manufacturers of the common models. */
export const makers: Readonly<Record<string, number>> = {
  BMW: 16,
  Chevrolet: 25,
  Dodge: 40,
  Ford: 48,
  Genesis: 52,
  'Harley-Davidson': 58,
  Honda: 60,
  Hyundai: 62,
  Infiniti: 64,
  Jeep: 68,
  Kia: 70,
  'Land Rover': 74,
  Lexus: 76,
  'Mercedes-Benz': 84,
  Nissan: 90,
  'Renault Samsung': 102,
  SsangYong: 114,
  Subaru: 116,
  Tesla: 120,
  Toyota: 124,
  Volkswagen: 132,
};

/** Generations are `name/from-to`, the oldest first; their weight grows with how recent they are. */
const america: NonEmpty<ModelLine> = [
  [
    'Ford',
    [1387, 'F-150'],
    41_000,
    4,
    90,
    'XII/2009-2014 XIII/2015-2020 XIV/2021-',
    ['3.5l 6', '2.7l 6', '5.0l 8'],
  ],
  ['Ford', [2156, 'EcoSport'], 22_000, 5, 18, 'I/2018-2022', ['2.0l 4', '1.0l 3']],
  ['Ford', [1392, 'Escape'], 28_000, 5, 45, 'III/2013-2019 IV/2020-', ['1.5l 4', '2.0l 4', '2.5l hybrid']],
  ['Ford', [1395, 'Explorer'], 38_000, 5, 35, 'V/2011-2019 VI/2020-', ['3.5l 6', '3.0l 6']],
  ['Ford', [1402, 'Mustang'], 36_000, 3, 20, 'VI/2015-2023 VII/2024-', ['5.0l 8', '2.0l 4']],
  [
    'Toyota',
    [2010, 'Camry'],
    27_000,
    1,
    85,
    'XV50/2012-2017 XV70/2018-2024',
    ['2.5l 4', '2.5l hybrid', '3.5l 6'],
  ],
  ['Toyota', [2012, 'Corolla'], 22_000, 1, 70, 'E170/2014-2019 E210/2020-', ['1.8l 4', '2.0l 4']],
  ['Toyota', [2020, 'RAV4'], 30_000, 5, 60, 'IV/2013-2018 V/2019-2025', ['2.5l 4', '2.5l hybrid']],
  ['Toyota', [2024, 'Tacoma'], 34_000, 4, 25, 'III/2016-2023 IV/2024-', ['3.5l 6', '2.7l 6']],
  ['Honda', [940, 'Civic'], 24_000, 1, 70, 'IX/2012-2015 X/2016-2021 XI/2022-', ['2.0l 4', '1.5l 4']],
  [
    'Honda',
    [930, 'Accord'],
    28_000,
    1,
    65,
    'IX/2013-2017 X/2018-2022 XI/2023-',
    ['1.5l 4', '2.0l 4', '2.5l hybrid'],
  ],
  ['Honda', [945, 'CR-V'], 30_000, 5, 50, 'IV/2012-2016 V/2017-2022 VI/2023-', ['1.5l 4', '2.4l 4']],
  ['Nissan', [1500, 'Altima'], 26_000, 1, 60, 'L33/2013-2018 L34/2019-', ['2.5l 4', '2.0l 4']],
  ['Nissan', [1510, 'Rogue'], 28_000, 5, 50, 'II/2014-2020 III/2021-', ['2.5l 4', '1.5l 4']],
  ['Nissan', [1515, 'Sentra'], 20_000, 1, 35, 'B17/2013-2019 B18/2020-', ['1.8l 4', '2.0l 4']],
  ['Chevrolet', [410, 'Silverado 1500'], 42_000, 4, 60, 'III/2014-2018 IV/2019-', ['5.3l 8', '2.7l 6']],
  ['Chevrolet', [402, 'Malibu'], 25_000, 1, 40, 'VIII/2013-2015 IX/2016-2024', ['1.5l 4', '2.0l 4']],
  ['Chevrolet', [396, 'Equinox'], 28_000, 5, 40, 'II/2010-2017 III/2018-2024', ['1.5l 4', '2.4l 4']],
  ['Jeep', [1120, 'Grand Cherokee'], 40_000, 5, 35, 'WK2/2011-2021 WL/2022-', ['3.6l 6', '5.7l 8']],
  ['Jeep', [1128, 'Wrangler'], 38_000, 5, 20, 'JK/2010-2018 JL/2019-', ['3.6l 6', '2.0l 4']],
  ['Dodge', [660, 'Charger'], 34_000, 1, 30, 'VII/2011-2023', ['3.6l 6', '5.7l 8']],
  ['Hyundai', [1010, 'Elantra'], 21_000, 1, 50, 'MD/2011-2015 AD/2016-2020 CN7/2021-', ['2.0l 4', '1.8l 4']],
  ['Hyundai', [1022, 'Tucson'], 28_000, 5, 25, 'III/2016-2021 NX4/2022-', ['2.0l 4', '2.5l 4']],
  ['Kia', [1210, 'Optima'], 24_000, 1, 25, 'TF/2011-2015 JF/2016-2020', ['2.4l 4', '1.6l 4']],
  ['Kia', [1218, 'Sorento'], 31_000, 5, 25, 'III/2016-2020 MQ4/2021-', ['2.5l 4', '3.5l 6']],
  [
    'BMW',
    [93, '3er'],
    45_000,
    1,
    30,
    'VI (F3x)/2012-2019 VII (G2x)/2019-',
    ['2.0l i-4 di, dohc, vvt, turbo, 240hp', '3.0l 6'],
  ],
  ['BMW', [108, 'X5'], 64_000, 5, 18, 'III (F15)/2014-2018 IV (G05)/2019-', ['3.0l 6']],
  ['Mercedes-Benz', [1440, 'C-Class'], 46_000, 1, 20, 'W205/2015-2021 W206/2022-', ['2.0l 4', '3.0l 6']],
  ['Lexus', [1310, 'RX'], 50_000, 5, 18, 'AL20/2016-2022 ALA10/2023-', ['3.5l 6', '2.5l hybrid']],
  ['Infiniti', [1050, 'G-Series'], 38_000, 1, 12, 'IV/2007-2015', ['3.5l 6']],
  ['Subaru', [1860, 'Outback'], 31_000, 2, 20, 'V/2015-2019 VI/2020-', ['2.5l 4', '3.6l 6']],
  ['Volkswagen', [2230, 'Jetta'], 23_000, 1, 22, 'VI/2011-2018 VII/2019-', ['1.4l 4', '1.8l 4']],
  ['Tesla', [1980, 'Model 3'], 44_000, 1, 22, 'I/2017-', ['electric unit']],
  ['Harley-Davidson', [880, 'Street Glide'], 24_000, 8, 8, 'I/2010-2023', ['0.6l 2'], 2],
];

const korea: NonEmpty<ModelLine> = [
  [
    'Hyundai',
    [1016, 'Grandeur'],
    31_000,
    1,
    80,
    'HG/2011-2016 IG/2016-2022 GN7/2022-',
    ['G4KN', 'L6EA', '2.4l 4'],
  ],
  ['Hyundai', [1020, 'Sonata'], 24_000, 1, 60, 'LF/2014-2019 DN8/2019-', ['G4KN', 'L6EA']],
  ['Hyundai', [1012, 'Avante'], 18_000, 1, 55, 'AD/2015-2020 CN7/2020-', ['1.6l 4']],
  ['Hyundai', [1019, 'Santa Fe'], 33_000, 5, 45, 'TM/2018-2023 MX5/2023-', ['D4CB', '2.5l 4']],
  ['Kia', [1205, 'Carnival'], 34_000, 7, 60, 'YP/2014-2020 KA4/2020-', ['D4CB', '3.5l 6']],
  ['Kia', [1212, 'K5'], 24_000, 1, 45, 'JF/2015-2019 DL3/2019-', ['G4KN', 'L6EA']],
  ['Kia', [1219, 'Sorento'], 32_000, 5, 55, 'UM/2014-2020 MQ4/2020-', ['D4CB', '2.5l 4']],
  ['Genesis', [851, 'G80'], 52_000, 1, 40, 'DH/2016-2020 RG3/2020-', ['3.3l 6', '2.5l 4']],
  ['SsangYong', [1830, 'Tivoli'], 19_000, 5, 15, 'I/2015-2023', ['D4CB', '1.5l 4']],
  ['Renault Samsung', [1660, 'QM6'], 26_000, 5, 20, 'I/2016-2024', ['L6EA', '2.0l 4']],
  ['BMW', [95, '5er'], 62_000, 1, 30, 'VI (F1x)/2010-2017 VII (G3x)/2017-2023', ['D4CB', '2.0l 4']],
  ['Mercedes-Benz', [1446, 'E-Class'], 66_000, 1, 30, 'W212/2010-2016 W213/2016-2023', ['D4CB', '2.0l 4']],
  ['Land Rover', [1792, 'Range Rover Evoque'], 55_000, 5, 12, 'I/2011-2018 II/2019-', [' 204DT']],
];

const engine = (name: string): EngineRow => {
  const [id, cylinders, fuel] = engines[name] ?? [33, 6, 4];
  return { id, name, cylinders, fuel };
};

const generation = (model: number, text: string, place: number): GenerationRow => {
  const cut = text.lastIndexOf('/');
  const [from, to] = text.slice(cut + 1).split('-');
  return { id: model * 10 + place, name: text.slice(0, cut), from: Number(from), to: to ? Number(to) : null };
};

/** A list that has a first element, element by element. */
export const mapped = <A, B>(list: NonEmpty<A>, make: (entry: A, place: number) => B): NonEmpty<B> => [
  make(list[0], 0),
  ...list.slice(1).map((entry, place) => make(entry, place + 1)),
];

/** Splits before each `name/from` and not inside a name, which may hold spaces. */
const names = (text: string): NonEmpty<string> => {
  const parts = text.match(/\S.*?\/\d{4}-(?:\d{4})?/g) ?? [];
  return [parts[0] ?? text, ...parts.slice(1)];
};

/** The model that a line of the table stands for. */
export const modelRow = (row: ModelLine, makerIds: Readonly<Record<string, number>> = makers): ModelRow => {
  const [maker, [id, name], newPrice, body, weight, generations, engineNames, vehicleType] = row;
  return {
    id,
    name,
    manufacturer: { id: makerIds[maker] ?? 0, name: maker },
    newPrice,
    body,
    vehicleType: vehicleType ?? 1,
    weight,
    generations: mapped(names(generations), (text, place) => generation(id, text, place + 1)),
    engines: mapped(engineNames, engine),
  };
};

/** Models on sources 1 and 3. */
export const americanModels = mapped(america, (row) => modelRow(row));

/** Models on source 12. */
export const koreanModels = mapped(korea, (row) => modelRow(row));
