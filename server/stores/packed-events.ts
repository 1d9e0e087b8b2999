import type { LoggedEventType } from '../../shared/events.js';
import type { StoredEvent } from './stored.js';

/** Bytes of a chunk that take no more rows. A row that is longer has a chunk of its own. */
const CHUNK = 16 * 1024;
const SMALLEST = 512;
/** A row before its body: bytes of the body, characters of the body, and the time of the event. */
const ROW = 4 + 4 + 8;
/** Bytes of UTF-8 that a character of JavaScript takes at most. */
const MOST_BYTES = 3;

/** A stretch of events of one chunk that have all this in common. */
interface Stretch {
  /** Place of its first event. */
  readonly first: number;
  readonly type: LoggedEventType;
  readonly runId: string | undefined;
  readonly term: number;
}

interface Packed {
  bytes: Buffer;
  used: number;
  /** Place of its first event. */
  readonly first: number;
  /** Place of its last event. */
  last: number;
  readonly stretches: Stretch[];
}

/**
 * The events of a log in memory, as bytes outside the heap. The garbage collector copies and marks objects, and would stop a busy gateway for
 * as long as there are many events.
 */
export class PackedEvents {
  #chunks: Packed[] = [];
  #first: number;
  #head: number;

  /** @param first Place of the first event */
  constructor(first = 1) {
    this.#first = first;
    this.#head = first - 1;
  }

  /** Place of the first event that is kept. */
  get first(): number {
    return this.#first;
  }

  /** Place of the last event. */
  get head(): number {
    return this.#head;
  }

  /** Adds the event of the next place. */
  push({ type, runId, term, ts, body }: StoredEvent): void {
    const first = ++this.#head;
    const chunk = this.#room(body);
    const { bytes, used, stretches } = chunk;
    const stretch = stretches.at(-1);
    if (stretch?.runId !== runId || stretch?.type !== type || stretch?.term !== term)
      stretches.push({ first, type, runId, term });
    const length = bytes.write(body, used + ROW);
    bytes.writeUInt32LE(length, used);
    bytes.writeUInt32LE(body.length, used + 4);
    bytes.writeDoubleLE(ts, used + 8);
    chunk.used = used + ROW + length;
    chunk.last = first;
  }

  /** The last chunk, with room for a row with this body. */
  #room(body: string): Packed {
    const chunk = this.#chunks.at(-1);
    // Nearly always there is room for any text of that length, and its bytes need not be counted.
    if (chunk && chunk.used + ROW + body.length * MOST_BYTES <= chunk.bytes.length) return chunk;
    const size = ROW + Buffer.byteLength(body);
    const needed = (chunk?.used ?? 0) + size;
    if (!chunk || (needed > CHUNK && chunk.used > 0)) {
      const bytes = Buffer.allocUnsafeSlow(Math.max(size, chunk ? CHUNK : SMALLEST));
      const begun = { bytes, used: 0, first: this.#head, last: this.#head, stretches: [] };
      this.#chunks.push(begun);
      return begun;
    }
    if (needed > chunk.bytes.length) {
      const bytes = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(CHUNK, chunk.bytes.length * 2)));
      chunk.bytes.copy(bytes, 0, 0, chunk.used);
      chunk.bytes = bytes;
    }
    return chunk;
  }

  /** Events after a place, at most `limit`, ending with the one that reaches so many characters. */
  read(after: number, limit: number, characters: number): readonly StoredEvent[] {
    const read: StoredEvent[] = [];
    let left = characters;
    this.#each(after, (chunk, at, seq, stretch) => {
      if (read.length >= limit || left <= 0) return false;
      const { bytes } = chunk;
      const { type, runId, term } = stretch;
      const body = bytes.toString('utf8', at + ROW, at + ROW + bytes.readUInt32LE(at));
      read.push({ seq, term, type, ts: bytes.readDoubleLE(at + 8), runId, body });
      left -= body.length;
      return true;
    });
    return read;
  }

  /** Drops the events up to a place. Returns how many characters they had. */
  cut(last: number): number {
    let characters = 0;
    this.#each(this.#first - 1, ({ bytes }, at, seq) => {
      if (seq > last) return false;
      characters += bytes.readUInt32LE(at + 4);
      return true;
    });
    this.#first = Math.min(last, this.#head) + 1;
    this.#chunks = this.#chunks.filter((chunk) => chunk.last >= this.#first);
    return characters;
  }

  /** Visits rows after a place until the visitor returns false. */
  #each(after: number, visit: (chunk: Packed, at: number, seq: number, stretch: Stretch) => boolean): void {
    const from = Math.max(after + 1, this.#first);
    for (let n = this.#chunks.findLastIndex(({ first }) => first <= from); n < this.#chunks.length; n++) {
      const chunk = this.#chunks[n];
      if (!chunk) return;
      let stretch = -1;
      let at = 0;
      for (let seq = chunk.first; seq <= chunk.last; seq++) {
        if (chunk.stretches[stretch + 1]?.first === seq) stretch += 1;
        if (seq >= from && !visit(chunk, at, seq, chunk.stretches[stretch]!)) return;
        at += ROW + chunk.bytes.readUInt32LE(at);
      }
    }
  }
}
