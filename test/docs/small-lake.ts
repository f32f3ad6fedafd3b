import { nightly } from '../../pipelines/nightly.js';
import { createWorld } from '../../src/sandbox/index.js';
import { configFor, lastPage, serve, silentReporter } from '../pipelines/support.js';
import { recordsOf } from '../served.js';

/** Texts of the feed that would run as a script if a page did not escape them. */
const SCRIPT = '<script>document.title = "taken"</script>';
const IMAGE = '"><img src="https://x.example/x">';

/** Makes a lake of 40 vehicles with such texts in an output folder. */
export async function smallLake(output: string): Promise<void> {
  const world = createWorld({ vehicles: 40 });
  const records = recordsOf(world).map((record) => {
    for (const lot of record.lots) lot.note = IMAGE;
    return { ...record, title: SCRIPT };
  });
  const service = await serve(({ pathname }) => {
    if (pathname === '/api/cars') return { body: lastPage(records) };
    return pathname === '/api/archived-lots'
      ? { body: lastPage([]) }
      : { status: 404, body: { message: 'no such endpoint' } };
  });
  await nightly({ config: configFor(service.url, output), reporter: silentReporter() });
  await service.close();
}
