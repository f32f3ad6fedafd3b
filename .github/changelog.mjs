/**
 * The changelog of a release. `cut <version>` dates the section "Unreleased" and begins a new one; `npm version` calls it.
 * `notes <version>` prints the section of a version, which the release shows; it fails if there is none, if it is empty, or if
 * package.json has another version.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const PAGE = 'CHANGELOG.md';
const [, , command, version = ''] = process.argv;
const text = readFileSync(PAGE, 'utf8');

function fail(message) {
  console.error(`${PAGE}: ${message}`);
  process.exit(1);
}

/** What stands between a heading of a version and the next one. */
function sectionOf(heading) {
  const [, inside] = text.split(new RegExp(`^## ${heading.replaceAll('.', '\\.')}(?: - .*)?$`, 'm'));
  const section = inside?.split(/^## /m)[0]?.trim() ?? '';
  return section === '' ? fail(`there is nothing under "${heading}"`) : section;
}

if (!/^\d+\.\d+\.\d+/.test(version)) fail(`name a version, such as 0.2.0; it is "${version}"`);
if (command === 'cut') {
  sectionOf('Unreleased');
  const today = new Date().toISOString().slice(0, 10);
  writeFileSync(PAGE, text.replace(/^## Unreleased$/m, `## Unreleased\n\n## ${version} - ${today}`));
} else if (command === 'notes') {
  const { version: ours } = JSON.parse(readFileSync('package.json', 'utf8'));
  if (ours !== version) fail(`package.json has version ${ours}, and the tag ${version}`);
  console.log(sectionOf(version));
} else fail('the commands are cut and notes');
