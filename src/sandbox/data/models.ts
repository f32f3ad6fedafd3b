/** An engine of a model: name as the sources write it, cylinders, and id of the fuel. */
interface EngineRow {
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
  readonly generations: readonly GenerationRow[];
  readonly engines: readonly EngineRow[];
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

/** Ids of the manufacturers of the common models. */
const makerIds = new Map(
  `16|BMW 25|Chevrolet 40|Dodge 48|Ford 52|Genesis 58|Harley-Davidson 60|Honda 62|Hyundai 64|Infiniti
68|Jeep 70|Kia 74|Land_Rover 76|Lexus 84|Mercedes-Benz 90|Nissan 102|Renault_Samsung 114|SsangYong
116|Subaru 120|Tesla 124|Toyota 132|Volkswagen`
    .split(/\s+/)
    .map((maker) => [maker.replace(/^\d+\|/, '').replaceAll('_', ' '), Number.parseInt(maker, 10)] as const),
);

/**
 * Models as `maker|model|price when new|body|generations|engines`, with vehicle type, weight and id where they are not
 * an automobile, 1 and the next one. Generations are `name/from-to`, the oldest first.
 */
const america = `Ford|F-150|41000|4|XII/2009-2014 XIII/2015-2020 XIV/2021-|3.5l 6;2.7l 6;5.0l 8|1|90|1387
Ford|EcoSport|22000|5|I/2018-2022|2.0l 4;1.0l 3|1|18|2156
Ford|Escape|28000|5|III/2013-2019 IV/2020-|1.5l 4;2.0l 4;2.5l hybrid|1|45|1392
Ford|Explorer|38000|5|V/2011-2019 VI/2020-|3.5l 6;3.0l 6|1|35|1395
Ford|Mustang|36000|3|VI/2015-2023 VII/2024-|5.0l 8;2.0l 4|1|20|1402
Toyota|Camry|27000|1|XV50/2012-2017 XV70/2018-2024|2.5l 4;2.5l hybrid;3.5l 6|1|85|2010
Toyota|Corolla|22000|1|E170/2014-2019 E210/2020-|1.8l 4;2.0l 4|1|70|2012
Toyota|RAV4|30000|5|IV/2013-2018 V/2019-2025|2.5l 4;2.5l hybrid|1|60|2020
Toyota|Tacoma|34000|4|III/2016-2023 IV/2024-|3.5l 6;2.7l 6|1|25|2024
Honda|Civic|24000|1|IX/2012-2015 X/2016-2021 XI/2022-|2.0l 4;1.5l 4|1|70|940
Honda|Accord|28000|1|IX/2013-2017 X/2018-2022 XI/2023-|1.5l 4;2.0l 4;2.5l hybrid|1|65|930
Honda|CR-V|30000|5|IV/2012-2016 V/2017-2022 VI/2023-|1.5l 4;2.4l 4|1|50|945
Nissan|Altima|26000|1|L33/2013-2018 L34/2019-|2.5l 4;2.0l 4|1|60|1500
Nissan|Rogue|28000|5|II/2014-2020 III/2021-|2.5l 4;1.5l 4|1|50|1510
Nissan|Sentra|20000|1|B17/2013-2019 B18/2020-|1.8l 4;2.0l 4|1|35|1515
Chevrolet|Silverado 1500|42000|4|III/2014-2018 IV/2019-|5.3l 8;2.7l 6|1|60|410
Chevrolet|Malibu|25000|1|VIII/2013-2015 IX/2016-2024|1.5l 4;2.0l 4|1|40|402
Chevrolet|Equinox|28000|5|II/2010-2017 III/2018-2024|1.5l 4;2.4l 4|1|40|396
Jeep|Grand Cherokee|40000|5|WK2/2011-2021 WL/2022-|3.6l 6;5.7l 8|1|35|1120
Jeep|Wrangler|38000|5|JK/2010-2018 JL/2019-|3.6l 6;2.0l 4|1|20|1128
Dodge|Charger|34000|1|VII/2011-2023|3.6l 6;5.7l 8|1|30|660
Hyundai|Elantra|21000|1|MD/2011-2015 AD/2016-2020 CN7/2021-|2.0l 4;1.8l 4|1|50|1010
Hyundai|Tucson|28000|5|III/2016-2021 NX4/2022-|2.0l 4;2.5l 4|1|25|1022
Kia|Optima|24000|1|TF/2011-2015 JF/2016-2020|2.4l 4;1.6l 4|1|25|1210
Kia|Sorento|31000|5|III/2016-2020 MQ4/2021-|2.5l 4;3.5l 6|1|25|1218
BMW|3er|45000|1|VI (F3x)/2012-2019 VII (G2x)/2019-|2.0l i-4 di, dohc, vvt, turbo, 240hp;3.0l 6|1|30|93
BMW|X5|64000|5|III (F15)/2014-2018 IV (G05)/2019-|3.0l 6|1|18|108
Mercedes-Benz|C-Class|46000|1|W205/2015-2021 W206/2022-|2.0l 4;3.0l 6|1|20|1440
Lexus|RX|50000|5|AL20/2016-2022 ALA10/2023-|3.5l 6;2.5l hybrid|1|18|1310
Infiniti|G-Series|38000|1|IV/2007-2015|3.5l 6|1|12|1050
Subaru|Outback|31000|2|V/2015-2019 VI/2020-|2.5l 4;3.6l 6|1|20|1860
Volkswagen|Jetta|23000|1|VI/2011-2018 VII/2019-|1.4l 4;1.8l 4|1|22|2230
Tesla|Model 3|44000|1|I/2017-|electric unit|1|22|1980
Harley-Davidson|Street Glide|24000|8|I/2010-2023|0.6l 2|2|8|880`;

const korea = `Hyundai|Grandeur|31000|1|HG/2011-2016 IG/2016-2022 GN7/2022-|G4KN;L6EA;2.4l 4|1|80|1016
Hyundai|Sonata|24000|1|LF/2014-2019 DN8/2019-|G4KN;L6EA|1|60|1020
Hyundai|Avante|18000|1|AD/2015-2020 CN7/2020-|1.6l 4|1|55|1012
Hyundai|Santa Fe|33000|5|TM/2018-2023 MX5/2023-|D4CB;2.5l 4|1|45|1019
Kia|Carnival|34000|7|YP/2014-2020 KA4/2020-|D4CB;3.5l 6|1|60|1205
Kia|K5|24000|1|JF/2015-2019 DL3/2019-|G4KN;L6EA|1|45|1212
Kia|Sorento|32000|5|UM/2014-2020 MQ4/2020-|D4CB;2.5l 4|1|55|1219
Genesis|G80|52000|1|DH/2016-2020 RG3/2020-|3.3l 6;2.5l 4|1|40|851
SsangYong|Tivoli|19000|5|I/2015-2023|D4CB;1.5l 4|1|15|1830
Renault Samsung|QM6|26000|5|I/2016-2024|L6EA;2.0l 4|1|20|1660
BMW|5er|62000|1|VI (F1x)/2010-2017 VII (G3x)/2017-2023|D4CB;2.0l 4|1|30|95
Mercedes-Benz|E-Class|66000|1|W212/2010-2016 W213/2016-2023|D4CB;2.0l 4|1|30|1446
Land Rover|Range Rover Evoque|55000|5|I/2011-2018 II/2019-| 204DT|1|12|1792`;

/** Models of sources 1 and 3 that are each about as rare as the others. */
const rare = `Acura|TLX|38000|1|II/2015-2020 III/2021-|3.5l 6;2.0l 4
Alfa Romeo|Giulia|43000|1|I/2017-|2.0l 4
AMC|Eagle|12000|2|I/2010-2013|2.4l 4
Aston Martin|Vantage|140000|3|II/2010-2017 III/2018-|5.0l 8
Audi|A4|42000|1|B8/2010-2016 B9/2017-2024|2.0l 4
Austin|Mini|15000|11|I/2010-2014|1.4l 4
Bentley|Continental GT|210000|3|II/2011-2018 III/2019-|5.0l 8
Buick|Encore|25000|5|I/2013-2022|1.4l 4
BYD|Seal|46000|1|I/2022-|electric unit
Cadillac|Escalade|80000|5|IV/2015-2020 V/2021-|5.3l 8
Chery|Tiggo|21000|5|I/2014-|1.5l 4
Chrysler|300|34000|1|II/2011-2023|3.6l 6;5.7l 8
Citroen|C3|19000|11|III/2016-2024|1.0l 3
Cupra|Formentor|38000|5|I/2020-|2.0l 4
Dacia|Duster|18000|5|II/2018-2023|1.5l 4
Daewoo|Lanos|11000|1|I/2010-2012|1.6l 4
Datsun|Go|9000|11|I/2014-2022|1.0l 3
Eagle|Talon|15000|3|I/2010-2012|2.0l 4
Ferrari|California|200000|6|I/2010-2017|5.0l 8
Fiat|500|18000|11|I/2012-2019|1.4l 4
Fisker|Ocean|45000|5|I/2023-|electric unit
Freightliner|Cascadia|140000|14|I/2010-2017 II/2018-|6.7l 8 diesel|4
Geely|Coolray|22000|5|I/2019-|1.5l 4
Geo|Metro|9000|11|I/2010-2012|1.0l 3
GMC|Sierra 1500|43000|4|III/2014-2018 IV/2019-|5.3l 8
Great Wall|Poer|29000|4|I/2020-|2.0l 4
Hino|268|75000|14|I/2011-2021|6.7l 8 diesel|4
Holden|Commodore|31000|1|VF/2013-2017|3.6l 6
Hummer|H3|33000|5|I/2010-2012|3.6l 6
International|LT|135000|14|I/2017-|6.7l 8 diesel|4
Isuzu|NPR|55000|14|I/2010-|6.7l 8 diesel|4
Jaguar|XF|50000|1|I/2010-2015 II/2016-|2.0l 4
Kenworth|T680|150000|14|I/2013-|6.7l 8 diesel|4
Lada|Vesta|12000|1|I/2015-|1.6l 4
Lamborghini|Urus|230000|5|I/2018-|5.0l 8
Lancia|Ypsilon|16000|11|III/2011-2023|1.0l 3
Lincoln|MKZ|37000|1|II/2013-2020|2.0l 4
Lotus|Evora|90000|3|I/2010-2021|3.5l 6
Lucid|Air|85000|1|I/2022-|electric unit
Mack|Anthem|130000|14|I/2018-|6.7l 8 diesel|4
Maserati|Ghibli|75000|1|III/2014-2023|3.0l 6
Mazda|CX-5|28000|5|I/2013-2016 II/2017-|2.5l 4
McLaren|570S|190000|3|I/2016-2021|5.0l 8
Mercury|Milan|23000|1|I/2010-2012|2.4l 4
MG|ZS|21000|5|I/2017-2023|1.5l 4
Mini|Cooper|26000|11|F55/2014-2023|1.5l 4
Mitsubishi|Outlander|27000|5|III/2014-2021 IV/2022-|2.4l 4
Morgan|Plus Four|70000|12|I/2020-|2.0l 4
Oldsmobile|Alero|16000|1|I/2010-2012|2.4l 4
Opel|Astra|23000|11|J/2010-2015 K/2016-2021|1.4l 4
Peterbilt|579|150000|14|I/2012-|6.7l 8 diesel|4
Peugeot|308|24000|11|II/2013-2021|1.5l 4
Plymouth|Voyager|18000|7|I/2010-2012|2.4l 4
Polestar|2|48000|1|I/2021-|electric unit
Pontiac|G6|20000|1|I/2010-2012|2.4l 4
Porsche|Cayenne|75000|5|II/2011-2018 III/2019-|3.0l 6
Ram|1500|42000|4|IV/2011-2018 V/2019-|5.7l 8;3.6l 6
Renault|Clio|20000|11|IV/2013-2019 V/2020-|1.0l 3
Rivian|R1T|72000|4|I/2022-|electric unit
Rolls-Royce|Ghost|320000|1|I/2010-2020 II/2021-|5.0l 8
Saab|9-3|29000|1|II/2010-2013|2.0l 4
Saturn|Vue|21000|5|II/2010-2012|2.4l 4
Scion|tC|20000|3|II/2011-2016|2.5l 4
Seat|Leon|24000|11|III/2013-2019 IV/2020-|1.5l 4
Skoda|Octavia|26000|20|III/2013-2019 IV/2020-|1.5l 4
Smart|Fortwo|16000|11|II/2010-2015 III/2016-2019|1.0l 3
Sterling|Acterra|65000|14|I/2010-2012|6.7l 8 diesel|4
Suzuki|Swift|17000|11|II/2010-2016 III/2017-|1.4l 4
Tata|Nexon|14000|5|I/2017-|1.5l 4
Vauxhall|Corsa|19000|11|E/2014-2019 F/2020-|1.4l 4
VinFast|VF 8|47000|5|I/2023-|electric unit
Volvo|XC60|44000|5|I/2010-2017 II/2018-|2.0l 4
Western Star|4900|140000|14|I/2010-2021|6.7l 8 diesel|4
Wuling|Hongguang|8000|7|I/2010-|1.5l 4
XPeng|P7|38000|1|I/2020-|electric unit
Aprilia|RSV4|17000|16|I/2010-|0.6l 2|2
BMW|R 1250 GS|18000|8|I/2019-2023|0.6l 2|2
Ducati|Monster|12000|15|I/2010-2020 II/2021-|0.6l 2|2
Honda|CBR600RR|12000|16|I/2010-|0.6l 2|2
Indian|Scout|13000|8|I/2015-|0.6l 2|2
Kawasaki|Ninja 400|5500|16|I/2018-|0.6l 2|2
KTM|390 Duke|5600|15|I/2013-|0.6l 2|2
Moto Guzzi|V7|9000|8|I/2010-|0.6l 2|2
Royal Enfield|Himalayan|5500|21|I/2016-|0.6l 2|2
Triumph|Bonneville|10500|8|I/2010-2015 II/2016-|0.6l 2|2
Vespa|GTS 300|8000|8|I/2010-|0.6l 2|2
Victory|Octane|11000|8|I/2016-2018|0.6l 2|2
Yamaha|MT-07|8000|15|I/2014-|0.6l 2|2`;

/** Vehicles that are no everyday cars, so that every vehicle type, body and fuel of the service is on offer. */
const unusual = `Toyota|Mirai|49000|1|I/2015-2020 II/2021-|fuel cell
Ford|Transit|38000|9|IV/2014-|3.5l 6 flex fuel
Volkswagen|Golf SportWagen|24000|10|VII/2015-2019|1.8l 4
Cadillac|XTS Limousine|62000|13|I/2013-2019|3.6l 6
Cadillac|XTS Hearse|70000|22|I/2013-2019|3.6l 6
Chevrolet|Corvette|68000|27|C7/2014-2019 C8/2020-|5.3l 8
BMW|R nineT|16000|17|I/2014-|0.6l 2|2
Dodge|Travel Trailer|21000|24|I/2010-|0.6l 2|3
Ford|Tandem Hauler|30000|25|I/2010-|6.7l 8 diesel|3
Honda|FourTrax|8000|100|I/2014-|0.6l 2|5
Yamaha|242X|52000|100|I/2012-|2.4l 4|7
Ford|School Bus|60000|19|I/2012-|6.7l 8 diesel|8
Volvo|Wheel Loader|65000|18|I/2010-|6.7l 8 diesel|9
Mercedes-Benz|Sprinter Camper|95000|7|II/2010-2018 III/2019-|D4CB|10
Yamaha|WaveRunner|9000|100|I/2012-|0.6l 2|11
Suzuki|Water Scooter|8500|100|I/2012-|0.6l 2|12
Ford|Fire Engine|180000|23|I/2012-|6.7l 8 diesel|13
Chevrolet|Refuse Truck|90000|26|I/2016-|6.7l 8 diesel|14
Ford|Box Truck|52000|14|I/2012-|6.7l 8 diesel|4
Ford|Thunderbird|40000|6|XI/2010-2016|5.0l 8
Mazda|Roadster|29000|12|ND/2016-|2.0l 4
Honda|Fit|18000|11|III/2014-2020|1.5l 4
BMW|4er Gran Coupe|48000|20|I (F36)/2014-2020 II (G26)/2021-|2.0l 4
Honda|Rebel|5000|15|II/2017-|0.6l 2|2
Suzuki|Hayabusa|15000|16|II/2010-2020|0.6l 2|2
Yamaha|Tenere|11000|21|I/2019-|0.6l 2|2`;

const FIRST_RARE_MAKER = 200;
const FIRST_RARE_MODEL = 3000;

const rareMakers = new Set(rare.split('\n').map((line) => line.split('|')[0] ?? ''));
for (const [place, maker] of [...rareMakers].filter((name) => !makerIds.has(name)).entries())
  makerIds.set(maker, FIRST_RARE_MAKER + place);

function engineOf(name: string): EngineRow {
  const [id, cylinders, fuel] = engines[name] ?? [33, 6, 4];
  return { id, name, cylinders, fuel };
}

function generationOf(model: number, text: string, place: number): GenerationRow {
  const cut = text.lastIndexOf('/');
  const [from, to] = text.slice(cut + 1).split('-');
  return {
    id: model * 10 + place + 1,
    name: text.slice(0, cut),
    from: Number(from),
    to: to ? Number(to) : null,
  };
}

function modelOf(line: string, nextId: number): ModelRow {
  const [maker = '', name = '', price, body, generations = '', names = '', type = 1, weight = 1, own] =
    line.split('|');
  const id = Number(own ?? nextId);
  // Splits before each `name/from` and not inside a name, which may hold spaces.
  const texts = generations.match(/\S.*?\/\d{4}-(?:\d{4})?/g) ?? [];
  return {
    id,
    name,
    manufacturer: { id: makerIds.get(maker) ?? 0, name: maker },
    newPrice: Number(price),
    body: Number(body),
    vehicleType: Number(type),
    weight: Number(weight),
    generations: texts.map((text, place) => generationOf(id, text, place)),
    engines: names.split(';').map(engineOf),
  };
}

const modelsOf = (lines: string, firstId = 0): readonly ModelRow[] =>
  lines.split('\n').map((line, place) => modelOf(line, firstId + place));

/** Models on sources 1 and 3. */
export const americanModels = modelsOf(america);
/** Models on source 12. */
export const koreanModels = modelsOf(korea);
/** Models of manufacturers that sources 1 and 3 rarely see. */
export const rareModels = modelsOf(rare, FIRST_RARE_MODEL);
/** Models of boats, buses, hearses and the like. */
export const unusualModels = modelsOf(unusual, FIRST_RARE_MODEL + 500);

/** One vehicle of sources 1 and 3 in this many is of a rare model. */
export const RARE = 40;
/** One vehicle in this many is an unusual one, if it is of source 1 or 3. */
export const UNUSUAL = 33;
