// CPU and memory of a client for each event it decodes and folds, against another edition of the client:
//   node --expose-gc --import tsx bench/client-events.ts [folder of the other checkout]
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const EVENTS = 20_000;
const ROUNDS = 5;
const EPOCH = 'AAAAAAAAAAA';

const data = (seq: number, over: object) =>
  JSON.stringify({ sessionId: 'main', cursor: `${EPOCH}.1.${seq}`, ts: 1, runId: 'r', ...over });
const encoder = new TextEncoder();
const parts: string[] = [
  `event: message_start\ndata: ${data(1, { messageId: 'a', app: 'x' })}\n\n`,
  ...Array.from(
    { length: EVENTS },
    (_, n) => `event: content_delta\ndata: ${data(n + 2, { delta: 'word ', index: 0 })}\n\n`,
  ),
];
const text = parts.join('');
const chunks: Uint8Array[] = [];
for (let at = 0; at < text.length; at += 16_384) chunks.push(encoder.encode(text.slice(at, at + 16_384)));
const info = {
  epoch: EPOCH,
  first: 1,
  head: 0,
  resume: 'exact',
  next: 1,
  cursor: `${EPOCH}.1.0`,
  status: 'idle',
  queued: 0,
};
const connected = encoder.encode(
  `event: connected\ndata: ${JSON.stringify({ protocol: 1, gatewayId: 'g', connectionId: 'c', clientId: 'c', heartbeatMs: 15_000, defaultApp: 'x', sessions: { main: info } })}\n\n`,
);
const state = {
  cursor: `${EPOCH}.1.0`,
  messages: [],
  hasMore: false,
  tip: null,
  run: null,
  pending: [],
  queue: [],
  closed: false,
};

async function measure(root: string, watches: boolean): Promise<number> {
  const { createClient } = await import(pathToFileURL(resolve(root, 'client/index.ts')).href);
  const fetch = async () => {
    const rest = [connected, ...chunks];
    return new Response(
      new ReadableStream({
        async pull(controller) {
          // As from a network: each piece in a turn of its own.
          await new Promise(setImmediate);
          const chunk = rest.shift();
          if (chunk) controller.enqueue(chunk);
          else await new Promise(() => {});
        },
      }),
      { headers: { 'content-type': 'text/event-stream' } },
    );
  };
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const client = createClient({ baseUrl: 'http://gateway.test', fetch });
    const { user, system } = process.cpuUsage();
    if (watches) {
      const watch = client.session('main').watch({ initial: state });
      await new Promise<void>((done) => {
        watch.subscribe(() => watch.getSnapshot().cursor === `${EPOCH}.1.${EVENTS + 1}` && done());
      });
    } else {
      let seen = 0;
      for await (const _ of client.events('main', { from: `${EPOCH}.1.0` })) if (++seen === EVENTS + 1) break;
    }
    const used = process.cpuUsage({ user, system });
    times.push((used.user + used.system) / EVENTS);
    client.disconnect();
  }
  return Math.min(...times);
}

const [other] = process.argv.slice(2);
for (const [name, watches] of [
  ['decoded and iterated', false],
  ['decoded, folded and watched', true],
] as const) {
  const mine = await measure('.', watches);
  const theirs = other ? await measure(other, watches) : undefined;
  console.log(
    `${name}: ${mine.toFixed(2)} µs of CPU an event${theirs ? `, the other ${theirs.toFixed(2)} (${(theirs / mine).toFixed(2)} times)` : ''}`,
  );
}
process.exit(0);
