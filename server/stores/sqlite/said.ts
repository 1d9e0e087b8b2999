import {
  keptText,
  pageOf,
  type SaidChanges,
  type SaidPage,
  type SaidQuery,
  type SaidWithin,
} from '../said.js';
import { fromColumn, toColumn } from '../text-column.js';
import { bare, indexedWords, isBeginning, placeWord } from '../words.js';
import type { SqliteConnection } from './connection.js';
import type { LogState } from './log-state.js';
import type { SqliteReader } from './reader.js';
import { refOf } from './session-columns.js';
import type { Statements } from './statements.js';

/** Texts whose words are written together, and characters of words. One by one would cost several times as much, and a search waits for so many. */
const TOGETHER = { texts: 64, chars: 128 * 1024 };

/**
 * The texts that conversations show, for search. A text is kept with its append, and its words are written a little later, many texts at a time. A search
 * first writes those that are left, so it finds every text.
 */
export class SqliteSaid {
  readonly #connection: SqliteConnection;
  readonly #sql: Statements;
  readonly #reader: SqliteReader;
  #last: number;
  /** The words of texts that have none in the index yet, by their ids. A transaction that failed leaves some without a text. */
  readonly #fresh = new Map<number, string>();
  #chars = 0;
  #isScheduled = false;
  /** Whether the former process may have left texts without words. */
  #isBehind = true;

  constructor(connection: SqliteConnection, sql: Statements, reader: SqliteReader) {
    this.#connection = connection;
    this.#sql = sql;
    this.#reader = reader;
    this.#last = sql.lastSaid.get()!.id as number;
  }

  /** Changes what is found of a log, within the transaction of its append. */
  change(log: LogState, { from, put }: SaidChanges): void {
    if (from !== undefined) this.#sql.cutSaid.run(log.id, from);
    const replaced = put.flatMap(({ depth, isNew }) => (isNew ? [] : depth));
    if (replaced.length > 0) this.#sql.dropSaid.run(log.id, JSON.stringify(replaced));
    const { scope, app } = log.ref;
    const places = put.length > 0 ? placesOf(toColumn(scope), toColumn(app), log.id) : '';
    for (const { depth, messageId, role, at, text } of put) {
      if (text === '') continue;
      const kept = keptText(text);
      const id = ++this.#last;
      const named = [log.id, depth, toColumn(messageId), role, at, log.head, log.term] as const;
      this.#sql.putSaid.run(id, ...named, toColumn(kept));
      const words = wordsOf(places, kept);
      this.#fresh.set(id, words);
      this.#chars += words.length;
    }
    const isMuch = this.#fresh.size >= TOGETHER.texts || this.#chars >= TOGETHER.chars;
    if (!isMuch || this.#isScheduled) return;
    this.#isScheduled = true;
    void this.#connection.disk.free().then(() => {
      this.#isScheduled = false;
      if (!this.#connection.open) return;
      try {
        this.settle();
      } catch {
        // The texts are kept, and the next search or append tries again.
      }
    });
  }

  /** Writes the words of all texts. */
  settle(): void {
    if (this.#isBehind) this.#catchUp();
    if (this.#fresh.size === 0) return;
    this.#connection.transaction(() => {
      this.#sql.putFresh.run(JSON.stringify([...this.#fresh]));
      this.#sql.putMeta.run('said', this.#last);
    });
    this.#fresh.clear();
    this.#chars = 0;
  }

  #catchUp(): void {
    const first = Math.min(...this.#fresh.keys(), Number.MAX_SAFE_INTEGER);
    this.#connection.transaction(() => {
      for (const { id, log, text, scope, app } of this.#sql.leftSaid.all(first))
        this.#sql.putWords.run(
          id!,
          wordsOf(placesOf(scope as string, app as string, log as number), fromColumn(text as string)),
        );
    });
    this.#isBehind = false;
  }

  find(query: SaidQuery): SaidPage {
    const { within, words, limit, before = Number.MAX_SAFE_INTEGER } = query;
    this.settle();
    const places = within.flatMap((each) => this.#placeOf(each) ?? []);
    if (places.length === 0 || words.length === 0) return { hits: [], next: null };
    const asked = words.map((word) => (isBeginning(word) ? `"${bare(word)}"*` : `"${word}"`));
    const match = `(${places.join(' OR ')}) AND ${asked.join(' AND ')}`;
    const rows = this.#sql.findSaid.all(match, before, limit).map((row) => ({
      place: row.id as number,
      ref: refOf(row),
      epoch: row.epoch as string,
      messageId: fromColumn(row.message as string),
      role: row.role as 'user' | 'assistant',
      at: row.at as number,
      seq: row.seq as number,
      term: row.term as number,
      text: fromColumn(row.text as string),
    }));
    return pageOf(rows, query);
  }

  #placeOf(within: SaidWithin): string | null {
    if (within.epoch === undefined) {
      const { scope, app } = within;
      return app === undefined ? ofScope(toColumn(scope)) : ofApp(toColumn(scope), toColumn(app));
    }
    const log = this.#reader.log(within, within.epoch);
    return log && ofLog(log.id);
  }
}

const ofScope = (scope: string): string => placeWord('s', scope);
const ofApp = (scope: string, app: string): string => placeWord('a', scope, app);
const ofLog = (log: number): string => `_l${log}`;
/** The words of a log's places. The names are as in columns. */
const placesOf = (scope: string, app: string, log: number): string =>
  `${ofScope(scope)} ${ofApp(scope, app)} ${ofLog(log)}`;
/** The words under which the index has a text: of its places, and its own. */
const wordsOf = (places: string, text: string): string => [places, ...indexedWords(text)].join(' ');
