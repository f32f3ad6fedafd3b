import { count, dateOf, instant, label, oneDigit, percent, words } from './format.js';
import { type Marts, numbersOf, type Section } from './page.js';

/** The last run, stream by stream. */
const STREAMS = `
  select
    subject,
    max(value) filter (where metric = 'age_hours') as age_hours,
    max(value) filter (where metric = 'records') as records,
    max(value) filter (where metric = 'rejected') as rejected,
    max(value) filter (where metric = 'drifted_members') as drifted
  from data_health
  where started_at = (select max(started_at) from data_health)
  group by subject
  having count(*) filter (where metric in ('age_hours', 'records')) > 0
  order by subject`;

/** The ten last runs, a row each. */
const RUNS = `
  select started_at, pipeline,
    max(value) filter (where subject = 'run' and metric = 'minutes') as minutes,
    max(value) filter (where subject = 'run' and metric = 'warnings') as warnings,
    max(value) filter (where subject = 'run' and metric = 'guard_held') as held,
    count(*) filter (where is_alarm) as alarms
  from data_health
  group by run_id, started_at, pipeline
  order by started_at desc
  limit 10`;

/** Columns that lack values after the last run. */
const EMPTY = `
  select subject, value
  from data_health
  where started_at = (select max(started_at) from data_health) and metric = 'null_share'
  order by coalesce(value, 0) desc, subject`;

/** Whether the data can be relied on. */
export async function healthSection({ ask }: Marts): Promise<Section> {
  return {
    id: 'health',
    title: 'Data health',
    lead: 'Whether the figures above rest on whole and fresh data.',
    figures: [
      {
        title: 'What came in the last run, by stream',
        note: 'The age is that of the last complete pass when the run began.',
        numbers: numbersOf(await ask(STREAMS), {
          Stream: ({ subject }) => words(subject),
          '>Age in hours': ({ age_hours }) => oneDigit(age_hours),
          '>Records': ({ records }) => count(records),
          '>Rejected': ({ rejected }) => count(rejected),
          '>Unknown members': ({ drifted }) => count(drifted),
        }),
      },
      {
        title: 'The last runs',
        numbers: numbersOf(await ask(RUNS), {
          Run: ({ started_at }) => instant(dateOf(started_at)),
          Pipeline: ({ pipeline }) => label(pipeline),
          '>Minutes': ({ minutes }) => oneDigit(minutes),
          '>Warnings': ({ warnings }) => count(warnings),
          '>Held before': ({ held }) => count(held),
          '>Alarms': ({ alarms }) => count(alarms),
        }),
      },
      {
        title: 'Rows without a value, by column',
        numbers: {
          isFolded: true,
          ...numbersOf(await ask(EMPTY), {
            Column: ({ subject }) => label(subject),
            '>Empty': ({ value }) => percent(value),
          }),
        },
      },
    ],
  };
}
