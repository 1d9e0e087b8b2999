import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

/** Part of the memory that the heap may have, so that buffers, stacks and the program itself have room. */
const HEAP_PART = 0.9;

/** The memory that a process may use, by its container or else by the machine, in bytes. */
function mostMemory(): number {
  const contained = process.constrainedMemory?.() ?? 0;
  return contained > 0 ? Math.min(contained, totalmem()) : totalmem();
}

/** A warning with a remedy, for a heap that may grow beyond the memory that there is; null if it may not. */
export function heapProblem(
  heap: number = getHeapStatistics().heap_size_limit,
  memory: number = mostMemory(),
): string | null {
  if (heap <= memory * HEAP_PART) return null;
  const [most, there] = [heap, memory].map((bytes) => Math.round(bytes / 2 ** 20));
  return `the heap may grow to ${most} MiB of ${there} MiB that the process may use, so the system may kill it before limits.heapShare refuses work: set NODE_OPTIONS=--max-old-space-size=${Math.floor(there! * 0.75)}`;
}
