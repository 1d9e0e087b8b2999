import { type Client, type ClientOptions, type ConnectionState, createClient } from '../../client/index.js';
import { TOKEN } from './gateway.js';
import { closeLater } from './resources.js';

/** A client of the gateway under test; it is disconnected after the test. */
export function connectClient<Source extends object = never>(
  baseUrl: string,
  options: Omit<ClientOptions, 'baseUrl'> = {},
): [Source] extends [never] ? Client : Client<Source> {
  const client = createClient({ baseUrl, token: TOKEN, ...options });
  return closeLater(client, (it) => it.disconnect()) as never;
}

/** Resolves when the client's connection is in a state, now or later. */
export function reaches(client: Pick<Client, 'connection'>, state: ConnectionState): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (client.connection.state !== state) return;
      stop();
      resolve();
    };
    const stop = client.connection.subscribe(check);
    check();
  });
}

/** Everything an iteration yields. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Takes items up to the one that matches, without leaving the iteration. */
export async function takeUntil<T>(items: AsyncIterator<T>, matches: (item: T) => boolean): Promise<T[]> {
  const all: T[] = [];
  for (;;) {
    const { done, value } = await items.next();
    if (done) throw new Error(`ended after ${all.length} items`);
    all.push(value);
    if (matches(value)) return all;
  }
}

/** The error a promise rejects with. */
export async function failure(promise: PromiseLike<unknown>): Promise<any> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('expected a rejection');
}
