import type { Config } from '../../base/config/config.js';
import { clip, count, NONE, printable } from '../../base/config/printable.js';
import { literal } from '../../base/duck/session.js';
import { readRuns, reasonOf } from '../../core/job/run-records.js';
import { layoutOf } from '../../core/lake/layout.js';
import { instant } from '../page/format.js';
import { grid } from '../page/grid.js';
import { type Html, html } from '../page/html.js';
import { section } from '../page/section.js';
import { ask } from '../query/ask.js';
import { alarmLine, driftText, readStanding, rejectedText } from '../report/alarms.js';
import { type Page, rowsLink } from './page-frame.js';
import type { Shown } from './shown.js';

/** Runs that are listed. */
const LISTED = 40;

/**
 * What happened: alarms, runs, rejects with their raw text, and how fresh each stream is.
 * @param wanted the run whose rejects are shown; all by default
 */
export async function runsPage(shown: Shown, config: Config, wanted: string | undefined): Promise<Page> {
  const { connection, lake } = shown;
  const layout = layoutOf(config.output);
  const standing = await readStanding(connection, layout, lake.manifest);
  const alarms = standing.alarms.map((alarm) => html`<li class="alarm">${alarmLine(alarm)}</li>`);
  const records = readRuns(layout).reverse().slice(0, LISTED);
  const notes = [rejectedText(standing), driftText(standing)].filter((text) => text !== undefined);
  return {
    title: 'Runs',
    place: 'runs',
    first: html`<h1>Runs</h1>
${section('alarms', alarms.length === 0 ? 'No alarms' : 'Alarms', '', html`${alarms.length > 0 && html`<ul class="alarms">${alarms}</ul>`}${notes.map((text) => html`<p class="note">${text}</p>`)}`)}
${section(
  'runs',
  'The last runs',
  '',
  grid(
    ['Start', 'Pipeline', 'Outcome', '>Seconds', '>Records', '>Rejected', '>Warnings', 'What stopped it'],
    records.map((run) => [
      instant(run.started_at),
      ...[run.pipeline, run.outcome.replaceAll('_', ' ')],
      run.ended_at === null
        ? NONE
        : ((Date.parse(run.ended_at) - Date.parse(run.started_at)) / 1000).toFixed(1),
      count(run.records),
      rejectedLink(run.run_id, run.rejected + (run.rejected_values ?? 0)),
      count(run.warnings.length),
      run.error === null ? '' : html`<span class="wrap">${clip(printable(reasonOf(run)), 300)}</span>`,
    ]),
  ),
)}`,
    rest: restOf(shown, wanted),
  };
}

const rejectedLink = (run: string, many: number): Html | string =>
  many === 0 ? '0' : html`<a href="/runs?run=${run}#rejects">${count(many)}</a>`;

async function* restOf({ connection }: Shown, wanted: string | undefined): AsyncGenerator<Html> {
  const fresh = await ask(connection, 'explore/last_passes');
  if (fresh.length > 0)
    yield section('fresh', 'How fresh it is', 'The last complete pass of each stream.', [
      grid(
        ['Stream', 'Began', '>Records'],
        fresh.map((row) => [printable(row.stream), instant(row.at), count(row.records)]),
      ),
      rowsLink('from passes order by started_at desc'),
    ]);
  const rejects = await ask(connection, 'cli/rejects', { run: wanted ?? null, stream: null });
  const cells = rejects.slice(0, 100).map((row) => {
    const first = Object(row.first);
    return [
      ...[
        printable(row.stream),
        printable(row.place),
        printable(row.expected),
        printable(row.kind),
        count(row.rejects),
      ],
      html`<details><summary>record ${printable(first.record_id) || 'without id'}, page ${printable(first.page)}</summary><pre tabindex="0">${clip(printable(first.raw), 2000)}</pre></details>`,
    ];
  });
  yield section(
    'rejects',
    wanted === undefined ? 'Rejects of all runs' : `Rejects of ${wanted}`,
    'Records that were left out, and single values that were: the rest of such a record is loaded.',
    cells.length === 0
      ? html`<p class="words">Nothing was rejected.</p>`
      : [
          grid(['Stream', 'Place', 'Expected', 'Found', '>Rejects', 'The first, as it came'], cells),
          rowsLink(`from rejects${wanted === undefined ? '' : ` where run_id = ${literal(wanted)}`}`),
        ],
  );
}
