import { expect } from 'chai';
import { defineApp, type Guard, memoryStore } from '../../server/index.js';
import { textOf } from '../../shared/messages.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { gate } from '../support/gate.js';
import { post, startGateway } from '../support/gateway.js';

/** Lets no fool's word in, and shows cards as stars. */
const guard: Guard = {
  parts: ['message'],
  check: (text) =>
    text.includes('fool') ? { end: 'Be kind.' } : { replace: text.replaceAll('4242', '****') },
};

const echo = defineApp({
  guard,
  async *run(turn) {
    yield `heard ${turn.text}`;
  },
});

/** Tells a child of `message`, and then of `later`. */
const spawning = (message: string, { later = '', wait = async () => {} } = {}) =>
  defineApp({
    guard,
    resumable: true,
    run: async (turn) => {
      const told = gate();
      const child = turn.spawn('inner', {
        message,
        async *run(inner) {
          await wait();
          if (later !== '') await told.passed;
          yield ['heard', inner.text, ...inner.steered().map(textOf)].join(' ');
        },
      });
      const said = ({ code, message }: { code: string; message: string }) => `${code}: ${message}`;
      const refused = later === '' ? '' : await child.steer(later).then(() => '', said);
      told.open();
      return refused + (await child.result.then(({ text }) => text, said));
    },
  });

describe('a guard of what comes in', () => {
  it('checks what is scheduled, imported, published and sent to a lane', async () => {
    const { gateway, url } = await startGateway({
      ...{ app: echo, store: memoryStore(), clientMessages: { import: true } },
    });
    await (await gateway.session('main').send('hi')).result;
    const in10 = { at: Date.now() + 600_000, id: 's' };
    const asked = async (path: string, params: object) => {
      const { status, body } = await post(`${url}/${path}`, { sessionId: 'main', ...params });
      return status === 200 ? JSON.stringify(body) : `${body.error.code}: ${body.error.message}`;
    };
    const refused = 'MODERATED: Be kind.';
    expect(await asked('schedule', { ...in10, message: 'you fool' })).to.equal(refused);
    expect(await asked('schedule', { ...in10, message: 'card 4242' })).to.include('card ****');
    expect(await asked('channel', { channel: 'c', payload: { says: 'fool' } })).to.equal(refused);
    await asked('channel', { channel: 'c', payload: { says: '4242' } });
    const messages = (text: string) => [
      { role: 'user', content: 'one' },
      { role: 'assistant', content: text },
    ];
    const to = { sessionId: 'imported' };
    expect(await asked('import', { ...to, messages: messages('a fool') })).to.equal(refused);
    await asked('import', { ...to, messages: messages('card 4242') });
    const { messages: imported } = await gateway.session('imported').history();
    expect(imported.map(textOf)).to.deep.equal(['one', 'card ****']);
    const lane = await gateway.session('main').send('card 4242', { lane: 'new' });
    expect(textOf((await lane.result).message)).to.equal('heard card ****');
    const events: unknown[] = [];
    for await (const event of gateway.session('main').export('events')) events.push(event);
    expect(JSON.stringify(events)).to.include('****').and.not.include('4242');
  });

  it('checks the message of a child, and what its parent sends it later', async () => {
    const answer = async (...spawned: Parameters<typeof spawning>) => {
      const { gateway } = await startGateway({ app: spawning(...spawned), store: memoryStore() });
      const session = gateway.session('main');
      const said = textOf((await (await session.send('go')).result).message);
      const events: unknown[] = [];
      for await (const event of session.export('events')) events.push(event);
      expect(JSON.stringify(events)).to.not.match(/4242|fool/);
      return said;
    };
    expect(await answer('card 1')).to.equal('heard card 1');
    expect(await answer('card 4242')).to.equal('heard card ****');
    expect(await answer('you fool')).to.equal('MODERATED: Be kind.');
    expect(await answer('card 1', { later: 'card 4242' })).to.equal('heard card 1 card ****');
    expect(await answer('card 1', { later: 'you fool' })).to.equal('MODERATED: Be kind.heard card 1');
  });

  it('has a child that another process takes up be the same, though it was told something else', async () => {
    const path = newDatabase();
    const stands = gate();
    const wait = async () => {
      stands.open();
      await new Promise(() => {});
    };
    const first = await startDurable(path, { app: spawning('card 4242', { wait }) });
    const { runId } = await first.gateway.session('main').send('x').accepted;
    await stands.passed;
    const { gateway } = await startDurable(crashed(path), { app: spawning('card 4242') });
    const { message } = await gateway.session('main').run(runId).result;
    expect(textOf(message)).to.equal('heard card ****');
  });
});
