import { setTimeout as delay } from 'node:timers/promises';
import { get, TOKEN } from '../../support/gateway.js';
import { RawReader } from '../../support/sse-client.js';
import type { ChaosNode } from '../chaos-node.js';
import type { View } from '../history.js';

/** How long a gateway may take to show a session, in milliseconds. */
const VIEW_MS = 10_000;

/** Resolves once nothing runs or waits in a session, at any gateway; rejects with what still does when that takes too long. */
export async function quiet(nodes: readonly ChaosNode[], sessionId: string, ms: number): Promise<void> {
  const until = performance.now() + ms;
  const query = `?sessionId=${encodeURIComponent(sessionId)}`;
  let told = '';
  while (performance.now() < until) {
    const answers = await Promise.all(nodes.map(({ url }) => get(`${url}/status${query}`).catch(() => null)));
    told = JSON.stringify(answers.map((answer) => answer?.body));
    const isQuiet = answers.every((answer) => {
      if (answer?.status === 404) return true;
      return answer?.status === 200 && answer.body.status === 'idle' && answer.body.queued === 0;
    });
    const heads = new Set(answers.map((answer) => answer?.body.cursor));
    if (isQuiet && heads.size === 1) return;
    await delay(100);
  }
  throw new Error(`session ${sessionId} is not quiet: ${told}`);
}

/** What a gateway shows of a session; null where it has not begun. */
export async function viewOf({ name, url }: ChaosNode, sessionId: string): Promise<View | null> {
  const query = `?sessionId=${encodeURIComponent(sessionId)}`;
  const exported = await fetch(`${url}/export${query}&what=events`, {
    headers: { authorization: `Bearer ${TOKEN}` },
    signal: AbortSignal.timeout(VIEW_MS),
  });
  if (exported.status === 404) return null;
  if (!exported.ok) throw new Error(`the export was answered ${exported.status}: ${await exported.text()}`);
  const lines = (await exported.text()).trim();
  const events = lines === '' ? [] : lines.split('\n').map((line) => JSON.parse(line));
  const messages = await get(`${url}/history${query}&limit=1000`);
  if (messages.status !== 200)
    throw new Error(`the history was answered ${messages.status}: ${JSON.stringify(messages.body)}`);
  return {
    node: name,
    sessionId,
    events,
    state: await stateOf(url, query),
    messages: messages.body.messages,
  };
}

async function stateOf(url: string, query: string): Promise<View['state']> {
  const abort = new AbortController();
  const response = await fetch(`${url}/events${query}&from=snapshot`, {
    headers: { authorization: `Bearer ${TOKEN}` },
    signal: AbortSignal.any([abort.signal, AbortSignal.timeout(VIEW_MS)]),
  });
  const reader = new RawReader();
  try {
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      const snapshot = reader.feed(chunk).find(({ event }) => event === 'snapshot');
      if (snapshot) return snapshot.data.state;
    }
  } finally {
    abort.abort();
  }
  throw new Error('no snapshot');
}
