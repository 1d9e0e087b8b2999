import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ROOT } from '../../support/program.js';
import { tempDir } from '../../support/temp-dir.js';

/** What a disk takes as a whole. */
const SECTOR = 512;
/** Shares of what was not synced that may be there. */
const SHARES = [0, 0.5, 0.9, 1];

/** A change of a file, or the begin or the end of a sync of it, in the order in which the system was told. */
export interface Step {
  readonly kind: 'write' | 'truncate' | 'sync' | 'synced';
  /** The file, without its folder. */
  readonly name: string;
  readonly at: number;
  readonly bytes: Buffer;
}

const KINDS = { w: 'write', t: 'truncate', b: 'sync', s: 'synced' } as const;

/** Compiles the disk of tests, to be preloaded. Null where there is no compiler. */
export function preloadedDisk(): string | null {
  const library = join(tempDir(), 'disk.so');
  const source = join(ROOT, 'test/durable/disk/disk.c');
  const { status } = spawnSync('cc', ['-O1', '-shared', '-fPIC', '-o', library, source, '-ldl', '-lpthread']);
  return process.platform === 'linux' && status === 0 ? library : null;
}

/** What a program did to its files. */
export class TracedDisk {
  readonly steps: readonly Step[];

  /** @param trace What the preloaded disk noted. */
  constructor(trace: string) {
    const all = readFileSync(trace);
    const steps: Step[] = [];
    for (let place = 0; place < all.length; ) {
      const end = all.indexOf('\n', place);
      const [kind, path, at, length] = all.toString('utf8', place, end).split(' ');
      const from = end + 1;
      place = from + (kind === 'w' ? Number(length) : 0);
      const bytes = all.subarray(from, place);
      steps.push({ kind: KINDS[kind as keyof typeof KINDS], name: basename(path!), at: Number(at), bytes });
    }
    this.steps = steps;
  }

  /** What a file had at a step, as its program saw it. */
  seen(name: string, step: number): Buffer {
    return contentOf(this.#of(name, step).filter(({ kind }) => kind === 'write' || kind === 'truncate'));
  }

  /**
   * Writes files as they are on the disk if the power is lost at a step: with all that was synced, and whatever else the system had written by
   * then, of each file another share.
   */
  lostAt(step: number, names: readonly string[], random: () => number): string {
    const folder = tempDir();
    for (const name of names) {
      const steps = this.#of(name, step);
      const synced = endOfSynced(steps);
      const share = SHARES[Math.floor(random() * SHARES.length)]!;
      const kept = steps.flatMap((each, i) => (i < synced ? each : tornOf(each, share, random)));
      writeFileSync(join(folder, name), contentOf(kept));
    }
    return folder;
  }

  #of(name: string, step: number): readonly Step[] {
    return this.steps.slice(0, step).filter((each) => each.name === name);
  }
}

/** The number of steps that are on the disk for sure: those before the begin of the last sync that has ended. */
function endOfSynced(steps: readonly Step[]): number {
  const begun: number[] = [];
  let end = 0;
  for (const [i, { kind }] of steps.entries()) {
    if (kind === 'sync') begun.push(i);
    if (kind === 'synced') end = Math.max(end, begun.shift() ?? 0);
  }
  return end;
}

/** The sectors of a write that reached the disk. */
function tornOf(step: Step, share: number, random: () => number): readonly Step[] {
  const { kind, at, bytes } = step;
  if (kind === 'truncate') return random() < share ? [step] : [];
  if (kind !== 'write') return [];
  const whole = random();
  if (whole > 0.3) return random() < share ? [step] : [];
  const parts: Step[] = [];
  for (let from = 0; from < bytes.length; ) {
    const to = Math.min(bytes.length, from + SECTOR - ((at + from) % SECTOR));
    if (random() < share) parts.push({ ...step, at: at + from, bytes: bytes.subarray(from, to) });
    from = to;
  }
  return parts;
}

function contentOf(steps: readonly Step[]): Buffer {
  const size = steps.reduce((most, { at, bytes }) => Math.max(most, at + bytes.length), 0);
  const content = Buffer.alloc(size);
  let length = 0;
  for (const { kind, at, bytes } of steps) {
    if (kind === 'truncate') {
      if (at < length) content.fill(0, at, length);
      length = at;
    } else if (kind === 'write') {
      bytes.copy(content, at);
      length = Math.max(length, at + bytes.length);
    }
  }
  return content.subarray(0, length);
}
