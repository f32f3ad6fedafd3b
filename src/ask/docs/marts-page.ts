import { packageFile } from '../../base/config/package-root.js';
import { fillText } from '../../base/config/printable.js';
import { markdownText } from '../../core/model/dictionary.js';
import { LAYERS, type Layer, type Model, readLayer } from '../../core/model/model-files.js';
import { LAYER_TITLES } from './markdown.js';

/** Layers of marts, in the order in which they may read each other. Seeds are tables of assumptions, not marts. */
const MART_LAYERS = LAYERS.filter((layer) => layer !== 'seeds');

/** A sentence of descriptions that are read elsewhere; on this page it would point to itself. */
const POINTER = / docs\/ask\/marts\.md has the rules\./;

/** docs/ask/marts.md: the rules for all marts, and a section for each mart from its `.yml`. */
export function martsPage(): string {
  const layers = MART_LAYERS.map((layer) => ({ layer, marts: martsOf(layer) }));
  return fillText(packageFile('site/marts.md'), {
    list: layers
      .map(({ layer, marts }) => `**${LAYER_TITLES[layer]}**\n\n${marts.map(line).join('\n')}`)
      .join('\n\n'),
    sections: layers
      .map(({ layer, marts }) => [`## ${LAYER_TITLES[layer]}`, ...marts.map(section)].join('\n\n'))
      .join('\n\n'),
  });
}

/** Marts of a layer; steps that live in the run alone are not published. */
const martsOf = (layer: Layer): readonly Model[] =>
  readLayer(layer).filter(({ exists }) => exists !== 'none');

/** A mart with the first clause of its description. */
const line = ({ name, description }: Model): string =>
  `- [${name}](#${name}): ${markdownText(description.split(/ - |[.:;] |\.$/, 1)[0] ?? '')}`;

function section({ name, description, grain, key, exists, notes = [] }: Model): string {
  const facts = [
    `grain: ${markdownText(grain)}`,
    `key: ${key.map((column) => `\`${column}\``).join(', ')}`,
    ...(exists === 'view' ? ['a view: it is computed when it is read'] : []),
  ];
  const items = [...facts, ...notes].map((text) => `- ${text.replaceAll(/\n(?!\n)/g, '\n  ')}`);
  return [`### ${name}`, markdownText(description.replace(POINTER, '')), items.join('\n')].join('\n\n');
}
