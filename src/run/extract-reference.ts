import { type Row, rows } from '../duck/session.js';
import type { LoadedPass } from '../load/loader.js';
import { isStaged, stagedFiles } from '../load/staged.js';
import type { StreamName } from '../service/streams.js';
import { extractStream, type List, type StreamRequest } from './extract-stream.js';
import type { Job } from './job.js';

/**
 * Walks the catalog and the reference lists: manufacturers, their models, the models' generations; damages, titles,
 * states and their cities; duplicates and options of source 12. Skips manufacturers and models that have no vehicle in the
 * feed, unless everything is asked for.
 */
export async function extractReference(
  job: Job,
  stage: string,
  options: { readonly everything: boolean },
): Promise<LoadedPass[]> {
  const passes: LoadedPass[] = [];
  const extract = async (name: StreamName, request: Partial<StreamRequest> = {}): Promise<void> => {
    job.reporter.step('extract', name);
    const pass = await extractStream(job, name, stage, { kind: 'full', parameters: {}, ...request });
    if (pass !== undefined) passes.push(pass);
  };
  const staged = async (table: string, columns: string): Promise<readonly Row[]> =>
    isStaged(stage, table)
      ? rows(
          job.session.connection,
          `select distinct ${columns} from ${stagedFiles(stage, table)} order by 1`,
        )
      : [];
  const isWanted = (row: Row): boolean => options.everything || row.cars_qty !== 0;

  await extract('manufacturers', { lists: [{ name: 'all', parameters: { type: 'all' } }] });
  const manufacturers = (
    await staged('manufacturers', 'manufacturer_id, cars, motorcycles, cars_qty')
  ).filter(isWanted);
  if (manufacturers.length > 0) await extract('models', { lists: modelLists(manufacturers) });
  const models = (await staged('models', 'model_id, manufacturer_id, cars_qty, generations_qty')).filter(
    isWanted,
  );
  const lists = generationLists(models, manufacturers);
  if (lists.length > 0) await extract('generations', { lists });

  await extract('damages');
  await extract('titles');
  await extract('states', {
    lists: ['us', 'ca'].map((country) => ({ name: country, parameters: { country } })),
  });
  const states = await staged('states', 'state_id');
  const cities = states.map((state) => ({
    name: String(state.state_id),
    parameters: { state_id: state.state_id },
  }));
  if (cities.length > 0) await extract('cities', { lists: cities });

  await extract('duplicates');
  await extract('default_options');
  return passes;
}

function modelLists(manufacturers: readonly Row[]): List[] {
  return manufacturers.map((row) => ({
    name: String(row.manufacturer_id),
    parameters: { manufacturer_id: row.manufacturer_id, type: 'all' },
  }));
}

/** Generations are listed apart for cars and motorcycles; only the kinds that the manufacturer has are asked for. */
function generationLists(models: readonly Row[], manufacturers: readonly Row[]): List[] {
  const kinds = new Map(
    manufacturers.map((row) => {
      const has = [
        ...(row.cars === false ? [] : ['cars']),
        ...(row.motorcycles === true ? ['motorcycles'] : []),
      ];
      return [row.manufacturer_id, has];
    }),
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
