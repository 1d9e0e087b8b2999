import type { Server } from 'node:net';

/** Listens with a queue that no handshake of a benchmark overruns. */
export function listen<S extends Server>(server: S, at: { port: number } | { path: string }): Promise<S> {
  return new Promise((resolve) => {
    server.listen({ host: '127.0.0.1', backlog: 4096, ...at }, () => resolve(server));
  });
}

/** Subscribers by session. */
export class Subscribers<T> {
  readonly #bySession = new Map<string, T[]>();

  add(session: string, subscriber: T): void {
    const those = this.#bySession.get(session);
    if (those) those.push(subscriber);
    else this.#bySession.set(session, [subscriber]);
  }

  of(session: string): readonly T[] {
    return this.#bySession.get(session) ?? [];
  }
}

export const sseEvent = (event: object): string => `event: content_delta\ndata: ${JSON.stringify(event)}\n\n`;
export const SSE_CONNECTED = 'event: connected\ndata: {}\n\n';
export const SSE_END = 'event: message_end\ndata: {}\n\n';
