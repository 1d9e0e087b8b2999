import { GatewayError } from '../../shared/errors.js';

/** Longest line that is waited for, in characters. */
const MAX_LINE = 16 * 1024 * 1024;

/** One event of a stream, as text. */
export interface StreamedEvent {
  readonly event: string;
  readonly data: string;
  readonly id?: string;
}

/**
 * Reads Server-Sent Events (WHATWG HTML, section 9.2.6). Characters and lines may be cut anywhere. A reader of its own, because a
 * general one is a sixth of what the whole client may weigh.
 */
export class EventStreamDecoder {
  readonly #text = new TextDecoder();
  #rest = '';
  #fields: Record<string, string> = {};
  /** Milliseconds of the last `retry` field. */
  retryMs: number | undefined;

  /** @throws GatewayError `PAYLOAD_TOO_LARGE` for an endless line. */
  *feed(chunk: Uint8Array): Generator<StreamedEvent> {
    // A CR at the end may be half of a CRLF.
    const lines = (this.#rest + this.#text.decode(chunk, { stream: true })).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop()!;
    if (this.#rest.length > MAX_LINE) throw new GatewayError({ code: 'PAYLOAD_TOO_LARGE' });
    for (const line of lines) {
      const [, field = '', value = ''] = /^([^:]*):? ?(.*)/s.exec(line)!;
      if (line === '') {
        const { data, ...fields } = this.#fields;
        this.#fields = {};
        if (data !== undefined) yield { event: 'message', ...fields, data };
      } else if (field === 'data' && 'data' in this.#fields) this.#fields.data += `\n${value}`;
      else if (field === 'retry') this.retryMs = Number(value) || 0;
      else if (field) this.#fields[field] = value;
    }
  }
}
