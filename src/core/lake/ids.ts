/**
 * The form of the ids of runs, passes and snapshots, which `newId` of pass.ts makes. A name of another form in a lake is not
 * lotlake's. It is alone here, since every command reads ids and few read passes.
 */
export const ID = /^\d{8}T\d{6}Z-[0-9a-f]{6}$/;

/** The greatest place of a run in the order of the lake that is believed: more runs than a lake has in any time. */
export const MOST_SEQUENCE = 2 ** 40;

/**
 * File with the fingerprints of the records that a snapshot was made from, or a pass has brought. They are a cache, except
 * those of the records that the pages of a delta leave out: nothing else names them.
 */
export const FINGERPRINTS = 'fingerprints.bin';
