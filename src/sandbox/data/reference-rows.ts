import { damages, titles } from './market.js';
import { states } from './places.js';

/** A row of a reference list. */
interface ReferenceRow {
  readonly id: number;
  readonly name: string;
  readonly code?: string | null;
}

const DAMAGES = 2_300;
/** From about here on the service lists codes instead of names (field-notes.md). */
const FIRST_JUNK = 100;

const planted = new Map(damages.map((damage) => [damage.id, damage.name]));
const parts = 'Roof Door Hood Trunk Wheel Cab Cargo Suspension Interior Glass Axle'.split(' ');
const kinds = ['Damage', 'Scratched', 'Missing', 'Bent', 'Burned', 'Repaired', 'Cracked'];
const letters = 'abcdefghijklmnopqrstuvwxyz';

const partNamed = (id: number): string => `${parts[id % parts.length]} ${kinds[id % kinds.length]}`;

const pair = (value: number): string => {
  const text = `${letters[Math.floor(value / 26) % 26]}${letters[value % 26]}`;
  return text[0]?.toUpperCase() + text.slice(1);
};

const junk = (id: number): string =>
  id < FIRST_JUNK + 676 ? pair(id * 7) : `${pair(id * 11)}${id % 3 === 0 ? '|' : '/'}${pair(id * 5)}`;

/** Rows of `/usa/damages`: those that lots have, other names, and codes that mean nothing. */
export const damageRows: readonly ReferenceRow[] = Array.from({ length: DAMAGES }, (_, place) => {
  const id = place + 1;
  return { id, name: planted.get(id) ?? (id < FIRST_JUNK ? partNamed(id) : junk(id)) };
});

const documents = [
  'Certificate Of Title',
  'Salvage Certificate',
  'Bill Of Sale',
  'Rebuilt Title',
  ' Junk Receipt',
];

const ofStates: readonly ReferenceRow[] = states.us.flatMap((state, row) =>
  documents.map((document, column) => ({
    id: 2000 + row * documents.length + column,
    code: column === 2 ? null : state.code,
    name: `${state.code.toUpperCase()} - ${document}`,
  })),
);

/** Rows of `/usa/titles`: titles and detailed titles of lots, and documents of every state. */
export const titleRows: readonly ReferenceRow[] = [
  ...titles.map(({ id, code, name }) => ({ id, code, name })),
  ...titles.map(({ detailed }) => detailed),
  ...ofStates,
].sort((a, b) => a.id - b.id);

/** `key|name` of a section, then `English/Korean` of its options. */
const sections = `exterior|Exterior and interior
Sunroof/선루프;Headlamps (HID)/헤드램프(HID);Headlamps (LED)/헤드램프(LED);Power tailgate/파워 전동 트렁크;Ghost door closing/고스트 도어 클로징;Folding mirrors/전동접이 사이드 미러;Aluminium wheels/알루미늄 휠;Roof rack/루프랙;Heated steering wheel/열선 스티어링 휠;Steering wheel remote/스티어링 휠 리모컨;Electric steering column/전동 조절 스티어링 휠;Paddle shift/패들 시프트;Mirror with transponder/하이패스 룸미러;Power windows/파워 윈도우;Power door lock/파워 도어록;Power steering/파워 스티어링 휠
safety|Safety
Airbag, driver/에어백(운전석);Airbag, passenger/에어백(동승석);Airbag, side/에어백(사이드);Airbag, curtain/에어백(커튼);Brake assistance (ABS)/브레이크 잠김 방지(ABS);Traction control/미끄럼 방지(TCS);Electronic stability (ESC)/차체자세 제어장치(ESC);Tyre pressure sensor/타이어 공기압센서(TPMS);Lane departure warning/차선이탈 경보 시스템(LDWS);Electronic suspension/전자제어 서스펜션(ECS);Parking sensor, front/주차감지센서(전방);Parking sensor, rear/주차감지센서(후방);Blind spot warning/후측방 경보 시스템;Rear camera/후방 카메라;Surround view/360도 어라운드 뷰;Emergency braking/전방 충돌 방지
comfort|Comfort and multimedia
Cruise control/크루즈 컨트롤(일반);Adaptive cruise control/크루즈 컨트롤(어댑티브);Head-up display/헤드업 디스플레이(HUD);Electronic parking brake/전자식 주차브레이크(EPB);Automatic climate control/자동 에어컨;Smart key/스마트키;Wireless door lock/무선도어 잠금장치;Rain sensor/레인센서;Auto light/오토 라이트;Sunshade, rear/커튼/블라인드(뒷좌석);Sunshade, rear window/커튼/블라인드(후방);Navigation/내비게이션;Front monitor/앞좌석 AV 모니터;Rear monitor/뒷좌석 AV 모니터;Bluetooth/블루투스;CD player/CD 플레이어;USB port/USB 단자;AUX port/AUX 단자
seats|Seats
Leather seats/가죽시트;Power seat, driver/전동시트(운전석);Power seat, passenger/전동시트(동승석);Power seats, rear/전동시트(뒷좌석);Heated seats, front/열선시트(앞좌석);Heated seats, rear/열선시트(뒷좌석);Memory seat, driver/메모리 시트(운전석);Memory seat, passenger/메모리 시트(동승석);Ventilated seat, driver/통풍시트(운전석);Ventilated seat, passenger/통풍시트(동승석);Ventilated seats, rear/통풍시트(뒷좌석);Massage seat/마사지 시트`.split(
  '\n',
);

const rowsOf = (heading: string, list: string) => {
  const [section = '', sectionName = ''] = heading.split('|');
  return list.split(';').map((text) => {
    const cut = text.indexOf('/');
    return {
      name: text.slice(0, cut),
      name_original: text.slice(cut + 1),
      section,
      section_name: sectionName,
    };
  });
};

const extras = (place: number) => ({
  ...(place % 3 === 0 ? { description: `장비 설명 ${place + 1}` } : {}),
  ...(place % 5 === 0 ? { location: 'front' } : {}),
  ...(place % 4 === 0 ? { image: `https://static.service.example/options/${place + 1}.svg` } : {}),
});

/** The 62 default options of source 12; `details.options.standard` holds their codes (field-notes.md). */
export const optionRows = sections
  .flatMap((line, place) => (place % 2 === 0 ? rowsOf(line, sections[place + 1] ?? '') : []))
  .map((row, place) => ({
    id: place + 1,
    code: String(place + 1).padStart(3, '0'),
    ...row,
    sort: (place + 1) * 10,
    ...extras(place),
  }));
