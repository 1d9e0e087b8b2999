import { expect } from 'chai';
import OpenAI from 'openai7';
import { ResponsesWS } from 'openai7/resources/responses/ws';
import type { GatewayConfig } from '../../../server/index.js';
import type { ResponsesOptions } from '../../../server/plugins/responses/index.js';
import { echo, halting } from '../../support/apps.js';
import { CuttingProxy } from '../../support/cutting-proxy.js';
import { SEED } from '../../support/fuzz.js';
import { FAST } from '../../support/gateway.js';
import { randomOf } from '../../support/random.js';
import { closeLater } from '../../support/resources.js';
import { actor } from '../actor.js';
import { brought, startResponses } from './fixtures.js';

const ENDS = /^(?:response\.(?:completed|incomplete|failed)|error)$/;

async function start(config: GatewayConfig<any, any, any>, options?: ResponsesOptions) {
  const started = await startResponses({ limits: FAST, ...config }, options);
  const clientAt = (url: string, user = 'alice') =>
    new OpenAI({ baseURL: `${url}/v1`, apiKey: user, maxRetries: 0 });
  /** @returns what sends a request on a socket, and reads what comes to the response's end, or the socket's */
  const connect = (url = started.url, user?: string) => {
    const socket = new ResponsesWS(clientAt(url, user), { reconnect: null } as never);
    closeLater(socket, (it) => it.close());
    socket.on('error', () => {});
    const events: any[] = [];
    let hear = (): void => {};
    const take = (event: any): void => {
      events.push(event);
      hear();
    };
    socket.on('event', take);
    socket.on('close', () => take(null));
    const read = async (): Promise<any[]> => {
      const all: any[] = [];
      for (;;) {
        while (events.length === 0)
          await new Promise<void>((resolve) => {
            hear = resolve;
          });
        if (events[0] === null) return all;
        all.push(events.shift());
        if (ENDS.test(all.at(-1).type)) return all;
      }
    };
    return {
      socket,
      read,
      ask: async (body: object): Promise<any[]> => {
        socket.send({ type: 'response.create', model: 'default', ...body } as never);
        return read();
      },
    };
  };
  return { ...started, connect, clientAt };
}

const textIn = (events: readonly any[]): string =>
  events.map(({ type, delta }) => (type === 'response.output_text.delta' ? delta : '')).join('');

