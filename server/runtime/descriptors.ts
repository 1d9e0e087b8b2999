import { readFileSync } from 'node:fs';

/** The file descriptors that this process may have open, where the system says it; else infinitely many. */
export function mostDescriptors(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Descriptors that are left to the store, files, models and all else: a tenth, 64 at least. */
const LEFT = { part: 0.1, least: 64 };

/** The connections that a server may have, so that some descriptors are left for all else. */
export function mostConnections(descriptors: number): number {
  const left = Math.max(LEFT.least, Math.ceil(descriptors * LEFT.part));
  return Number.isFinite(descriptors) ? Math.max(1, descriptors - left) : descriptors;
}
