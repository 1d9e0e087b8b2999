import { expect } from 'chai';
import { type Application, defineApp, GatewayError } from '../../server/index.js';
import { gate } from '../support/gate.js';
import { get, jsonHeaders, post, startGateway, type TestGateway } from '../support/gateway.js';
import { openStream } from '../support/sse-client.js';

async function answerOf(
  run: unknown,
  parts: Record<string, unknown> = {},
): Promise<{ body: any; gateway: TestGateway }> {
  const gateway = await startGateway({ app: { run, ...parts } as unknown as Application });
  const { body } = await post(`${gateway.url}/send`, { sessionId: 'main', message: 'hi' });
  return { body, gateway };
}

const text = (body: any): string =>
  body.message.content.map((block: { text?: string }) => block.text ?? '').join('');

describe('what an app may be', () => {
  it('an async generator: strings are deltas, what it returns ends the answer', async () => {
    const { body } = await answerOf(async function* () {
      yield 'a';
      yield 'b';
      return { text: 'c', stopReason: 'max_tokens', usage: { outputTokens: 3 } };
    });
    expect(body).to.deep.include({ stopReason: 'max_tokens', usage: { outputTokens: 3 } });
    expect(body.message.content).to.deep.equal([{ type: 'text', text: 'abc' }]);
  });

  it('an async function that returns a string', async () => {
    const { body } = await answerOf(async () => 'all at once');
    expect(body.message.content).to.deep.equal([{ type: 'text', text: 'all at once' }]);
  });

  it('a plain function that returns a string or nothing', async () => {
    expect(text((await answerOf(() => 'plain')).body)).to.equal('plain');
    const { body } = await answerOf(() => undefined);
    expect(body).to.include({ stopReason: 'end' });
    expect(body.message.content).to.deep.equal([]);
  });

  it('an async function that returns an AppResult', async () => {
    const { body } = await answerOf(async () => ({ text: 'r', stopReason: 'tool_use' }));
    expect(body).to.include({ stopReason: 'tool_use' });
    expect(text(body)).to.equal('r');
  });

  it('a promise of an async iterable', async () => {
    async function* items(): AsyncGenerator<string> {
      yield 'late ';
      yield 'stream';
    }
    expect(text((await answerOf(async () => items())).body)).to.equal('late stream');
  });

  it('any object with run, called with its own this', async () => {
    class Assistant {
      readonly #name = 'Ada';
      async run(): Promise<string> {
        return `I am ${this.#name}`;
      }
    }
    const { url } = await startGateway({ app: new Assistant() });
    expect(text((await post(`${url}/send`, { sessionId: 'main', message: 'hi' })).body)).to.equal('I am Ada');
  });

  it('typed events: reasoning, tool_use, tool_result, data and custom', async () => {
    const { body } = await answerOf(async function* () {
      yield { type: 'reasoning_delta', delta: 'hm' };
      yield { type: 'content_delta', delta: 'text' };
      yield { type: 'tool_use', callId: 'c1', name: 't', input: { a: 1 } };
      yield { type: 'tool_progress', callId: 'c1', value: 0.5 };
      yield { type: 'tool_result', callId: 'c1', name: 't', output: 2, isError: false };
      yield { type: 'data', id: 'd', name: 'n', value: 3 };
      yield { type: 'custom', name: 'x', payload: 4 };
      yield '';
      yield 'more';
    });
    expect(body.message.content).to.deep.equal([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'text' },
      { type: 'tool_use', callId: 'c1', name: 't', input: { a: 1 } },
      { type: 'tool_result', callId: 'c1', name: 't', output: 2, isError: false },
      { type: 'data', id: 'd', name: 'n', value: 3 },
      { type: 'text', text: 'more' },
    ]);
  });
});

