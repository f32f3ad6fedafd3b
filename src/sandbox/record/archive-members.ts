import { micros } from '../world/instants.js';
import type { LotLife, LotState } from '../world/lot-life.js';

/**
 * The archive members of a lot: set once it is archived; before that false, null or missing (field-notes.md), which
 * `form` (0 to 1) decides.
 */
export function archiveMembers(life: LotLife, state: LotState, form: number): object {
  if (state.archived) return { archived: true, archived_at: micros(life.end) };
  if (form < 0.5) return {};
  return { archived: form < 0.6 ? null : false, archived_at: null };
}
