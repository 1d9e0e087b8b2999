import type { AgentBounds } from './agent-options.js';
import { invalidReply } from './invalid-reply.js';

const [NEWLINE, RETURN] = [10, 13];
const EMPTY = Buffer.alloc(0);

/**
 * Passes on the whole events of a stream of server-sent events, with plain newlines, however they came. Parsers look through an unfinished event again at each
 * piece, and some know one form of newlines only.
 */
export class EventFramer {
  readonly #bounds: AgentBounds;
  readonly #isStream: boolean;
  /** Pieces of an event whose end has not come. */
  #rest: Buffer[] = [];
  #restBytes = 0;
  #bytes = 0;
  /** Whether the last piece ended with a carriage return, whose newline may follow. */
  #isSplit = false;

  /** @param isStream Whether the reply has events; any other one is only counted */
  constructor(bounds: AgentBounds, isStream: boolean) {
    this.#bounds = bounds;
    this.#isStream = isStream;
  }

  /** The events that a piece completes. @throws GatewayError `APP_REPLY_INVALID` for too large a reply or event */
  take(piece: Uint8Array): Uint8Array {
    const { replyBytes, eventBytes } = this.#bounds;
    this.#bytes += piece.length;
    if (this.#bytes > replyBytes) throw invalidReply(`it must have at most ${replyBytes} bytes`);
    if (!this.#isStream) return piece;
    const plain = this.#plain(Buffer.from(piece.buffer, piece.byteOffset, piece.length));
    const end = this.#endIn(plain);
    const whole = end === 0 ? EMPTY : Buffer.concat([...this.#rest, plain.subarray(0, end)]);
    if (end > 0) {
      this.#rest = [];
      this.#restBytes = 0;
    }
    if (end < plain.length) {
      this.#rest.push(plain.subarray(end));
      this.#restBytes += plain.length - end;
    }
    if (this.#restBytes > eventBytes) throw invalidReply(`an event must have at most ${eventBytes} bytes`);
    return whole;
  }

  /** The bytes that are left at the end of the reply. */
  end(): Uint8Array {
    return Buffer.concat(this.#rest);
  }

  #plain(piece: Buffer): Buffer {
    const from = this.#isSplit && piece[0] === NEWLINE ? 1 : 0;
    this.#isSplit = piece.at(-1) === RETURN;
    const given = from === 0 ? piece : piece.subarray(from);
    if (!given.includes(RETURN)) return given;
    return Buffer.from(given.toString('latin1').replace(/\r\n?/g, '\n'), 'latin1');
  }

  /** The place behind the last empty line of a piece; 0 if it has none. */
  #endIn(piece: Buffer): number {
    const at = piece.lastIndexOf('\n\n');
    if (at >= 0) return at + 2;
    return piece[0] === NEWLINE && this.#rest.at(-1)?.at(-1) === NEWLINE ? 1 : 0;
  }
}
