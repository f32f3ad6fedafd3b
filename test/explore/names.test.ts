import { expect, it } from 'vitest';
import { makeIn } from '../../src/ask/explore/find.js';
import type { Names } from '../../src/ask/explore/names.js';

const names: Names = {
  makes: ['Toyota', 'Chery', 'Honda', 'Land Rover'],
  models: new Map([
    ['toyota', ['Camry', 'Corolla']],
    ['honda', ['Civic', 'CR-V']],
    ['land rover', ['Range Rover']],
  ]),
  states: new Map(),
  choices: { state: [], source: [], damage: [], title: [], status: [] },
};

it.each([
  ['camry', { make: 'Toyota', model: 'Camry' }],
  ['chery', { make: 'Chery' }],
  ['cherry', { make: 'Chery' }],
  ['toyta camri', { make: 'Toyota', model: 'Camry' }],
  ['land rover range rover', { make: 'Land Rover', model: 'Range Rover' }],
  ['cr-v', { make: 'Honda', model: 'CR-V' }],
  ['corola', { model: 'Corolla' }],
  ['qqqqqq', undefined],
])('%s is %j', (text, expected) => {
  expect(makeIn(text.split(' '), names)).toEqual(expected);
});
