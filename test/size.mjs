/** Reports the size of the house: lines and files by folder, and how long functions are. Not a limit. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';

const lengths = [];
const folders = new Map();
let tiny = 0;
let long = 0;

const lineOf = (text, offset) => text.slice(0, offset).split('\n').length;

function measure(path) {
  const text = readFileSync(path, 'utf8');
  const lines = text.split('\n').length - 1;
  const folder = path.startsWith('src') ? path.split('/').slice(0, 2).join('/') : 'pipelines';
  const sum = folders.get(folder) ?? { files: 0, lines: 0 };
  folders.set(folder, { files: sum.files + 1, lines: sum.lines + lines });
  if (lines < 30) tiny++;
  if (lines > 300) long++;
  const note = ({ body, start, end }) => {
    if (body?.type === 'BlockStatement') lengths.push(lineOf(text, end) - lineOf(text, start) + 1);
  };
  new Visitor({
    FunctionDeclaration: note,
    FunctionExpression: note,
    ArrowFunctionExpression: note,
  }).visit(parseSync(path, text).program);
}

for (const root of ['src', 'pipelines'])
  for (const name of readdirSync(root, { recursive: true }))
    if (name.endsWith('.ts')) measure(join(root, name));

const total = [...folders.values()].reduce((a, b) => ({
  files: a.files + b.files,
  lines: a.lines + b.lines,
}));
for (const [folder, { files, lines }] of [...folders].sort())
  console.log(`${folder.padEnd(16)} ${String(lines).padStart(6)} lines in ${files} files`);
console.log(
  `${'all'.padEnd(16)} ${String(total.lines).padStart(6)} lines in ${total.files} files; ${tiny} under 30 lines, ${long} over 300`,
);
lengths.sort((a, b) => a - b);
const at = (share) => lengths[Math.floor(lengths.length * share)];
console.log(`${lengths.length} functions with a body; median ${at(0.5)} lines, p90 ${at(0.9)}`);
