import { setTimeout as pause } from 'node:timers/promises';
import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import type { Context } from 'mocha';
import OpenAI from 'openai';
import type { Client, LoggedEvent } from '../../client/index.js';
import { textOf } from '../../shared/messages.js';
import { WebSocket } from '../support/behind-proxy.js';
import { buildProgram, buildProgramOf } from '../support/built-program.js';
import { connectClient } from '../support/client.js';
import { TOKEN } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';
import { pairedWithStores } from '../support/shared-stores.js';
import { until } from '../support/until.js';
import { Cluster } from './cluster.js';
import { olderVersion } from './older.js';
import { CLUSTER_PROXY } from './proxies.js';
import { LOGGED, type Reader, seqOf, withEventSource, withSdk } from './readers.js';

const SESSIONS = ['short:one', 'short:two'];

/** Between one and the next: of seven kinds some are under way at every moment, and no core is kept busy by those that ask. */
const PAUSE_MS = 30;

/** Streams beside those of clients. */
const STREAMS = 200;

/** Does something again and again until it is told to stop, and counts. What fails ends it, and the test. */
class Load {
  readonly done: number[] = [];
  readonly #going: Promise<unknown>[] = [];
  #isOn = true;

  add(once: (count: number) => Promise<void>): void {
    const at = this.done.push(0) - 1;
    this.#going.push(
      (async () => {
        while (this.#isOn) {
          await once(this.done[at]! + 1);
          this.done[at]! += 1;
          await pause(PAUSE_MS);
        }
      })(),
    );
  }

  /** Resolves once each has been done some more times. */
  async goesOn(): Promise<void> {
    const before = [...this.done];
    const all = until(() => this.done.every((count, at) => count > before[at]! + 2));
    await Promise.race([all, Promise.all(this.#going)]);
  }

  async stop(): Promise<void> {
    this.#isOn = false;
    await Promise.all(this.#going);
  }
}

/** Calls a tool, by one client that stays for all of it. @param passes Whether an error is of a kind that goes by */
async function withMcp(url: string, load: Load, passes: (error: any) => boolean): Promise<void> {
  const client = closeLater(new McpClient({ name: 'test', version: '1' }), (it) => it.close());
  // An nginx that is reloaded closes connections on which nothing was asked yet, so more than one may be met. Others try again by themselves.
  const headers = { authorization: `Bearer ${TOKEN}`, connection: 'close' };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
  );
  const call = (n: number, tries: number): ReturnType<McpClient['callTool']> =>
    client.callTool({ name: 'double', arguments: { n } }).catch((error) => {
      if ((error instanceof TypeError || passes(error)) && tries > 1) return call(n, tries - 1);
      throw error;
    });
  load.add(async (n) => {
    const { content } = await call(n, 10);
    expect(JSON.stringify(content)).to.contain(String(2 * n));
  });
}

function withCompletions(baseURL: string, load: Load): void {
  const client = new OpenAI({ baseURL: `${baseURL}/v1`, apiKey: TOKEN });
  const ask = (n: number) => ({
    model: 'short',
    messages: [{ role: 'user' as const, content: `question ${n}` }],
  });
  load.add(async (n) => {
    const { choices } = await client.chat.completions.create(ask(n));
    expect(choices[0]!.message.content).to.equal(`You said: question ${n} `);
  });
  load.add(async (n) => {
    let said = '';
    for await (const { choices } of await client.chat.completions.create({ ...ask(n), stream: true }))
      said += choices[0]?.delta.content ?? '';
    expect(said).to.equal(`You said: question ${n} `);
  });
}

/** Everything that a gateway has of a session, up to an event that is there already. */
async function logOf(client: Client, sessionId: string, head: number): Promise<readonly LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  for await (const event of client.events(sessionId, { from: 'earliest' })) {
    if (event.type === 'gap') throw new Error(JSON.stringify(event));
    if (event.cursor === undefined || event.type === 'snapshot') continue;
    events.push(event as LoggedEvent);
    if (seqOf(event.cursor) >= head) break;
  }
  return events;
}

const those = <T extends LoggedEvent['type']>(events: readonly LoggedEvent[], type: T) =>
  events.filter((event): event is Extract<LoggedEvent, { type: T }> => event.type === type);

const PROGRAM = 'test/deploy/cluster-program.ts';

/** The versions that are replaced, by a gateway of this one at a time, and what of theirs has to be borne. */
const FROM = {
  'the same version turn nobody away': {
    program: () => buildProgram(PROGRAM),
    passes: () => false,
  },
  // It refused, while it drained, what a proxy had sent already.
  'the oldest version that may serve beside this one': {
    program: (test: Context) => buildProgramOf(olderVersion(test), PROGRAM),
    passes: ({ data }: { readonly data?: { readonly code?: string } }) => data?.code === 'SHUTTING_DOWN',
  },
};

for (const [store, [from, { program: before, passes }]] of pairedWithStores(Object.entries(FROM)))
  store.describe(`three gateways on ${store.name} behind nginx, each restarted under load`, () => {
    it(`from ${from}, lose nothing, double nothing, and end each run once`, async function () {
      CLUSTER_PROXY.need(this);
      // Processes start in their own time.
      this.timeout(300_000);
      const cluster = await Cluster.start(await before(this), await store.start());
      const program = await buildProgram(PROGRAM);
      const { url } = cluster;
      const sse = connectClient(url);
      const webSocket = connectClient(url, { transport: 'websocket', WebSocket });
      const readers: Reader[] = SESSIONS.flatMap((id) => [
        withSdk(sse, id, 'SSE'),
        withSdk(webSocket, id, 'WebSocket'),
        withEventSource(url, id),
      ]);
      const counting = sse.send('long:one', 'count');
      const asked = webSocket.send('asking:one', 'ask');
      for (let each = 0; each < STREAMS; each++) readers.push(withEventSource(url, 'long:one'));
      readers.push(withSdk(webSocket, 'long:one', 'WebSocket'), withSdk(sse, 'asking:one', 'SSE'));
      await counting.accepted;
      await until(() => readers.at(-2)!.seqs.length > 5);

      const load = new Load();
      const sent = new Map<string, string[]>(SESSIONS.map((id) => [id, []]));
      for (const id of SESSIONS) {
        for (const [name, client] of Object.entries({ SSE: sse, WebSocket: webSocket })) {
          load.add(async (n) => {
            sent.get(id)!.push(`${name} ${n}`);
            expect((await client.send(id, `${name} ${n}`).result).stopReason).to.equal('end');
          });
        }
      }
      await withMcp(url, load, passes);
      withCompletions(url, load);

      await load.goesOn();
      for (const at of cluster.urls.keys()) {
        await cluster.restart(at, program);
        await load.goesOn();
      }
      await load.stop();

      // What began before the first restart, and was not over at the last.
      const { pending } = await sse.session('asking:one').state();
      expect(pending).to.have.length(1);
      await sse.session('asking:one').respond(pending[0]!.callId, { output: 'yes' });
      const answer = await asked.result;
      expect(answer.stopReason).to.equal('end');
      expect(textOf(answer.message!)).to.equal('May I? yes');
      await webSocket.send('long:one', 'that will do', { onBusy: 'steer' }).accepted;
      const { message, stopReason } = await counting.result;
      expect(stopReason).to.equal('end');
      const counted = textOf(message!).trim().split(' ');
      expect(counted).to.deep.equal(counted.map((_, at) => String(at + 1)));

      for (const id of [...SESSIONS, 'long:one', 'asking:one']) {
        const head = seqOf((await sse.session(id).state()).cursor!);
        const all = Array.from({ length: head }, (_, at) => at + 1);
        const logs: (readonly LoggedEvent[])[] = [];
        for (const node of cluster.urls) logs.push(await logOf(connectClient(node), id, head));
        for (const other of logs.slice(1)) expect(other).to.deep.equal(logs[0]);
        const [log = []] = logs;
        const bySource = log.filter(({ type }) => LOGGED.includes(type)).map(({ cursor }) => seqOf(cursor));
        const accepted = those(log, 'message_accepted');
        const ends = those(log, 'message_end');
        expect(ends.map(({ runId }) => runId)).to.have.members(accepted.map(({ runId }) => runId));
        expect(new Set(ends.map(({ runId }) => runId))).to.have.length(ends.length);
        const texts = sent.get(id);
        if (texts) {
          expect(accepted.map(({ message: asks }) => textOf(asks))).to.have.members(texts);
          const answers = ends.map((end) => `${end.stopReason} ${textOf(end.message!)}`);
          expect(answers).to.have.members(texts.map((text) => `end You said: ${text} `));
        }
        for (const reader of readers.filter(({ name }) => name.endsWith(` of ${id}`))) {
          await until(() => reader.failed !== undefined || (reader.seqs.at(-1) ?? 0) >= head);
          expect(reader.failed, reader.name).to.equal(undefined);
          expect(reader.gaps, reader.name).to.deep.equal([]);
          const expected = reader.name.startsWith('EventSource') ? bySource : all;
          expect(reader.seqs, reader.name).to.deep.equal(expected);
        }
      }
    });
  });
