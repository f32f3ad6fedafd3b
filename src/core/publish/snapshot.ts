import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { killPoint } from '../../base/config/kill-point.js';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { makeFolder, makeLink, move, remove, temporaryOf } from '../../base/config/owned.js';
import type { BaseState } from '../lake/base.js';
import { publishFailed } from '../lake/describe.js';
import type { Layout } from '../lake/layout.js';
import { addChecksums, linkUnchanged } from '../lake/linked-files.js';
import { allFiles, type Manifest, readManifest, writeManifest } from '../lake/manifest.js';
import { modellingOf } from '../model/step.js';

/**
 * Links the files that are as before, adds the checksums of all files to the manifest of a snapshot, writes it, and reads it
 * back as every reader does. Throws PUBLISH_FAILED if it cannot be written or read.
 */
export async function sealSnapshot(
  snapshot: string,
  manifest: Manifest,
  base: BaseState | undefined,
  signal?: AbortSignal,
): Promise<void> {
  if (base !== undefined) linkUnchanged(snapshot, allFiles(manifest), base);
  await addChecksums(snapshot, manifest, base, signal);
  killPoint('publish.described');
  try {
    writeManifest(snapshot, manifest);
  } catch (error) {
    throw publishFailed(`the manifest of ${snapshot} cannot be written`, error);
  }
  try {
    // Every command reads the snapshot by it.
    modellingOf(readManifest(snapshot));
  } catch (error) {
    throw publishFailed(`the manifest of ${snapshot} cannot be read back`, error);
  }
}

/**
 * Makes a snapshot the current one by renaming a symbolic link once, so that a reader sees either the old dataset or the
 * new one. Throws PUBLISH_FAILED if the snapshot has no manifest or the link cannot be switched; then the old snapshot
 * stays current.
 */
export function switchCurrent(layout: Layout, snapshot: string): void {
  if (!existsSync(join(snapshot, 'manifest.json')))
    throw new LotlakeError('PUBLISH_FAILED', `${snapshot} has no manifest and is not published`);
  makeFolder(layout.lake);
  const link = temporaryOf(layout.current);
  try {
    makeLink(join('snapshots', basename(snapshot)), link);
    killPoint('publish.link-made');
    move(link, layout.current);
  } catch (error) {
    remove(link);
    throw publishFailed(`${layout.current} cannot be switched to ${basename(snapshot)}`, error);
  }
}
