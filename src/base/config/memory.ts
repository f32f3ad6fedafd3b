import { totalmem } from 'node:os';

const UNITS: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
};

/** Bytes of an amount such as `700MB`; NaN of any other text. */
export function parseBytes(amount: string): number {
  const [, number = '', unit = 'b'] = /^(\d+(?:\.\d+)?)\s*([KMG]?i?B)?$/i.exec(amount.trim()) ?? [];
  return Math.floor(Number.parseFloat(number) * (UNITS[unit.toLowerCase()] ?? Number.NaN));
}

/** Bytes as people write them, such as `1.6 GB`. */
export const formatBytes = (bytes: number): string =>
  bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.round(bytes / 1e6)} MB`;

/** Bounds of DuckDB's memory if none is configured, and what a process needs beside it. */
export const MEMORY = {
  /**
   * Least that is accepted; docs/decisions/0013-run-again-alone.md says which steps were run with it at the size of the
   * real service.
   */
  least: 700e6,
  /** Most that is accepted: no machine has more. */
  largest: 1e15,
  /** With this much, the first night of the real size spilled nothing. */
  most: 4e9,
  /** Share of what the machine or its container has. */
  share: 0.25,
  /** What Node, Parquet writers and fragmentation take on top, at most. */
  beside: 900e6,
} as const;

/** Bytes of memory that this process may use: those of the machine, or of its container if that has fewer. */
export function memoryHere(): number {
  // Without a limit it is 0, or more than any machine has.
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** DuckDB's memory if none is configured: a quarter of what is there, from 700 MB to 4 GB. */
export function defaultMemory(here: number = memoryHere()): string {
  const bytes = Math.min(MEMORY.most, Math.max(MEMORY.least, here * MEMORY.share));
  return `${Math.floor(bytes / 1e6)}MB`;
}
