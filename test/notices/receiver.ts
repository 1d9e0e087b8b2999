import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ToldNotice, WebhookBody } from '../../shared/notices/contract.js';
import { closeLater } from '../support/resources.js';

/** Of 32 bytes. */
export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** A webhook as it came. */
export interface Received {
  readonly id: string;
  readonly headers: Record<string, string>;
  readonly raw: string;
  readonly body: WebhookBody;
  readonly at: number;
}

type Answer = (response: ServerResponse, received: Received) => unknown;

/** A receiver of webhooks on a port of its own. */
export class Receiver {
  readonly all: Received[] = [];
  answer: Answer = (response) => response.writeHead(204).end();
  url = '';
  readonly #server = createServer((request, response) => void this.#take(request, response));
  #told: (() => void) | null = null;

  static async start(answer?: Answer, port = 0): Promise<Receiver> {
    const receiver = new Receiver();
    if (answer) receiver.answer = answer;
    receiver.#server.listen(port, '127.0.0.1');
    await once(receiver.#server, 'listening');
    receiver.url = `http://127.0.0.1:${(receiver.#server.address() as AddressInfo).port}/hook`;
    closeLater(receiver, (it) => it.stop());
    return receiver;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const headers = request.headers as Record<string, string>;
    const raw = await text(request);
    const body = JSON.parse(raw) as WebhookBody;
    const received = { id: headers['webhook-id'] ?? '', headers, raw, body, at: Date.now() };
    this.all.push(received);
    await this.answer(response, received);
    this.#told?.();
  }

  get told(): readonly ToldNotice[] {
    return this.all.map(({ body }) => body.data);
  }

  /** Resolves once what came is as it is to be. */
  async until(isDone: (all: readonly Received[]) => boolean): Promise<readonly Received[]> {
    while (!isDone(this.all))
      await new Promise<void>((resolve) => {
        this.#told = resolve;
      });
    return this.all;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve));
  }
}

type Mood = (response: ServerResponse) => unknown;

/** What a receiver does that takes a notice. */
export const TAKES: Mood = (response) => response.writeHead(204).end();

/** A receiver that does one thing or another with a notice the first time, and takes it after that. */
export async function startMoody(moods: readonly Mood[]) {
  const taken: Received[] = [];
  const seen = new Set<string>();
  let arrived = (): void => {};
  const receiver = await Receiver.start((response, received) => {
    arrived();
    const isFirst = !seen.has(received.id);
    seen.add(received.id);
    response.on('finish', () => {
      if (response.statusCode === 204) taken.push(received);
    });
    return (isFirst ? moods[seen.size % moods.length]! : TAKES)(response);
  });
  /** Resolves as the next notice arrives. */
  const arrival = (): Promise<void> =>
    new Promise((resolve) => {
      arrived = resolve;
    });
  return { receiver, taken, seen, arrival };
}
