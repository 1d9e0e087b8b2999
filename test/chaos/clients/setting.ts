import { setTimeout as delay } from 'node:timers/promises';
import { TOKEN } from '../../support/gateway.js';
import type { ChaosCluster } from '../chaos-cluster.js';
import type { Aborted, Answered, Reading, Sent } from '../history.js';

/** How long an attempt of a client may take before it tries another gateway, in milliseconds. */
const ATTEMPT_MS = 4000;

/** What the clients of one test share. */
export interface Setting {
  readonly cluster: ChaosCluster;
  readonly random: () => number;
  /** Aborted when the readers are to stop. */
  readonly over: AbortSignal;
  readonly sent: Sent[];
  readonly aborted: Aborted[];
  readonly answered: Answered[];
  readonly readings: Reading[];
}

/** One of these, by chance. */
export function oneOf<T>({ random }: Pick<Setting, 'random'>, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)]!;
}

/** A pause of up to so many milliseconds. */
export function pause({ random }: Pick<Setting, 'random'>, ms: number): Promise<void> {
  return delay(random() * ms);
}

/** Makes a request at any gateway. Null where nobody knows what became of it: it was cut, or it took too long. */
export async function attempt<T>(
  setting: Setting,
  path: string,
  options: { readonly body: unknown; readonly headers?: Readonly<Record<string, string>> },
  read: (response: Response) => Promise<T>,
): Promise<T | null> {
  const { url } = oneOf(setting, setting.cluster.nodes);
  // No `AbortSignal.timeout` in an `AbortSignal.any`: in Node 20 it may be collected before it fires.
  const abort = new AbortController();
  const leave = (): void => abort.abort();
  const timer = setTimeout(leave, ATTEMPT_MS);
  setting.over.addEventListener('abort', leave);
  try {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
        accept: 'application/json',
        ...options.headers,
      },
      body: JSON.stringify(options.body),
      signal: abort.signal,
    });
    return await read(response);
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
    setting.over.removeEventListener('abort', leave);
  }
}

/** Whether the same request may succeed later: 408 is what comes of a line that carried nothing of it in time. */
export const passes = (status: number): boolean => status === 408 || status === 429 || status >= 500;

/** The status of an answer, and its body. */
export async function jsonOf(response: Response): Promise<{ readonly status: number; readonly body: any }> {
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}
