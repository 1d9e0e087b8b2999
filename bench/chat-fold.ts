// CPU that a piece of an answer costs, decoded from the wire and folded: this client's watch, and the machinery of `useChat`.
//   node --import tsx bench/chat-fold.ts [pieces of an answer] [folder of another edition's checkout] [--first]
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AbstractChat, type ChatState, DefaultChatTransport, type UIMessage } from 'ai';

const PIECES = Number(process.argv[2] ?? 2000);
const OTHER = process.argv[3];
const ROUNDS = 15;
const WARM = 5;
const DELTA = 'word ';
const EPOCH = 'AAAAAAAAAAA';
const encoder = new TextEncoder();
const many = <T>(make: (n: number) => T) => Array.from({ length: PIECES }, (_, n) => make(n));

/** An answer that comes as from a network: each piece of 16 KiB in a turn of its own. */
function answer(text: string, stays: boolean): Response {
  const rest: Uint8Array[] = [];
  for (let at = 0; at < text.length; at += 16_384) rest.push(encoder.encode(text.slice(at, at + 16_384)));
  const body = new ReadableStream({
    async pull(controller) {
      await new Promise(setImmediate);
      const chunk = rest.shift();
      if (chunk) controller.enqueue(chunk);
      else if (stays) await new Promise(() => {});
      else controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

async function watched(root: string, isTerse = true): Promise<void> {
  const { createClient } = await import(pathToFileURL(resolve(root, 'client/index.ts')).href);
  // As gateways write it: the cursor is the id, and a delta says what is new. The first edition knew the whole alone.
  const event = (seq: number, type: string, over: object) => {
    const cursor = `${EPOCH}.1.${seq}`;
    const whole = { sessionId: 'main', cursor, ts: 1, runId: 'r', ...over };
    const data = isTerse && type === 'content_delta' ? { ts: 1, ...over } : whole;
    return `id: ${cursor}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
  };
  const place = { epoch: EPOCH, first: 1, head: 0, next: 1, cursor: `${EPOCH}.1.0` };
  const info = { ...place, resume: 'exact', status: 'idle', queued: 0 };
  const connected = {
    protocol: 1,
    gatewayId: 'g',
    connectionId: 'c',
    clientId: 'c',
    heartbeatMs: 15_000,
    defaultApp: 'x',
    sessions: { main: info },
  };
  const text = [
    `event: connected\ndata: ${JSON.stringify(connected)}\n\n`,
    event(1, 'message_start', { messageId: 'a', app: 'x' }),
    ...many((n) => event(n + 2, 'content_delta', { delta: DELTA, ...(!isTerse && { index: 0 }) })),
  ].join('');
  const client = createClient({ baseUrl: 'http://gateway.test', fetch: async () => answer(text, true) });
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
  // `from` is what the first edition called it.
  const watch = client.session('main').watch({ initial: state, from: state });
  await new Promise<void>((done) => {
    watch.subscribe(() => watch.getSnapshot().cursor === `${EPOCH}.1.${PIECES + 1}` && done());
  });
  client.disconnect();
}

/** A chat as `@ai-sdk/react` keeps it: each change of the answer is a copy of it, for React to compare. */
class Chat extends AbstractChat<UIMessage> {
  constructor(text: string) {
    const state: ChatState<UIMessage> = {
      status: 'ready',
      error: undefined,
      messages: [],
      pushMessage: (message) => {
        state.messages = state.messages.concat(message);
      },
      popMessage: () => {
        state.messages = state.messages.slice(0, -1);
      },
      replaceMessage: (at, message) => {
        state.messages = [
          ...state.messages.slice(0, at),
          state.snapshot(message),
          ...state.messages.slice(at + 1),
        ];
      },
      snapshot: (value) => structuredClone(value),
    };
    super({ state, transport: new DefaultChatTransport({ fetch: async () => answer(text, false) }) });
  }
}

async function chatted(): Promise<void> {
  const parts = [
    { type: 'start', messageId: 'a' },
    { type: 'text-start', id: 't' },
    ...many(() => ({ type: 'text-delta', id: 't', delta: DELTA })),
    { type: 'text-end', id: 't' },
    { type: 'finish' },
  ];
  const chat = new Chat(
    [...parts.map((part) => JSON.stringify(part)), '[DONE]'].map((data) => `data: ${data}\n\n`).join(''),
  );
  await chat.sendMessage({ text: 'x' });
  const [part] = chat.lastMessage!.parts.filter(({ type }) => type === 'text') as { readonly text: string }[];
  if (part?.text.length !== PIECES * DELTA.length) throw new Error('useChat lost some text');
}

/** Microseconds of CPU a piece. */
async function cost(run: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / PIECES;
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;

const contenders: Record<string, () => Promise<void>> = {
  'the client': () => watched('.'),
  useChat: chatted,
  ...(OTHER && { 'the other edition': () => watched(OTHER, !process.argv.includes('--first')) }),
};
const costs = Object.fromEntries(Object.keys(contenders).map((name) => [name, [] as number[]]));
// In turns, so that whatever else the machine does meets all of them; the first rounds warm the compiler up and do not count.
for (let round = -WARM; round < ROUNDS; round++)
  for (const [name, run] of Object.entries(contenders)) {
    const spent = await cost(run);
    if (round >= 0) costs[name]!.push(spent);
  }
const own = costs['the client']!;
console.log(`${PIECES} pieces of an answer, median of ${ROUNDS} rounds`);
for (const [name, theirs] of Object.entries(costs)) {
  const ratio = median(theirs.map((spent, round) => spent / own[round]!));
  console.log(
    `${name}: ${median(theirs).toFixed(1)} µs of CPU a piece, ${ratio.toFixed(2)} times the client's`,
  );
}
process.exit(0);
