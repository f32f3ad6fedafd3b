import { lstatSync } from 'node:fs';
import type { LotlakeError } from '../../base/config/lotlake-error.js';
import { unsoundError } from './lake-error.js';
import { currentSnapshot, type Layout } from './layout.js';
import { hasManifest, listSnapshots } from './snapshots.js';

/** Throws LAKE_UNSOUND if `current` is a folder, because a copy followed the link. A publish cannot replace it. */
export function assertLink(layout: Layout): void {
  if (lstatSync(layout.current, { throwIfNoEntry: false })?.isDirectory() === true)
    throw linkIsFolder(layout);
}

const linkIsFolder = ({ current }: Layout): LotlakeError =>
  unsoundError(
    `${current} is a folder and no link to a snapshot`,
    'nothing was changed; a copy has followed the link: remove this folder, and the next run makes the link again from lake/snapshots',
  );

/**
 * What is wrong with the link `current` of a lake that has snapshots: a copy or an archive has followed it, made a file of it
 * or lost it, or it leads to no snapshot. Undefined for a sound link, and if nothing was published yet.
 */
export function brokenLink(layout: Layout): LotlakeError | undefined {
  const found = lstatSync(layout.current, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return linkIsFolder(layout);
  if (found?.isSymbolicLink() === true && currentSnapshot(layout) !== undefined) return undefined;
  const newest = listSnapshots(layout).findLast(hasManifest);
  if (newest === undefined) return undefined;
  const what =
    found === undefined
      ? 'is not there, though the lake has snapshots'
      : found.isSymbolicLink()
        ? 'is a link that leads to no snapshot of the lake'
        : 'is a file and no link to a snapshot';
  return unsoundError(
    `${layout.current} ${what}, so that nothing says which of them is published`,
    `nothing was changed; a copy or an archive has not kept the link: the next run goes on from the newest snapshot, ${newest.id}, and makes the link again; with cp -a or tar a copy keeps it`,
  );
}

/** Throws LAKE_UNSOUND if the link `current` is broken, as {@link brokenLink} says. */
export function assertUnbroken(layout: Layout): void {
  const broken = brokenLink(layout);
  if (broken !== undefined) throw broken;
}
