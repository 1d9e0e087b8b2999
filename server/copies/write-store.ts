import { GatewayError } from '../../shared/errors.js';
import { LogView } from '../log/log-view.js';
import { pathTo } from '../log/message-tree.js';
import { termAt } from '../log/readable-log.js';
import { saidInMessages } from '../log/said.js';
import type { AppendOptions } from '../stores/append.js';
import type { Store } from '../stores/store.js';
import type { LogHead, RunRecord, StoredEvent } from '../stores/stored.js';
import {
  COPY_FORMAT,
  type CopiedEnd,
  type CopiedHead,
  type CopyCounts,
  type CopyLine,
  CopyTally,
} from './lines.js';
import { endOf } from './read-store.js';

/** The holder of sessions that are being copied. */
const HOLDER = 'import';
/** Messages that search is told of at once, and events of one append. */
const BATCH = 200;

/**
 * Writes a copy into a store. Logs keep their epochs, places and terms, so readers resume. A copy that was broken off goes on where it was.
 *
 * @param store An open store
 * @returns the counts of the copy
 * @throws GatewayError `INVALID_REQUEST` for a broken or foreign copy, and where the store has a session that has gone on otherwise
 */
export async function writeCopy(store: Store, lines: AsyncIterable<CopyLine>): Promise<CopyCounts> {
  const tally = new CopyTally();
  let log: CopiedLogWriter | null = null;
  let whole: CopyCounts | null = null;
  let isFirst = true;
  for await (const line of lines) {
    if (isFirst !== 'format' in line)
      throw refused('This is no copy of a store, as `export --all` writes it');
    isFirst = false;
    if ('format' in line) {
      if (line.format !== COPY_FORMAT)
        throw refused(`The copy is of format ${line.format}, and this version reads ${COPY_FORMAT}`);
      continue;
    }
    if ('whole' in line) {
      whole = line.whole;
      continue;
    }
    tally.add(line);
    if ('log' in line) log = await CopiedLogWriter.begin(store, line.log);
    else if ('home' in line) await store.changeRecords(line.home, line.records);
    else if (!log) throw refused('The copy is damaged: it has parts of a log before the log');
    else if ('rows' in line) log.rows(line.rows);
    else if ('runs' in line) log.runs(line.runs);
    else if ('events' in line) await log.events(line.events);
    else if ('end' in line) await log.end(line.end);
  }
  if (!whole) throw refused('The copy has no end: it was broken off. Its sessions were written up to there');
  if (whole.checksum !== tally.counts.checksum)
    throw refused('The copy is damaged: its checksum is another one. Its sessions were written all the same');
  return whole;
}

type Rows = Extract<CopyLine, { readonly rows: unknown }>['rows'];

/** Writes one log of a copy. */
class CopiedLogWriter {
  readonly #store: Store;
  readonly #head: CopiedHead;
  /** Place up to which the store has it already. */
  readonly #has: number;
  #isDone: boolean;
  readonly #rows: Rows[number][] = [];
  readonly #early: RunRecord[] = [];
  readonly #runs = new Map<string, RunRecord>();
  #isBegun = false;
  #term = 0;
  #batch = 0;
  #terms: LogHead['terms'];
  /** Events that wait for the next append. */
  #waiting: StoredEvent[] = [];
  #opens: RunRecord | undefined;

  private constructor(store: Store, head: CopiedHead, has: number, isDone: boolean) {
    this.#store = store;
    this.#head = head;
    this.#has = has;
    this.#isDone = isDone;
    this.#terms = head.terms;
  }

  static async begin(store: Store, head: CopiedHead): Promise<CopiedLogWriter> {
    const there = await store.head(head.ref, head.ref.epoch);
    const present = await store.head(head.ref);
    if (there ? there.head > head.head : present && !present.closed) {
      const { scope, app, name } = head.ref;
      throw refused(
        `The store has another conversation in the session ${app}:${name} of ${scope}: erase it first`,
      );
    }
    return new CopiedLogWriter(store, head, there?.head ?? -1, there?.closed ?? false);
  }

  rows(rows: Rows): void {
    this.#rows.push(...rows);
  }

