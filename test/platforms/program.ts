/**
 * A program of the client alone, for any runtime: every kind of call, through a cut of the connection. `options` of the client and the
 * function `report`, which gets JSON, are given as text.
 */
export const program = (baseUrl: string, options: string, report: string): string => `
import { createClient } from 'agent-session-gateway/client';
const client = createClient({ baseUrl: ${JSON.stringify(baseUrl)}, ...(${options}) });
(async () => {
  const session = client.session('platform');
  const watch = session.watch();
  let isReady = () => {};
  const ready = new Promise((resolve) => { isReady = resolve; });
  const stop = watch.subscribe(() => watch.getSnapshot().status === 'ready' && isReady());
  await ready;
  const run = session.send('go');
  let text = '';
  for await (const piece of run.text) text += piece;
  const { stopReason } = await run.result;
  const events = [];
  for await (const { type } of session.events({ from: 'earliest' })) {
    events.push(type);
    if (type === 'message_end') break;
  }
  const doubled = await client.invoke('double', { n: 21 });
  const counted = [];
  for await (const item of client.stream('count', { to: 3 })) counted.push(item);
  const refused = await client.invoke('nothing').catch(({ name, code }) => [name, code]);
  const left = new AbortController();
  left.abort();
  const aborted = await client.invoke('double', { n: 1 }, { signal: left.signal }).catch(({ name, code }) => [name, code]);
  const shown = watch.getSnapshot().messages.map(({ role }) => role);
  stop();
  client.disconnect();
  return { text, stopReason, deltas: events.filter((type) => type === 'content_delta').length, starts: events.filter((type) => type === 'message_start').length, doubled, counted, refused, aborted, shown };
})().catch((error) => ({ error: String(error && error.stack || error) })).then((result) => { (${report})(JSON.stringify(result)); });
`;

/** What the program reports wherever it runs. */
export const EXPECTED = {
  text: Array.from({ length: 30 }, (_, at) => `${at} é 漢字 `).join(''),
  stopReason: 'end',
  deltas: 30,
  starts: 1,
  doubled: 42,
  counted: [1, 2, 3],
  refused: ['GatewayError', 'METHOD_NOT_FOUND'],
  aborted: ['AbortError', 'ABORTED'],
  shown: ['user', 'assistant'],
};
