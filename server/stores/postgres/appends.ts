import { searched } from '../about.js';
import {
  type AppendOptions,
  type AppendResult,
  type EventRecord,
  isPlain,
  placeOfAccepted,
  placeOfEnd,
  StoreError,
} from '../append.js';
import { Batched } from '../batched.js';
import { encodeEvents } from '../event-text.js';
import { place } from '../placed.js';
import type { LogRef } from '../stored.js';
import { sizeOf } from '../stored-size.js';
import { toColumn, toNullable } from '../text-column.js';
import type { PostgresDatabase } from './database.js';
import type { PostgresRow } from './driver.js';
import { homeRow, toRow } from './records.js';
import type { RewrittenBatches } from './rewriting.js';
import { messagesToPut, runOf } from './rows.js';
import { saidToPut } from './said.js';

export interface QueuedAppend {
  readonly ref: LogRef;
  /** Id of the log. */
  readonly id: number;
  /** Key of the session. */
  readonly key: string;
  readonly events: readonly EventRecord[];
  readonly options: AppendOptions;
  /** The batches of `rewrites`. */
  readonly rewritten?: RewrittenBatches | undefined;
}

const APPEND = `SELECT * FROM $S.append($1, $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::int[], $7::bigint[], $8::text[], $9::text[])`;
/** Commits in progress at once. While one waits for the disk, another is made. */
const LANES = 2;

/** Writes the appends of about the same time, of all sessions, in one call and with one commit. */
export class Appends {
  readonly #database: PostgresDatabase;
  readonly #node: string;
  readonly #batched = new Batched<QueuedAppend, AppendResult>((appends) => this.#write(appends), LANES);

  /** @param node The node whose followers are told by this process. */
  constructor(database: PostgresDatabase, node: string) {
    this.#database = database;
    this.#node = node;
  }

  append(append: QueuedAppend): Promise<AppendResult> {
    return this.#batched.do(append);
  }

  async #write(appends: readonly QueuedAppend[]): Promise<readonly (AppendResult | Error)[]> {
    // All gateways lock logs in this order.
    const sorted = [...appends].sort((a, b) => a.id - b.id || a.options.batch - b.options.batch);
    const results = new Map<QueuedAppend, AppendResult | Error>();
    try {
      const answers = await this.#call(sorted);
      for (const [i, append] of sorted.entries()) results.set(append, answers[i]!);
    } catch (error) {
      // The server may refuse only one of them, which must not hold up the others.
      const isRefusal =
        error instanceof StoreError && (error.code === 'UNAVAILABLE' || error.code === 'REFUSED');
      const alone = appends.length > 1 && isRefusal;
      for (const append of sorted) results.set(append, alone ? await this.#alone(append) : (error as Error));
    }
    return appends.map((append) => results.get(append)!);
  }

  async #alone(append: QueuedAppend): Promise<AppendResult | Error> {
    try {
      return (await this.#call([append]))[0]!;
    } catch (error) {
      return error as Error;
    }
  }

  /** The answers, in the places of the appends. The first row has those of all that only changed their logs: the places of their first events. */
  async #call(appends: readonly QueuedAppend[]): Promise<readonly (AppendResult | Error)[]> {
    const [{ kind: firsts }, ...others] = (await this.#database.write(
      APPEND,
      this.#node,
      appends.map(({ id }) => id),
      appends.map(({ key }) => key),
      appends.map(({ options }) => options.term),
      appends.map(({ options }) => options.batch),
      appends.map(({ events }) => events.length),
      appends.map(({ events }) => sizeOf(events)),
      appends.map(dataOf),
      appends.map(extrasOf),
    )) as [PostgresRow, ...PostgresRow[]];
    const rows = others[Symbol.iterator]();
    return (firsts as string)
      .split(',')
      .map((first, i) =>
        first === '' ? answerOf(appends[i]!, rows.next().value!) : written(appends[i]!, Number(first)),
      );
  }
}

function written({ ref, events, options }: QueuedAppend, first: number): AppendResult {
  place(events, first, options.term);
  return { epoch: ref.epoch, first, last: first + events.length - 1 };
}

function answerOf(
  { ref, events, options }: QueuedAppend,
  { kind, v_first, v_last, v_known }: PostgresRow,
): AppendResult | Error {
  const { epoch } = ref;
  if (kind === 'fenced') return new StoreError('FENCED', 'Another writer holds this session');
  if (kind === 'rolled back')
    return new StoreError(
      'ROLLED_BACK',
      `Batch ${options.batch} was sent, but the last one in the store is ${v_last}`,
    );
  const result = { epoch, first: v_first as number, last: v_last as number };
  if (kind === 'stale') return { ...result, stale: true };
  if (kind === 'known') return { ...result, duplicate: runOf(v_known) };
  place(events, result.first, options.term);
  return result;
}

function dataOf({ events, options: { term, erase } }: QueuedAppend): string | null {
  if (erase !== undefined || events.length === 0) return null;
  for (const event of events) event.term = term;
  return encodeEvents(events);
}

/** The changes that come with the events; null for most appends. */
function extrasOf({ ref, id, key, events, options, rewritten }: QueuedAppend): string | null {
  if (isPlain(options)) return null;
  const { term, opens, steps, ends, activity, about, records, messages, said, close, erase } = options;
  const last = events.length;
  return JSON.stringify({
    ...(opens && { opens: opensOf(opens, events) }),
    ...(steps && { steps: stepsOf(steps) }),
    ...(ends && {
      ends: ends.map(({ runId, result }) => ({
        runId: toColumn(runId),
        result: JSON.stringify(result),
        offset: offsetOf(events, runId),
      })),
    }),
    ...(activity && { status: activity.status, activity: JSON.stringify(activity) }),
    ...(about && aboutOf(about)),
    ...(records && { ...homeRow(ref, key), records: records.map(toRow) }),
    ...(messages && messagesToPut(messages)),
    ...rewritten,
    ...(said && { said: saidToPut(ref, id, said) }),
    ...(close && { close }),
    ...(erase !== undefined && {
      erase,
      notice: encodeEvents([{ ...events[last - 1]!, term }]),
      noticeSize: events[last - 1]!.body.length,
    }),
  });
}

function opensOf(
  { runId, key, hash, request }: NonNullable<AppendOptions['opens']>,
  events: readonly EventRecord[],
) {
  const offset = placeOfAccepted(events, 0);
  return { runId: toColumn(runId), key: toNullable(key), hash: hash ?? null, request, offset };
}

/** The last step of each number. */
function stepsOf(steps: NonNullable<AppendOptions['steps']>) {
  const byNumber = new Map(steps.map((step) => [`${step.number} ${step.runId}`, step]));
  return [...byNumber.values()].map(({ runId, number, name, outcome }) => ({
    runId: toColumn(runId),
    number,
    name: toColumn(name),
    outcome: outcome ?? null,
  }));
}

/** Place of a run's end, counted from the first event of its batch. */
function offsetOf(events: readonly EventRecord[], runId: string): number {
  const numbered = events.map((event, seq) => ({ ...event, seq }));
  return placeOfEnd(numbered, runId, events.length - 1);
}

function aboutOf({ usedAt, failed, ...about }: NonNullable<AppendOptions['about']>) {
  const { title, archived = false } = about;
  return {
    // Lists look for it there: other fields may have any text.
    about: JSON.stringify({ ...(failed && { failed }), ...about }),
    archived,
    usedAt: usedAt ?? 0,
    searched: title === undefined ? null : toColumn(searched(title)),
  };
}
