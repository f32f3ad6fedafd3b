/** One check of an inspection: block, part, place on the vehicle, and the issue it finds when it finds one. */
export interface CheckRow {
  readonly block: string;
  readonly part: string;
  readonly label: string;
  readonly location: string | null;
  readonly issue: string;
  readonly measure: readonly [type: string, unit: string, low: number, high: number] | null;
}

const row = (
  block: string,
  part: string,
  label: string,
  location: string | null,
  issue: string,
  measure: CheckRow['measure'] = null,
): CheckRow => ({ block, part, label, location, issue, measure });

/** Checks that inspections draw from. */
export const checks: readonly CheckRow[] = [
  row('exterior', 'hood', '후드', 'front', 'painted', ['paint_thickness', 'micrometer', 85, 320]),
  row('exterior', 'front_door', '프론트 도어', 'front_left', 'dent', [
    'paint_thickness',
    'micrometer',
    85,
    320,
  ]),
  row('exterior', 'rear_door', '리어 도어', 'rear_right', 'scratch'),
  row('exterior', 'bumper', '범퍼', 'front', 'replaced'),
  row('interior', 'seat', '시트', 'front_left', 'wear'),
  row('body_structure', 'side_member', '사이드 멤버', 'left', 'structural_damage'),
  row('body_structure', 'rear_panel', '리어 패널', 'rear', 'repaired'),
  row('mechanical', 'engine_oil', '엔진 오일', null, 'leak'),
  row('mechanical', 'coolant', '냉각수', null, 'leak'),
  row('powertrain', 'transmission', '변속기', null, 'noise'),
  row('powertrain', 'differential', '디퍼렌셜 기어', null, 'malfunction'),
  row('electrical', 'battery', '배터리', null, 'wear', ['voltage', 'volt', 11, 14]),
  row('equipment_operation', 'window_motor', '윈도우 모터', 'rear_left', 'malfunction'),
  row('driver_assistance', 'lane_keeping', '차로 유지 보조', null, 'malfunction'),
  row('tires_wheels', 'tire', '타이어', 'front_right', 'wear', ['tread_depth', 'millimeter', 2, 8]),
  row('brakes', 'brake_disc', '브레이크 디스크', 'front', 'corrosion', ['thickness', 'millimeter', 18, 28]),
  row('road_test', 'steering', '조향 장치', null, 'noise'),
  row('documents', 'registration', '등록증', null, 'missing'),
];

/** Checks that few inspections have, with what those above never find. */
export const rareChecks: readonly CheckRow[] = [
  row('exterior', 'windshield', '앞유리', 'front', 'crack'),
  row('exterior', 'headlamp', '전조등', 'front_right', 'broken'),
  row('exterior', 'roof', '루프', null, 'damage'),
  row('interior', 'carpet', '바닥 매트', null, 'contamination'),
  row('interior', 'seat_rail', '시트 레일', 'front_left', 'water_damage'),
  row('interior', 'air_duct', '송풍구', null, 'biohazard'),
  row('electrical', 'wiring', '배선', null, 'fire_damage'),
  row('mechanical', 'fuel_line', '연료 호스', null, 'chemical_damage'),
  row('diagnostics', 'control_unit', '제어 장치', null, 'malfunction'),
  row('other', 'accessories', '부속품', null, 'other'),
];

/** Trouble codes that a diagnosis may read. */
export const troubleCodes: readonly (readonly [code: string, system: string, text: string])[] = [
  ['P0420', 'engine', 'Catalyst system efficiency below threshold'],
  ['P0300', 'engine', 'Random misfire detected'],
  ['C1201', 'brakes', 'Wheel speed sensor, rear left'],
  ['B1342', 'body', 'Control unit replaced'],
  ['U0100', 'network', 'Lost communication with the engine control unit'],
];