describe('an app that misbehaves', () => {
  const garbage: Record<string, unknown> = {
    'a number': 5,
    null: null,
    'an unknown event': { type: 'message_end', stopReason: 'end' },
    'a delta that is no string': { type: 'content_delta', delta: 5 },
    'a tool_use without a name': { type: 'tool_use', input: {} },
    'a cycle': (() => {
      const value: Record<string, unknown> = {};
      value.self = value;
      return { type: 'data', id: 'd', name: 'n', value };
    })(),
    'a bigint': { type: 'custom', name: 'n', payload: 1n },
  };
  for (const [name, item] of Object.entries(garbage)) {
    it(`yielding ${name} ends its run as error, and the session goes on`, async () => {
      let turns = 0;
      const { body, gateway } = await answerOf(async function* () {
        yield 'before ';
        if (turns++ === 0) yield item;
        yield 'after';
      });
      expect(body).to.include({ stopReason: 'error' });
      expect(body.error.code).to.equal('INTERNAL');
      expect(text(body)).to.equal('before ');
      const next = await post(`${gateway.url}/send`, { sessionId: 'main', message: 'again' });
      expect(next.body).to.include({ stopReason: 'end' });
      expect(text(next.body)).to.equal('before after');
    });
  }

  const throwers: Record<string, unknown> = {
    'throws before it returns': () => {
      throw new Error('secret text');
    },
    rejects: async () => {
      throw new Error('secret text');
    },
    'throws while it streams': async function* () {
      yield 'a';
      throw new Error('secret text');
    },
  };
  for (const [name, run] of Object.entries(throwers)) {
    it(`one that ${name} ends as error, its text only in the log`, async () => {
      const { body, gateway } = await answerOf(run);
      expect(body).to.include({ stopReason: 'error' });
      expect(body.error).to.deep.equal({ code: 'INTERNAL', message: 'The app failed' });
      expect(JSON.stringify(body)).not.to.include('secret');
      expect(
        gateway.log.lines.some(
          ({ details }) => String((details as { err: Error }).err.message) === 'secret text',
        ),
      ).to.equal(true);
    });
  }

  it("one that throws a GatewayError passes the host's own words on", async () => {
    const { body } = await answerOf(async () => {
      throw new GatewayError({ code: 'NO_CREDIT', message: 'Buy more', status: 402 });
    });
    expect(body.error).to.deep.equal({ code: 'NO_CREDIT', message: 'Buy more' });
  });

  it('what is behind a GatewayError goes to the log alone', async () => {
    const { body, gateway } = await answerOf(async () => {
      throw new GatewayError({ code: 'NO_CREDIT', message: 'Buy more', cause: new Error('secret text') });
    });
    expect(body.error).to.deep.equal({ code: 'NO_CREDIT', message: 'Buy more' });
    expect(gateway.log.lines.map(({ details }) => (details as { err: Error }).err.message)).to.deep.equal([
      'secret text',
    ]);
  });

  it('one that ignores its signal frees the session at once, and what it still yields is discarded', async () => {
    const [began, late] = [gate(), gate()];
    let turns = 0;
    const app = defineApp({
      async *run(turn) {
        if (turns++ > 0) return 'second';
        yield 'first';
        began.open();
        await late.passed;
        turn.emit('late', 1);
        turn.data('late', 1);
        yield 'late';
        return 'later';
      },
    });
    const { url } = await startGateway({ app });
    const sending = post(`${url}/send`, { sessionId: 'main', message: 'a' });
    await began.passed;
    await post(`${url}/abort`, { sessionId: 'main' });
    expect((await sending).body).to.include({ stopReason: 'aborted' });
    expect(text((await post(`${url}/send`, { sessionId: 'main', message: 'b' })).body)).to.equal('second');
    late.open();
    await post(`${url}/send`, { sessionId: 'main', message: 'c' });
    const stream = await openStream(`${url}/events?sessionId=main&from=earliest`, { headers: jsonHeaders() });
    await stream.until(() => stream.events.filter(({ event }) => event === 'message_end').length === 3);
    expect(stream.events.filter(({ event }) => event === 'custom' || event === 'data')).to.deep.equal([]);
    expect(
      stream.events.filter(({ event }) => event === 'content_delta').map(({ data }) => data.delta),
    ).to.deep.equal(['first', 'second', 'second']);
  });

  it('an endless generator that never waits starves nobody and can be aborted', async () => {
    let items = 0;
    const { url } = await startGateway({
      app: {
        async *run() {
          for (;;) {
            items += 1;
            yield 'x';
          }
        },
      },
    });
    await post(`${url}/send`, { sessionId: 'main', message: 'a' }, { prefer: 'respond-async' });
    expect((await get(`${url}/status?sessionId=main`)).body).to.include({ status: 'running' });
    expect((await post(`${url}/abort`, { sessionId: 'main' })).body).to.deep.equal({ aborted: true });
    const stopped = items;
    await get(`${url}/status?sessionId=main`);
    expect(items).to.be.at.most(stopped + 1);
  });
});

