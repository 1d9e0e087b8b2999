import type { AppendResult } from '../append.js';
import { Batched } from '../batched.js';
import { place } from '../placed.js';
import { sizeOf } from '../stored-size.js';
import { type Answer, resultOf } from './answers.js';
import { encodePlain, type PlainAppend } from './appending.js';
import type { Keys } from './keys.js';
import type { Link } from './link.js';
import type { RedisUsage } from './usage.js';

/** The most that one call writes, in appends and in characters. Other clients of Redis wait for it. */
const APPENDS = 256;
const CHARS = 1 << 20;

interface PlainAppendsParts {
  readonly link: Link;
  readonly keys: Keys;
  readonly usage: RedisUsage;
  /** Whether one call may write one partition alone, since Redis is a Cluster. */
  readonly apart: boolean;
}

type Gathered = Batched<PlainAppend, AppendResult>;

/** Writes the appends that change only their logs: those of one turn of the event loop, of all sessions, by one call of a script. */
export class PlainAppends {
  readonly #parts: PlainAppendsParts;
  /** Those of each partition, where they are apart. */
  readonly #gathered = new Map<number, Gathered>();

  constructor(parts: PlainAppendsParts) {
    this.#parts = parts;
  }

  append(append: PlainAppend): Promise<AppendResult> {
    const { keys, apart } = this.#parts;
    const partition = apart ? keys.session(append.log).partition : 0;
    let gathered = this.#gathered.get(partition);
    if (!gathered) {
      gathered = new Batched((appends) => this.#write(appends), Number.POSITIVE_INFINITY);
      this.#gathered.set(partition, gathered);
    }
    return gathered.do(append);
  }

  async #write(appends: readonly PlainAppend[]): Promise<readonly (AppendResult | Error)[]> {
    const parts = portionsOf(appends);
    if (parts.length === 1) return this.#call(appends);
    return (await Promise.all(parts.map((part) => this.#call(part)))).flat();
  }

  /** Appends that fail together have the same error. */
  async #call(appends: readonly PlainAppend[]): Promise<readonly (AppendResult | Error)[]> {
    const { link, keys } = this.#parts;
    try {
      const answers = (await link.run(encodePlain(keys, appends))) as readonly Answer[];
      return appends.map((append, i) => this.#settle(append, answers[i]!));
    } catch (error) {
      return appends.map(() => error as Error);
    }
  }

  #settle({ log, events, options: { term } }: PlainAppend, answer: Answer): AppendResult | Error {
    try {
      const result = resultOf(log, term, events.length, answer);
      place(events, result.first, term);
      if (typeof answer === 'number') this.#parts.usage.grow(log.scope, sizeOf(events));
      return result;
    } catch (error) {
      return error as Error;
    }
  }
}

/** The appends in portions for one call each. */
function portionsOf(appends: readonly PlainAppend[]): readonly (readonly PlainAppend[])[] {
  const portions: PlainAppend[][] = [];
  let size = 0;
  for (const append of appends) {
    const portion = portions.at(-1);
    const grown = size + sizeOf(append.events);
    if (portion && portion.length < APPENDS && grown <= CHARS) {
      portion.push(append);
      size = grown;
    } else {
      portions.push([append]);
      size = sizeOf(append.events);
    }
  }
  return portions;
}
