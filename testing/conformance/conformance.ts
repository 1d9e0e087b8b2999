import { randomUUID } from 'node:crypto';
import { createClient } from '../../client/index.js';
import { CASES } from './cases.js';
import type { Examined } from './raw.js';

/** Options of `conformance`. */
export interface ConformanceOptions extends Examined {
  /** Prefix of the routes that the gateway moved. */
  readonly extraRoutes?: string | undefined;
  /** The message to the app. The app must answer it without asking anybody. @default 'Hello' */
  readonly message?: string | undefined;
  /** The app of the sessions. @default the default app */
  readonly app?: string | undefined;
  /** Longest check of a promise, in milliseconds. @default 30000 */
  readonly patienceMs?: number | undefined;
}

/** The result of one promise's check. */
export interface ConformanceResult {
  readonly name: string;
  /** The observation that breaks the promise; undefined if it was kept. */
  readonly fault: string | undefined;
}

/**
 * Checks whether a running gateway, with everything in front of it, keeps its promises to clients. It talks to the app in sessions of its own, which
 * it deletes.
 *
 * @example
 * ```ts
 * for await (const { name, fault } of conformance({ url: 'https://example.com/agent', token: auth.token() }))
 *   if (fault) console.log(name, fault);
 * ```
 */
export async function* conformance(
  options: ConformanceOptions,
): AsyncGenerator<ConformanceResult, void, void> {
  const { url, token, extraRoutes, message = 'Hello', app, patienceMs = 30_000 } = options;
  for (const { name, check } of CASES) {
    const client = createClient({ baseUrl: url, token, ...(extraRoutes !== undefined && { extraRoutes }) });
    const sessionId = `${app === undefined ? '' : `${app}:`}conformance-${randomUUID()}`;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new Error(`not seen within ${patienceMs} ms`)), patienceMs);
    try {
      const over = new Promise<never>((_, reject) => {
        late.signal.addEventListener('abort', () => reject(late.signal.reason));
      });
      await Promise.race([check({ url, token, client, sessionId, message, signal: late.signal }), over]);
      yield { name, fault: undefined };
    } catch (error) {
      yield { name, fault: (error as Error).message };
    } finally {
      clearTimeout(timer);
      late.abort();
      await client
        .session(sessionId)
        .delete()
        .catch(() => {});
      client.disconnect();
    }
  }
}
