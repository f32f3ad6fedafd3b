/** Sentences of dealers (invented): Korean, and the same in English. */
export const remarks: readonly (readonly [korean: string, english: string])[] = [
  ['안녕하세요! 실매물만 올리는 딜러입니다 😊', 'Hello! I only list cars that I really have 😊'],
  ['♣ 전 차주가 꼼꼼하게 관리한 차량입니다.', '♣ The previous owner looked after this car with care.'],
  ['☞ 소모품 교환 기록을 보여 드립니다.', '☞ I can show the record of replaced wear parts.'],
  ['엔진과 미션 상태가 아주 좋습니다.', 'Engine and gearbox are in very good condition.'],
  ['실내 흡연 흔적 없이 깨끗합니다.', 'The inside is clean, nobody smoked in it.'],
  ['타이어는 작년에 네 짝 모두 교체했습니다.', 'All four tyres were replaced last year.'],
  ['★ 성능점검 기록부를 꼭 확인해 주세요.', '★ Please check the performance inspection record.'],
  [
    '할부와 리스 상담도 가능합니다.\n서류는 신분증만 준비하세요.',
    'Credit and lease are possible.\nBring an identity card only.',
  ],
  ['차량은 예약 후 매장에서 보실 수 있습니다.', 'The car can be seen in the yard by appointment.'],
  ['앞 범퍼에 작은 흠집이 있습니다.', 'There is a small scratch on the front bumper.'],
  ['블랙박스와 하이패스가 달려 있습니다 🚗', 'A dash camera and a toll transponder are fitted 🚗'],
  ['▨ 보증: 한 달 또는 2,000km', '▨ Warranty: one month or 2,000 km'],
  ['사고 이력은 보험 기록을 참고하시기 바랍니다.', 'See the insurance record for past accidents.'],
  ['문의는 언제든지 환영합니다 ^^', 'Questions are welcome at any time ^^'],
  [
    '"무사고"라고 적힌 차도 직접 확인하세요 \\o/',
    'Check even a car that is called "accident free" yourself \\o/',
  ],
  ['주행거리는 계기판 그대로입니다.', 'The mileage is as the instrument shows it.'],
];

/** Regions that stand in histories. */
export const regions: readonly string[] = [
  'Suwon-si, Gyeonggi-do',
  'Haeundae-gu, Busan',
  'Seo-gu, Daegu',
  'Jeju-si, Jeju-do',
];

/** Equipment codes of source 12, three digits as text (field-notes.md). */
export const optionCodes: readonly string[] = Array.from({ length: 62 }, (_, n) =>
  String(n + 1).padStart(3, '0'),
);

/** Badges (trim levels) of source 12. */
export const badges: readonly string[] = [
  '2.0 Premium',
  '2.5 Exclusive ',
  '3.3 Calligraphy',
  'Diesel 2.2 Prestige',
  'LPi Modern',
  '=Signature',
];
