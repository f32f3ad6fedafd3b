/** Writes the pages of docs that follow from the code and `sql/`. They come with the package and are not in git. */
import { writeFileSync } from 'node:fs';
import { tablesMarkdown } from '../../dist/src/ask/docs/markdown.js';
import { martsPage } from '../../dist/src/ask/docs/marts-page.js';
import { settingsPage } from '../../dist/src/cli/commands/config.js';
import { endpointsPage } from '../../dist/src/sandbox/server/endpoints-page.js';

const docs = new URL('../../docs/', import.meta.url);
writeFileSync(new URL('ask/tables.md', docs), await tablesMarkdown());
writeFileSync(new URL('ask/marts.md', docs), martsPage());
writeFileSync(new URL('run/settings.md', docs), await settingsPage());
writeFileSync(new URL('change/endpoints.md', docs), endpointsPage());