describe('answerSize', () => {
  it('ends a longer answer with an error and keeps what was written', async () => {
    const run = async function* () {
      for (let i = 0; i < 10; i++) yield 'ten chars.';
    };
    const { url } = await startGateway({ app: { run }, limits: { answerSize: 55 } });
    const { body } = await post(`${url}/send`, { sessionId: 'main', message: 'hi' });
    expect(body).to.deep.include({ stopReason: 'error' });
    expect(body.error.code).to.equal('PAYLOAD_TOO_LARGE');
    expect(text(body)).to.equal('ten chars.'.repeat(5));
  });
});

describe('onDisconnect', () => {
  async function watched(parts: Partial<Application>, limits = {}) {
    const began = gate();
    const app: Application = {
      ...parts,
      async *run(turn) {
        yield 'a';
        began.open();
        await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
      },
    };
    const { gateway, url } = await startGateway({ app, limits: { disconnectGraceMs: 0, ...limits } });
    const stream = await openStream(`${url}/events?sessionId=main`, { headers: jsonHeaders() });
    await stream.until(({ event }) => event === 'connected');
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, { prefer: 'respond-async' });
    await began.passed;
    return { gateway, url, stream };
  }

  it('abort: the run ends when its last viewer has left', async () => {
    const { gateway, stream } = await watched({ onDisconnect: 'abort' });
    const ended = new Promise<{ stopReason: string }>((resolve) => void gateway.on('run:ended', resolve));
    stream.close();
    expect(await ended).to.include({ stopReason: 'aborted' });
  });

  it('abort: a viewer who comes back within the grace keeps the run', async () => {
    const { gateway, url, stream } = await watched({ onDisconnect: 'abort' }, { disconnectGraceMs: 60_000 });
    const gone = new Promise((resolve) => void gateway.on('client:disconnected', resolve));
    stream.close();
    await gone;
    await (await openStream(`${url}/events?sessionId=main`, { headers: jsonHeaders() })).until(
      ({ event }) => event === 'connected',
    );
    expect((await get(`${url}/status?sessionId=main`)).body).to.include({ status: 'running' });
  });

  it('abort: a run that ended within the grace has one end', async () => {
    const { gateway, url, stream } = await watched({ onDisconnect: 'abort' }, { disconnectGraceMs: 50 });
    const gone = new Promise((resolve) => void gateway.on('client:disconnected', resolve));
    stream.close();
    await gone;
    const ends: string[] = [];
    gateway.on('run:ended', ({ stopReason }) => void ends.push(stopReason));
    await post(`${url}/abort`, { sessionId: 'main' });
    // The session's own timer was set before this one, for the same time.
    await new Promise((resolve) => setTimeout(resolve, 50));
    await post(`${url}/send`, { sessionId: 'main', message: 'again' }, { prefer: 'respond-async' });
    await post(`${url}/abort`, { sessionId: 'main' });
    const later = await openStream(`${url}/events?sessionId=main&from=earliest`, { headers: jsonHeaders() });
    await later.until(() => later.events.filter(({ event }) => event === 'message_end').length === 2);
    const runs = later.logged.filter(({ event }) => event === 'message_end').map(({ data }) => data.runId);
    expect(new Set(runs).size).to.equal(2);
    expect(ends).to.deep.equal(['aborted', 'aborted']);
  });

  it('continue, the default: a run outlives its viewers', async () => {
    const { gateway, url, stream } = await watched({});
    const gone = new Promise((resolve) => void gateway.on('client:disconnected', resolve));
    stream.close();
    await gone;
    expect((await get(`${url}/status?sessionId=main`)).body).to.include({ status: 'running' });
  });
});
