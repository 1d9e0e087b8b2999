import type { LoggedEventType } from '../../shared/events.js';
import { rewritten } from './rewrites.js';
import type { StoredEvent } from './stored.js';
import { sizeOf } from './stored-size.js';

/** Size of a chunk, in bytes. */
const CHUNK = 16 * 1024;
/** Characters of a body that is kept as text: one object, which is cheaper to keep than to encode. */
const LONG = 2 * 1024;
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
  /** The body of a long event, which is a stretch by itself. */
  readonly long: string | undefined;
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

  /** Those of a copy that begins behind a place, which a cut then drops. */
  static behind(head: number): PackedEvents {
    const events = new PackedEvents(head);
    events.#head = head;
    return events;
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
    const long = body.length > LONG ? body : undefined;
    const packed = long === undefined ? body : '';
    const chunk = this.#room(packed);
    const { bytes, used, stretches } = chunk;
    const stretch = stretches.at(-1);
    const differs = stretch?.runId !== runId || stretch?.type !== type || stretch?.term !== term;
    if (differs || stretch?.long !== long) stretches.push({ first, type, runId, term, long });
    const length = bytes.write(packed, used + ROW);
    bytes.writeUInt32LE(length, used);
    bytes.writeUInt32LE(body.length, used + 4);
    bytes.writeDoubleLE(ts, used + 8);
    chunk.used = used + ROW + length;
    chunk.last = first;
  }

  /** The last chunk, with room for a row with this text. */
  #room(text: string): Packed {
    const size = ROW + text.length * MOST_BYTES;
    const chunk = this.#chunks.at(-1);
    const needed = (chunk?.used ?? 0) + size;
    if (!chunk || needed > CHUNK) {
      const bytes = Buffer.allocUnsafeSlow(chunk ? CHUNK : Math.max(size, SMALLEST));
      const begun = { bytes, used: 0, first: this.#head, last: this.#head, stretches: [] };
      this.#chunks.push(begun);
      return begun;
    }
    if (needed > chunk.bytes.length) {
      const bytes = Buffer.allocUnsafeSlow(Math.min(CHUNK, Math.max(needed, chunk.bytes.length * 2)));
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
      const { type, runId, term, long } = stretch;
      const body = long ?? bytes.toString('utf8', at + ROW, at + ROW + bytes.readUInt32LE(at));
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

  /** Gives events other bodies. Returns by how many characters they grow. */
  rewrite(bodies: ReadonlyMap<number, string>): number {
    const before = this.read(this.#first - 1, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
    const after = rewritten(before, bodies);
    if (!after) return 0;
    const anew = new PackedEvents(this.#first);
    for (const event of after) anew.push(event);
    this.#chunks = anew.#chunks;
    return sizeOf(after) - sizeOf(before);
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