  runs(runs: readonly RunRecord[]): void {
    for (const run of runs) {
      // A run of an earlier copy, without an event of its own, counts as accepted behind its end.
      if (Math.min(run.accepted, endOf(run)) <= this.#head.after) this.#early.push(run);
      if (endOf(run) > this.#head.after) this.#runs.set(run.runId, run);
    }
  }

  async events(events: readonly StoredEvent[]): Promise<void> {
    await this.#begin();
    for (const event of events) {
      if (event.seq <= this.#has || this.#isDone) continue;
      if (event.term !== this.#termOf(this.#waiting) || this.#opensAt(event)) await this.#flush();
      this.#waiting.push(event);
      const opens = this.#opensAt(event);
      if (opens) this.#opens = opens;
      const isEnd = this.#endsAt(event.seq).length > 0;
      if (isEnd || this.#waiting.length >= BATCH) await this.#flush();
    }
  }

  async end({ closed, activity, about, openRuns }: CopiedEnd): Promise<void> {
    await this.#begin();
    const { ref } = this.#head;
    if (this.#isDone) return;
    await this.#flush();
    for (const run of openRuns) {
      if ((await this.#store.run(ref, { runId: run.runId })) !== null) continue;
      const { runId, key, hash, request = '{}' } = run;
      await this.#append([], { opens: { runId, key, hash, request } });
    }
    const steps = openRuns.flatMap((run) => run.steps ?? []);
    if (closed) await this.#append([], { close: true });
    else
      await this.#append([], {
        activity,
        ...(about && { about }),
        ...(steps.length > 0 && { steps }),
        said: { from: 1, put: await this.#said() },
      });
    await this.#store.release(ref, this.#term);
    this.#isDone = true;
  }

  /** The texts that the conversation shows, for search. */
  async #said(): Promise<ReturnType<typeof saidInMessages>> {
    const { ref } = this.#head;
    const head = await this.#store.head(ref, ref.epoch);
    const view = new LogView(this.#store, ref, head!);
    const { tip } = await view.folded();
    return tip === null ? [] : saidInMessages(await pathTo(view, tip, Number.POSITIVE_INFINITY));
  }

  async #begin(): Promise<void> {
    if (this.#isBegun) return;
    this.#isBegun = true;
    const { checkpoint, ref, after } = this.#head;
    if (this.#isDone) return;
    await this.#acquire(termAt(this.#terms, Math.max(this.#has, after) + 1) || undefined);
    if (checkpoint && after > 0) await this.#store.cut(ref, checkpoint, this.#rows, this.#term);
    else if (this.#rows.length > 0) await this.#append([], { messages: this.#rows });
    for (const run of this.#early) await this.#keep(run);
  }

  /** Keeps a run whose beginning is cut, so that its key starts no other one. */
  async #keep(run: RunRecord): Promise<void> {
    const { runId, key, hash, result } = run;
    if (await this.#store.run(this.#head.ref, { runId })) return;
    const { cursor: _, ...rest } = result!;
    await this.#append([], {
      opens: { runId, key, hash, request: '{}' },
      ...(endOf(run) <= this.#head.after && { ends: [{ runId, result: rest }] }),
    });
  }

  async #acquire(term: number | undefined): Promise<void> {
    const { ref, after, createdAt, userId, forkedFrom } = this.#head;
    const acquired = await this.#store.acquire(ref, {
      holder: HOLDER,
      ...(term !== undefined && { term }),
      create: {
        epoch: ref.epoch,
        ...(userId !== undefined && { userId }),
        ...(forkedFrom && { forkedFrom }),
        copied: { after, createdAt },
      },
    });
    if (acquired.kind !== 'acquired') {
      const who = acquired.kind === 'owned' ? acquired.holder : 'somebody';
      throw refused(
        `${who} holds the session ${ref.app}:${ref.name} of ${ref.scope}: stop the gateways first`,
      );
    }
    this.#term = acquired.head.term;
    this.#batch = 0;
  }

  #termOf([first]: readonly StoredEvent[]): number {
    return first?.term ?? this.#term;
  }

  #opensAt({ seq, runId }: StoredEvent): RunRecord | undefined {
    const run = runId === undefined ? undefined : this.#runs.get(runId);
    return run?.accepted === seq ? run : undefined;
  }

  #endsAt(seq: number): RunRecord[] {
    return [...this.#runs.values()].filter((run) => endOf(run) === seq);
  }

  async #flush(): Promise<void> {
    const events = this.#waiting;
    if (events.length === 0) return;
    this.#waiting = [];
    const opens = this.#opens;
    this.#opens = undefined;
    const { term, seq } = events.at(-1)!;
    if (term !== this.#term) await this.#acquire(term);
    const ends = this.#endsAt(seq).map(({ runId, result }) => {
      const { cursor: _, ...rest } = result!;
      return { runId, result: rest };
    });
    for (const { runId } of ends) this.#runs.delete(runId);
    await this.#append(
      events.map((event) => ({ ...event })),
      {
        ...(opens && { opens: { runId: opens.runId, key: opens.key, hash: opens.hash, request: '{}' } }),
        ...(ends.length > 0 && { ends }),
      },
    );
  }

  async #append(events: StoredEvent[], options: Omit<AppendOptions, 'term' | 'batch'>): Promise<void> {
    this.#batch += 1;
    await this.#store.append(this.#head.ref, events, { ...options, term: this.#term, batch: this.#batch });
  }
}

function refused(message: string): GatewayError {
  return new GatewayError({ code: 'INVALID_REQUEST', message });
}
