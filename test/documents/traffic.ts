import { jsonHeaders } from '../support/gateway.js';
import type { RawFrame, RawSocket } from '../support/raw-socket.js';
import { openStream, RawReader, type RawStream } from '../support/sse-client.js';

/** One answer over HTTP, as it was on the wire. */
export interface HttpExchange {
  readonly route: string;
  readonly method: 'get' | 'post';
  readonly request: unknown;
  readonly status: number;
  readonly mediaType: string;
  readonly body: any;
}

/** One message of an event stream. */
export interface StreamMessage {
  readonly route: string;
  readonly event: string;
  readonly id?: string;
  /** As it was on the wire. */
  readonly wire?: any;
  /** With what the wire leaves out. */
  readonly data: any;
}

/** Everything that a run of tests has seen of a gateway. */
export class Traffic {
  readonly url: string;
  readonly http: HttpExchange[] = [];
  readonly streams: StreamMessage[] = [];
  readonly sent: any[] = [];
  /** Bodies of calls that were answered with a stream of items. */
  readonly streamed: any[] = [];
  readonly #open: { readonly route: string; readonly stream: RawStream }[] = [];
  readonly #sockets: RawSocket[] = [];

  constructor(url: string) {
    this.url = url;
  }

  /** Asks once; the body of an event stream is read to its end. */
  async ask(route: string, body?: unknown, headers: Record<string, string> = {}): Promise<any> {
    const method = body === undefined ? 'get' : 'post';
    const response = await fetch(this.url + route, {
      method,
      headers: { ...jsonHeaders(), accept: 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const path = route.split('?', 1)[0]!;
    const text = await response.text();
    const mediaType = (response.headers.get('content-type') ?? '').split(';', 1)[0]!;
    if (mediaType === 'text/event-stream') {
      if (path === '/invoke') this.streamed.push(body);
      const reader = new RawReader();
      for (const event of reader.feed(Buffer.from(text)))
        this.streams.push({ route: path, ...event, wire: event.wire });
      return text;
    }
    const answer = text === '' ? undefined : JSON.parse(text);
    this.http.push({ route: path, method, request: body, status: response.status, mediaType, body: answer });
    return answer;
  }

  /** Follows sessions. */
  async follow(query: string, headers: Record<string, string> = {}): Promise<RawStream> {
    const stream = await openStream(`${this.url}/events${query}`, {
      headers: { ...jsonHeaders(), ...headers },
    });
    this.#open.push({ route: '/events', stream });
    return stream;
  }

  /** Keeps what a socket says and hears. */
  watch<Socket extends RawSocket>(socket: Socket): Socket {
    const say = socket.say.bind(socket);
    socket.say = (frame) => {
      this.sent.push(frame);
      say(frame);
    };
    this.#sockets.push(socket);
    return socket;
  }

  get messages(): StreamMessage[] {
    return [
      ...this.streams,
      ...this.#open.flatMap(({ route, stream }) =>
        stream.events.map((event) => ({ route, ...event, wire: event.wire })),
      ),
    ];
  }

  /** As they were on the wire. */
  get frames(): RawFrame[] {
    return this.#sockets.flatMap(({ texts }) => texts.map((text) => JSON.parse(text)));
  }
}