describe('Responses over a WebSocket', () => {
  it('has the events of the stream, and one response after another on one socket', async () => {
    const { connect, clientAt, url } = await start({ app: echo });
    const { ask } = connect();
    const first = await ask({ input: 'one' });
    expect(first[0].type).to.equal('response.created');
    expect(first.map(({ sequence_number }) => sequence_number)).to.deep.equal([...first.keys()]);
    const { id, status } = first.at(-1).response;
    expect(status).to.equal('completed');
    const stored: any = await clientAt(url).responses.retrieve(id);
    expect(stored.output_text).to.equal(textIn(first));
    const second = await ask({ input: 'two', previous_response_id: id });
    expect(second.at(-1).response.previous_response_id).to.equal(id);
    expect(textIn(second)).to.contain('two');
  });

  it('answers what comes meanwhile when its turn is there', async () => {
    const { app, held, began, runs } = halting();
    const { connect } = await start({ app });
    const { socket, read } = connect();
    for (const input of ['one', 'two'])
      socket.send({ type: 'response.create', model: 'default', input, stream_id: input } as never);
    await began.passed;
    expect(runs()).to.equal(1);
    held.open();
    const [one, two] = [await read(), await read()];
    expect(new Set(one.map(({ stream_id }) => stream_id))).to.deep.equal(new Set(['one']));
    expect(new Set(two.map(({ stream_id }) => stream_id))).to.deep.equal(new Set(['two']));
    expect([textIn(one), textIn(two)]).to.deep.equal(['one begins and ends', 'two begins and ends']);
  });

  it('takes the outputs of functions, also of what is not stored', async () => {
    for (const store of [true, false]) {
      const { connect } = await start({ app: actor().app });
      const { ask } = connect();
      const tools = [brought('where')];
      const asked = await ask({ input: 'where bye', tools, store });
      const { call_id } = asked.at(-1).response.output.find(({ type }: any) => type === 'function_call');
      const told = await ask({
        input: [{ type: 'function_call_output', call_id, output: 'here' }],
        tools,
        store,
      });
      expect(textIn(told), String(store)).to.match(/here.*bye $/);
    }
  });

  it('says what is wrong with a request, and goes on', async () => {
    const { connect } = await start({ app: echo });
    const { ask, socket, read } = connect();
    for (const [body, param] of [
      [{ type: 'response.steer', input: 'x' }, 'type'],
      [{ input: 'x', background: true }, 'background'],
      [{ input: 'x', generate: false }, 'generate'],
      [{ input: 7 }, 'input'],
      [{ input: 'x', previous_response_id: 'resp_none' }, 'previous_response_id'],
      [{ input: 'x', model: 'none', stream_id: 's' }, 'model'],
    ] as const) {
      const [told] = await ask(body);
      expect([told.type, told.error.param], JSON.stringify(told)).to.deep.equal(['error', param]);
      expect([told.status, told.stream_id]).to.deep.equal([
        param === 'model' ? 404 : 400,
        param === 'model' ? 's' : undefined,
      ]);
    }
    for (const raw of ['{', '[]', '"x"', '{"type":"response.create","input":{"__proto__":{}}}']) {
      socket.sendRaw(raw);
      expect((await read())[0].type, raw).to.equal('error');
    }
    expect(textIn(await ask({ input: 'still' }))).to.contain('still');
  });

  it('has nothing of others', async () => {
    const { connect } = await start({ app: echo });
    const id = (await connect().ask({ input: 'mine' })).at(-1).response.id;
    const [told] = await connect(undefined, 'bob').ask({ input: 'x', previous_response_id: id });
    expect([told.type, told.error.code]).to.deep.equal(['error', 'previous_response_not_found']);
  });

  it("ends the answer of a client that has left, with onLeave: 'abort'", async () => {
    const { app, began } = halting();
    const { connect, gateway } = await start({ app }, { onLeave: 'abort' });
    const ended = new Promise<string>((resolve) => {
      gateway.on('run:ended', ({ stopReason }) => resolve(stopReason));
    });
    const { socket } = connect();
    socket.send({ type: 'response.create', model: 'default', input: 'go' } as never);
    await began.passed;
    socket.close();
    expect(await ended).to.equal('aborted');
  });

  it(`loses nothing where it is cut: the rest comes by its id, a request again by its key (seed ${SEED})`, async () => {
    const { app, effects } = actor();
    const { connect, url, clientAt } = await start({ app });
    const proxy = await CuttingProxy.start(url);
    const script = `hello look ${'wört '.repeat(40)}bye`;
    const expected = textIn(await connect().ask({ input: script }));
    const random = randomOf(SEED);
    let cuts = 0;
    for (let round = 0; round < 30; round++) {
      // Behind the upgrade.
      proxy.cuts.push(300 + Math.floor(random() * 12_000));
      const body = { input: script, idempotency_key: `key-${round}` };
      let events = await connect(proxy.url).ask(body);
      const isWhole = () => events.some(({ type }) => ENDS.test(type));
      if (!isWhole()) cuts += 1;
      const id = events[0]?.response.id;
      if (id === undefined) events = await connect().ask(body);
      else if (!isWhole()) {
        const starting_after = events.at(-1).sequence_number;
        const rest = await clientAt(url).responses.retrieve(id, { stream: true, starting_after });
        for await (const event of rest) events.push(event);
      }
      expect(textIn(events), `round ${round}`).to.equal(expected);
      expect(events.map(({ sequence_number }) => sequence_number)).to.deep.equal([...events.keys()]);
    }
    expect(cuts).to.be.above(15);
    expect(effects).to.have.length(31);
  });
});
