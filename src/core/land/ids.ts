/**
 * The form of the ids of runs, passes and snapshots, which `newId` of pass.ts makes. A name of another form in a lake is not
 * lotlake's. It is alone here, since every command reads ids and few read passes.
 */
export const ID = /^\d{8}T\d{6}Z-[0-9a-f]{6}$/;
