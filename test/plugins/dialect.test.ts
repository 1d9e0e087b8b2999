import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { type Dialect, defineApp, type GatewayConfig, type PluginContext } from '../../server/index.js';
import type { GatewayEvent } from '../../shared/events.js';
import { textOf } from '../../shared/messages.js';
import { gate } from '../support/gate.js';
import { jsonHeaders, startGateway, TOKEN } from '../support/gateway.js';
import { closeAll, closeLater } from '../support/resources.js';
import { LATE_MEMORY } from '../support/stores.js';
import { testStore } from '../support/test-store.js';

const line = (text: string): string => `data: ${JSON.stringify(text)}\n\n`;
const said = (text: string): string[] =>
  text.split('\n\n').flatMap((event) => (event.startsWith('data: ') ? [JSON.parse(event.slice(6))] : []));

/** Tells the text of the answer, with what had been said before it; its state is how much that was. */
const plain: Dialect<number> = {
  begin({ run }) {
    const before = run ? textOf(run.message) : '';
    return { state: before.length, text: line(`begin:${before}`) };
  },
  encode(state, events) {
    let length = state;
    let text = '';
    for (const event of events) {
      if (event.type === 'content_delta') {
        length += event.delta.length;
        text += line(event.delta);
      } else if (event.type === 'message_end') return { state: length, text, over: true };
    }
    return { state: length, text };
  },
};

interface Told {
  readonly url: string;
  readonly gateway: Awaited<ReturnType<typeof startGateway>>['gateway'];
  /** What the streams ended with, in the order of their ends. */
  readonly ends: unknown[];
  /** Most that any response held unsent. */
  most(): number;
}

/** A gateway with a plugin that tells of `main` in a dialect; the query says where it begins. */
async function start(config: GatewayConfig<any, any, any>, dialect: Dialect<any> = plain): Promise<Told> {
  const started = await startGateway(config);
  const ends: unknown[] = [];
  let most = 0;
  const setup = (context: PluginContext): void => {
    context.route('/told', async ({ request, response, authenticate }) => {
      const query = new URL(request.url!, 'http://gateway').searchParams;
      const from = query.get('from');
      const { socket } = response;
      const measured: Dialect<any> = {
        begin: (session) => dialect.begin(session),
        encode(state, events, at) {
          most = Math.max(most, socket?.writableLength ?? 0);
          return dialect.encode(state, events, at);
        },
      };
      const stream = context.session('main', await authenticate()).stream(measured, {
        response,
        ...(from && { from }),
      });
      try {
        ends.push(await stream.over);
        stream.finish(line('over'));
      } catch (error) {
        ends.push((error as { code?: string }).code ?? (error as Error).message);
        stream.finish(line('failed'));
      }
    });
  };
  started.gateway.use({ name: 'told', setup });
  return { ...started, ends, most: () => most };
}

const read = (url: string, query = ''): Promise<Response> =>
  fetch(`${url}/told${query}`, { headers: jsonHeaders() });

