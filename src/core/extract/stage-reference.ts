import { type Row, rows } from '../../base/duck/session.js';
import type { Job } from '../job/job.js';
import type { LoadedPass } from '../lake/passes/loaded-pass.js';
import { isStaged, stagedFiles } from '../lake/staged.js';
import type { StreamName } from '../service/streams.js';
import { stage } from './stage.js';
import type { List } from './walk-lists.js';

/**
 * Extracts and loads the catalog and the reference lists: manufacturers, their models, the models' generations; damages, titles,
 * states and their cities; duplicates and options of source 12. Unless `everything` is set, skips manufacturers and models
 * without a vehicle in the feed.
 */
export async function stageReference(
  job: Job,
  options: { readonly everything: boolean },
): Promise<readonly LoadedPass[]> {
  const { session } = job;
  const passes: LoadedPass[] = [];
  const add = async (name: StreamName, lists?: readonly List[]): Promise<void> => {
    if (lists?.length !== 0)
      passes.push(...(await stage(job, name, { kind: 'full', parameters: {}, lists })));
  };
  const staged = async (table: string, columns: string): Promise<readonly Row[]> =>
    isStaged(job.stage, table)
      ? rows(
          session.connection,
          `select distinct ${columns} from ${stagedFiles(job.stage, table)} order by 1`,
        )
      : [];
  const isWanted = (row: Row): boolean => options.everything || row.cars_qty !== 0;

  await add('manufacturers', [{ name: 'all', parameters: { type: 'all' } }]);
  const made = await staged('manufacturers', 'manufacturer_id, cars, motorcycles, cars_qty');
  const manufacturers = made.filter(isWanted);
  await add('models', listsBy(manufacturers, 'manufacturer_id', { type: 'all' }));
  const models = await staged('models', 'model_id, manufacturer_id, cars_qty, generations_qty');
  await add('generations', generationLists(models.filter(isWanted), manufacturers));

  await add('damages');
  await add('titles');
  await add('states', listsBy([{ country: 'us' }, { country: 'ca' }], 'country'));
  await add('cities', listsBy(await staged('states', 'state_id'), 'state_id'));

  await add('duplicates');
  await add('default_options');
  return passes;
}

/** One list for each row, with the value of a column as its parameter. */
function listsBy(parents: readonly Row[], column: string, more: List['parameters'] = {}): List[] {
  return parents.map((row) => ({
    name: String(row[column]),
    parameters: { [column]: row[column], ...more },
  }));
}

/** The service lists generations of cars and motorcycles apart. Requests only the kinds that the manufacturer makes. */
function generationLists(models: readonly Row[], manufacturers: readonly Row[]): List[] {
  const kinds = new Map(
    manufacturers.map(({ manufacturer_id, cars, motorcycles }) => [
      manufacturer_id,
      [...(cars === false ? [] : ['cars']), ...(motorcycles === true ? ['motorcycles'] : [])],
    ]),
  );
  return models
    .filter((model) => model.generations_qty !== 0)
    .flatMap((model) =>
      (kinds.get(model.manufacturer_id) ?? ['cars']).map((kind) => ({
        name: `${model.model_id}/${kind}`,
        parameters: { model_id: model.model_id, type: kind },
      })),
    );
}
