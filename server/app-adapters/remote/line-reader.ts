import { isUtf8 } from 'node:buffer';
import { isGatewayError } from '../../../shared/errors.js';
import { parseJson } from '../../schema/parse-json.js';
import { issuesOf } from '../../schema/validate.js';
import { replyFault } from './fault.js';
import { type AppLine, lineSchema } from './lines.js';

const NEWLINE = 10;
/** Levels of a line. */
const MAX_DEPTH = 64;
const TYPES: ReadonlySet<unknown> = new Set(lineSchema.options.map(({ shape }) => shape.type.value));

/** Bounds of a reply. */
export interface ReplyBounds {
  readonly lineBytes: number;
  readonly replyBytes: number;
}

/** Makes checked lines of the bytes of one reply. */
export class LineReader {
  readonly #bounds: ReplyBounds;
  /** The pieces of a line whose end has not come. */
  #rest: Buffer[] = [];
  #restBytes = 0;
  #bytes = 0;
  /** Number of the last line. */
  line = 0;

  constructor(bounds: ReplyBounds) {
    this.#bounds = bounds;
  }

  /** The lines that a piece completes. @throws GatewayError `APP_REPLY_INVALID` that names the line */
  *read(piece: Buffer): Generator<AppLine, void> {
    const { lineBytes, replyBytes } = this.#bounds;
    this.#bytes += piece.length;
    let from = 0;
    for (;;) {
      const end = piece.indexOf(NEWLINE, from);
      const size = (end < 0 ? piece.length : end) - from + this.#restBytes;
      if (size > lineBytes) throw replyFault(this.line + 1, '', `must have at most ${lineBytes} bytes`);
      if (this.#bytes - piece.length + from > replyBytes || (end < 0 && this.#bytes > replyBytes))
        throw replyFault(this.line + 1, '', `comes after ${replyBytes} bytes, the most of a reply`);
      if (end < 0) break;
      const line = this.#taken(piece.subarray(from, end));
      from = end + 1;
      this.line += 1;
      const read = this.#lineOf(line);
      if (read) yield read;
    }
    if (from === piece.length) return;
    this.#rest.push(from === 0 ? piece : piece.subarray(from));
    this.#restBytes += piece.length - from;
  }

  /** Whether the reply ended within a line. */
  get isWithin(): boolean {
    return this.#restBytes > 0;
  }

  #taken(end: Buffer): Buffer {
    if (this.#restBytes === 0) return end;
    const line = Buffer.concat([...this.#rest, end]);
    this.#rest = [];
    this.#restBytes = 0;
    return line;
  }

  #lineOf(bytes: Buffer): AppLine | null {
    if (bytes.length === 0 || (bytes.length === 1 && bytes[0] === 13)) return null;
    if (!isUtf8(bytes)) throw replyFault(this.line, '', 'must be UTF-8');
    const value = this.#json(bytes.toString());
    if (isPiece(value)) return value;
    const { data, error } = lineSchema.safeParse(value);
    if (data) return data;
    const { type } = (value ?? {}) as { readonly type?: unknown };
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw replyFault(this.line, '', 'must be an object');
    if (!TYPES.has(type)) throw replyFault(this.line, 'type', `must be one of ${[...TYPES].join(', ')}`);
    const { path, message } = issuesOf(error)[0]!;
    throw replyFault(this.line, path, message);
  }

  #json(text: string): unknown {
    try {
      return parseJson(text, MAX_DEPTH);
    } catch (error) {
      const isDeep = isGatewayError(error) && error.message !== 'The body is not JSON';
      throw replyFault(this.line, '', isDeep ? error.message : 'must be JSON');
    }
  }
}

/** Whether a value is the common line, a piece of text that goes on where the last one ended. */
function isPiece(value: unknown): value is AppLine {
  const { type, delta, at } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return type === 'text' && typeof delta === 'string' && at === undefined;
}
