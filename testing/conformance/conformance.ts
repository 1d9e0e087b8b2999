import { randomUUID } from 'node:crypto';
import { createClient } from '../../client/index.js';
import { CASES } from './cases.js';
import type { Examined } from './raw.js';

/** What is examined, and how. */
export interface ConformanceOptions extends Examined {
  /** Prefix of the routes that the gateway moved. */
  readonly extraRoutes?: string | undefined;
  /** What is said to the app, which is to answer it without asking anybody. @default 'Hello' */
  readonly message?: string | undefined;
  /** The app of the sessions that are begun. @default the default one */
  readonly app?: string | undefined;
  /** Milliseconds within which each promise has to be seen. @default 30000 */
  readonly patienceMs?: number | undefined;
}

/** Whether a promise was kept. */
export interface ConformanceResult {
  readonly name: string;
  /** What was seen in place of it; undefined where it was kept. */
  readonly fault: string | undefined;
}

/**
 * Examines a running gateway, with all that is in front of it: whether clients get what they may rely on. It talks to the app in sessions
 * of its own, which it deletes.
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
