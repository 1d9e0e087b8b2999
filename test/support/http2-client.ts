import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { TOKEN } from './gateway.js';
import { closeLater } from './resources.js';
import { RawReader } from './sse-client.js';

export interface Http2Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly body: any;
}

/** Asks over one HTTP/2 connection, as browsers do: without a length, and without `Host`. */
export class Http2Client {
  readonly origin: string;
  readonly #session: ClientHttp2Session;

  constructor(url: string) {
    this.origin = url;
    this.#session = closeLater(connect(url), (it) => it.destroy());
  }

  /** Opens a stream; a body is sent as it is, without `content-length`. */
  open(path: string, { body, ...headers }: OutgoingHttpHeaders & { body?: string } = {}): ClientHttp2Stream {
    const stream = this.#session.request(
      {
        ':path': path,
        ':method': body === undefined ? 'GET' : 'POST',
        authorization: `Bearer ${TOKEN}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      { endStream: body === undefined },
    );
    if (body !== undefined) stream.end(body);
    return stream;
  }

  async ask(path: string, options: OutgoingHttpHeaders & { body?: string } = {}): Promise<Http2Answer> {
    const stream = this.open(path, options);
    const [headers] = await once(stream, 'response');
    let text = '';
    for await (const chunk of stream.setEncoding('utf8')) text += chunk;
    const json = String(headers['content-type']).includes('json');
    return { status: headers[':status'], headers, text, body: json ? JSON.parse(text) : undefined };
  }

  post(path: string, value: unknown, headers: OutgoingHttpHeaders = {}): Promise<Http2Answer> {
    return this.ask(path, { accept: 'application/json', ...headers, body: JSON.stringify(value) });
  }
}

/** The events of a stream as they come. */
export async function* eventsOf(stream: ClientHttp2Stream): AsyncGenerator<{ type: string; data: any }> {
  const reader = new RawReader();
  for await (const chunk of stream) {
    for (const { event, data } of reader.feed(chunk)) yield { type: event, data };
  }
}
