import type { NonEmpty } from '../world/random.js';
import { type ModelLine, type ModelRow, makers, mapped, modelRow } from './models.js';

/** `maker|model|price when new|body|generations|engines|vehicle type`, each about as rare as the others. */
const lines = `Acura|TLX|38000|1|II/2015-2020 III/2021-|3.5l 6,2.0l 4
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
Chrysler|300|34000|1|II/2011-2023|3.6l 6,5.7l 8
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
Ram|1500|42000|4|IV/2011-2018 V/2019-|5.7l 8,3.6l 6
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
Yamaha|MT-07|8000|15|I/2014-|0.6l 2|2`.split('\n');

const FIRST_MAKER = 200;
const FIRST_MODEL = 3000;

const rareMakers = [...new Set(lines.map((line) => line.split('|')[0] ?? ''))].filter(
  (name) => !(name in makers),
);
const makerIds: Readonly<Record<string, number>> = {
  ...makers,
  ...Object.fromEntries(rareMakers.map((name, place) => [name, FIRST_MAKER + place])),
};

function lineOf(text: string, place: number, firstModel: number): ModelLine {
  const [maker = '', name = '', price, body, generations = '', engines = '', type] = text.split('|');
  const [engine = '', ...others] = engines.split(',');
  return [
    maker,
    [firstModel + place, name],
    Number(price),
    Number(body),
    1,
    generations,
    [engine, ...others],
    Number(type ?? 1),
  ];
}

const rows = ([first = '', ...rest]: readonly string[], firstModel: number): NonEmpty<ModelRow> =>
  mapped<string, ModelRow>([first, ...rest], (line, place) =>
    modelRow(lineOf(line, place, firstModel), makerIds),
  );

/** Models of manufacturers that sources 1 and 3 rarely see; one vehicle in `RARE` is one of them. */
export const rareModels = rows(lines, FIRST_MODEL);

/** One vehicle of sources 1 and 3 in this many is of a rare model. */
export const RARE = 40;

/** Vehicles that are no everyday cars, so that every vehicle type, body and fuel of the service is on offer. */
export const unusualModels = rows(
  `Toyota|Mirai|49000|1|I/2015-2020 II/2021-|fuel cell
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
Yamaha|Tenere|11000|21|I/2019-|0.6l 2|2`.split('\n'),
  FIRST_MODEL + 500,
);

/** One vehicle in this many is such a vehicle, if it is of source 1 or 3. */
export const UNUSUAL = 33;