describe('a session that is told in a dialect', () => {
  afterEach(closeAll);

  for (const async of [false, true]) {
    it(`begins in the middle of an answer with what was said, on a store that answers ${async ? 'later' : 'at once'}`, async () => {
      const [began, held] = [gate(), gate()];
      const app = defineApp({
        async *run() {
          yield 'One. ';
          yield 'Two. ';
          began.open();
          await held.passed;
          yield 'Three.';
        },
      });
      const { url, gateway, ends } = await start({
        app,
        store: testStore(async ? LATE_MEMORY : undefined).store,
      });
      const session = gateway.session('main');
      const run = session.send('go');
      await began.passed;
      // Its events are in the log once a reader has them.
      let cursor = '';
      for await (const event of session.events({ from: 'earliest' })) {
        if (event.type !== 'content_delta') continue;
        if (event.delta === 'One. ') cursor = event.cursor;
        else break;
      }
      const [folded, after] = [await read(url, '?from=snapshot'), await read(url, `?from=${cursor}`)];
      held.open();
      await run.result;
      expect(said(await folded.text())).to.deep.equal(['begin:One. Two. ', 'Three.', 'over']);
      expect(said(await after.text())).to.deep.equal(['begin:', 'Two. ', 'Three.', 'over']);
      expect(ends).to.have.members(['One. Two. Three.'.length, 'Two. Three.'.length]);
    });
  }

  it('waits for a reader that has stopped, holds little meanwhile, and loses nothing', async () => {
    const [asked, pieces] = [gate(), 600];
    const app = defineApp({
      async *run() {
        await asked.passed;
        for (let n = 0; n < pieces; n++) yield `${n}:${'x'.repeat(16 * 1024)}`;
      },
    });
    const { url, gateway, ends, most } = await start({ app, limits: { slowClientMs: 60_000 } });
    const run = gateway.session('main').send('go');
    await run.accepted;
    const { hostname, port } = new URL(url);
    const socket = closeLater(connect(Number(port), hostname), (it) => it.destroy());
    socket.write(
      `GET /told?from=snapshot HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: close\r\n\r\n`,
    );
    await once(socket, 'readable');
    asked.open();
    await run.result;
    expect(ends).to.deep.equal([]);
    let text = '';
    for await (const piece of socket.setEncoding('latin1')) text += piece;
    // Without the lines that tell the sizes of chunks.
    const seen = [...text.matchAll(/"(\d+):x/g)].map(([, n]) => Number(n));
    expect(seen).to.deep.equal(Array.from({ length: pieces }, (_, n) => n));
    expect(text).to.include('"over"');
    expect(most()).to.be.below(1024 * 1024);
  });

  it('knows when it has told all there is, and is given together what was appended together', async () => {
    const seen: { readonly types: string[]; readonly isHead: boolean }[] = [];
    const dialect: Dialect<null> = {
      begin: () => ({ state: null, text: '' }),
      encode(_, events: readonly GatewayEvent[], { isHead }) {
        seen.push({ types: events.map(({ type }) => type), isHead });
        return { state: null, text: '', over: events.at(-1)?.type === 'message_end' };
      },
    };
    const app = defineApp({
      async run(turn) {
        const ask = (name: string) => turn.ask({ name });
        await Promise.all([ask('a'), ask('b')]);
      },
    });
    const { url, gateway } = await start({ app, store: testStore(LATE_MEMORY).store }, dialect);
    const session = gateway.session('main');
    const run = session.send('go');
    const reading = read(url, '?from=earliest');
    const asked: string[] = [];
    for await (const event of session.events({ from: 'earliest' })) {
      if (event.type === 'input_required') asked.push(event.callId);
      if (asked.length === 2) break;
    }
    for (const callId of asked) await session.respond(callId, { output: 1 });
    await run.result;
    await (await reading).text();
    const questions = seen.filter(({ types }) => types.includes('input_required'));
    expect(questions.length).to.equal(1);
    expect(questions[0]!.types.filter((type) => type === 'input_required').length).to.equal(2);
    expect(questions[0]!.isHead).to.equal(true);
    expect(seen.at(-1)!.types.at(-1)).to.equal('message_end');
  });

  it('knows that nothing follows a snapshot', async () => {
    const dialect: Dialect<null> = {
      begin: ({ messages }) => ({ state: null, text: line(`${messages.length} messages`) }),
      encode: (_, events, { isHead }) => ({ state: null, text: line(`${events.length}`), over: isHead }),
    };
    const { url, gateway } = await start({ app: { run: () => 'yes' } }, dialect);
    await gateway.session('main').send('go').result;
    const told = said(await (await read(url, '?from=snapshot')).text());
    expect(told).to.deep.equal(['2 messages', '0', 'over']);
  });

  it('ends with what the dialect throws, and harms nobody else', async () => {
    const dialect: Dialect<null> = {
      begin: () => ({ state: null, text: line('begun') }),
      encode: () => {
        throw new Error('cannot say that');
      },
    };
    const app = defineApp({
      async *run() {
        yield 'Hi';
      },
    });
    const { url, gateway, ends } = await start({ app }, dialect);
    const answer = await read(url);
    const { stopReason } = await gateway.session('main').send('go').result;
    expect(said(await answer.text())).to.deep.equal(['begun', 'failed']);
    expect([ends, stopReason]).to.deep.equal([['cannot say that'], 'end']);
  });

  it('ends when the gateway closes, with last words', async () => {
    const { url, gateway, ends } = await start({ app: defineApp({ async *run() {} }) });
    const answer = await read(url);
    const [text] = await Promise.all([answer.text(), gateway.close()]);
    expect(said(text)).to.deep.equal(['begin:', 'failed']);
    expect(ends).to.deep.equal(['SHUTTING_DOWN']);
  });

  it('ends with what refuses its session', async () => {
    const { url, ends } = await start({
      app: defineApp({ async *run() {} }),
      sessionAccess: () => false,
    });
    const refused = await read(url);
    expect(said(await refused.text())).to.deep.equal(['begin:', 'failed']);
    expect(ends).to.deep.equal(['SESSION_NOT_FOUND']);
  });
});
