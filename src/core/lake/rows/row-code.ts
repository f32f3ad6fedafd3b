import { jsonHash } from '../../../base/config/json.js';
import { version } from '../../../base/config/package-root.js';
import { contractFingerprint } from '../../service/contract/fingerprint.js';
import { streams } from '../../service/streams.js';
import { SCHEMA_VERSION } from '../manifest.js';
import { flattenFunctions, lakeTables } from '../tables.js';
import { planViews } from './batch-views.js';
import { selectSql } from './schemas.js';

/** The rules that make rows of a record. */
const rowRules = () => ({
  contract: contractFingerprint('cars'),
  /** Stands for the code that mends and merges records. */
  version,
  tables: lakeTables(),
  views: planViews(streams.cars, [], false),
});

/**
 * Fingerprint of the rules by which this version makes rows of vehicle records. Records that were read by other rules are
 * read again.
 * @param others rules that replace rules of this version
 */
export function rowCode(others: Partial<ReturnType<typeof rowRules>> = {}): string {
  const { tables, ...rules } = { ...rowRules(), ...others };
  // Descriptions of a table do not change its rows.
  const cut = tables.map((table) => ({
    ...table,
    sql: selectSql(table),
    description: '',
    grain: '',
    columns: {},
  }));
  return jsonHash([rules, SCHEMA_VERSION, flattenFunctions, cut]);
}
