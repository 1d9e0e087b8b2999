import { createHash } from 'node:crypto';
import type { About } from '../stores/about.js';
import type { RecordHome, StoredRecord } from '../stores/records.js';
import type {
  Activity,
  Checkpoint,
  ForkedFrom,
  LeftRun,
  LogHead,
  LogRef,
  MessageRow,
  RunRecord,
  StoredEvent,
} from '../stores/stored.js';

/** The format of a copy. Another one is refused. */
export const COPY_FORMAT = 1;

/** The beginning of a log in a copy. Its rows and events follow. */
export interface CopiedHead {
  readonly ref: LogRef;
  /** Place before the first event that is kept. */
  readonly after: number;
  readonly head: number;
  readonly terms: LogHead['terms'];
  readonly createdAt: number;
  readonly userId?: string;
  readonly forkedFrom?: ForkedFrom;
  readonly checkpoint?: Checkpoint;
}

/** The end of a log in a copy. */
export interface CopiedEnd {
  readonly ref: LogRef;
  readonly closed: boolean;
  readonly activity: Activity;
  /** The session's entry in lists, and the time of its last use; of its present log alone. */
  readonly about?: About & { readonly usedAt: number };
  readonly openRuns: readonly LeftRun[];
}

/** A record in a copy, without the token, which each store gives anew. */
export type CopiedRecord = Omit<StoredRecord, 'token' | 'home'>;

/** A line of a copy of a whole store. */
export type CopyLine =
  | { readonly format: number; readonly of: 'agent-session-gateway' }
  | { readonly log: CopiedHead }
  | { readonly rows: readonly MessageRow[] }
  /** Runs that have ended. */
  | { readonly runs: readonly RunRecord[] }
  | { readonly events: readonly StoredEvent[] }
  | { readonly end: CopiedEnd }
  | { readonly home: RecordHome; readonly records: readonly CopiedRecord[] }
  | { readonly whole: CopyCounts };

/** The contents of a store in numbers. Two stores with the same contents have the same checksum. */
export interface CopyCounts {
  readonly sessions: number;
  readonly logs: number;
  readonly messages: number;
  readonly events: number;
  readonly runs: number;
  readonly records: number;
  /** SHA-256 over all contents in an order of its own, as hexadecimal. */
  readonly checksum: string;
}

/** Counts lines of a copy, in any order of logs and homes. */
export class CopyTally {
  readonly #counts = { sessions: 0, logs: 0, messages: 0, events: 0, runs: 0, records: 0 };
  readonly #sessions = new Set<string>();
  readonly #sum = Buffer.alloc(32);
  #log = '';

  add(line: CopyLine): void {
    const counts = this.#counts;
    if ('log' in line) {
      const { ref, after, head, checkpoint } = line.log;
      this.#log = keyOf([ref.scope, ref.app, ref.name, ref.epoch]);
      this.#sessions.add(keyOf([ref.scope, ref.app, ref.name]));
      counts.sessions = this.#sessions.size;
      counts.logs += 1;
      this.#take('log', [line.log.userId ?? null, after, head, checkpoint?.state ?? null]);
    } else if ('rows' in line)
      for (const row of line.rows) {
        counts.messages += 1;
        this.#take('row', row);
      }
    else if ('runs' in line) for (const run of line.runs) this.#run(run);
    else if ('events' in line)
      for (const { seq, term, type, ts, runId, body } of line.events) {
        counts.events += 1;
        this.#take('event', [seq, term, type, ts, runId ?? null, body]);
      }
    else if ('end' in line) {
      for (const run of line.end.openRuns) this.#run(run);
      this.#take('end', [line.end.closed, line.end.about ?? null]);
    } else if ('home' in line)
      for (const { kind, id, owner, dueAt, value } of line.records) {
        counts.records += 1;
        this.#take('record', [line.home, kind, id, owner ?? null, dueAt ?? null, value], '');
      }
  }

  get counts(): CopyCounts {
    return { ...this.#counts, checksum: this.#sum.toString('hex') };
  }

  #run({ runId, key, hash }: RunRecord): void {
    this.#counts.runs += 1;
    this.#take('run', { runId, key, hash });
  }

  // A sum does not depend on the order, which stores choose themselves.
  #take(kind: string, value: unknown, log = this.#log): void {
    const text = keyOf([kind, log, sorted(value)]);
    const hash = createHash('sha256').update(text).digest();
    let carry = 0;
    for (let at = hash.length - 1; at >= 0; at--) {
      const sum = this.#sum[at]! + hash[at]! + carry;
      this.#sum[at] = sum & 0xff;
      carry = sum >> 8;
    }
  }
}

const keyOf = (value: unknown): string => JSON.stringify(value);

/** A value with the fields of its objects in order. Stores keep them in orders of their own. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([name, one]) => [name, sorted(one)]);
}
