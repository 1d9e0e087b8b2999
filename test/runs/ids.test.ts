import { expect } from 'chai';
import { type AppEvent, defineApp, type Turn } from '../../server/index.js';
import { idProblem } from '../../shared/ids.js';
import { post, startGateway } from '../support/gateway.js';

const ODD = ['', 'x'.repeat(257), '€'.repeat(86), 'a\0b', 'a\nb', '\ud83d', 'x\ude00', '\u0085'];
const FIT = ['x'.repeat(256), '€'.repeat(85), 'ä/&?#=%', '😀', '.', "'", ' ', '"\\', 'call_1'];

/** What an app says with an id: by what it yields, or by a method of its turn. */
const GIVEN: Readonly<Record<string, (id: string) => AppEvent | ((turn: Turn) => unknown)>> = {
  'callId of a call': (callId) => ({ type: 'tool_use', callId, name: 'n', input: {} }),
  'callId of a result': (callId) => ({ type: 'tool_result', callId, name: 'n', output: 1, isError: false }),
  'callId of a progress': (callId) => ({ type: 'tool_progress', callId, value: 1 }),
  'id of a data block': (id) => ({ type: 'data', id, name: 'd', value: 1 }),
  'id of turn.data': (id) => (turn) => turn.data('d', 1, { id }),
  'callId of turn.confirm': (callId) => (turn) => turn.confirm({ name: 'n', input: 1, callId }),
  'id of turn.spawn': (id) => (turn) => turn.spawn('other', { id, message: 'hi' }),
  'callId of turn.spawn': (callId) => (turn) => turn.spawn('other', { callId, message: 'hi' }),
  'message.id of turn.spawn': (id) => (turn) => turn.spawn('other', { message: { id, content: 'hi' } }),
};

describe('ids that others give', () => {
  it('have at most 256 bytes, are well formed and have no control characters', () => {
    for (const id of FIT) expect(idProblem(id), JSON.stringify(id)).to.equal(null);
    for (const id of ODD) expect(idProblem(id), JSON.stringify(id)).to.be.a('string');
  });

  it('are checked where an app gives them, by an error that names the field', async () => {
    const problems: string[] = [];
    const app = defineApp({
      async *run(turn: Turn) {
        const [what = '', at] = turn.text.split('#');
        const given = GIVEN[what]!(ODD[Number(at)]!);
        try {
          if (typeof given === 'function') await given(turn);
          else yield given;
        } catch (error) {
          problems.push(`${(error as { code: string }).code} ${(error as Error).message}`);
          yield 'refused';
        }
      },
    });
    const other = defineApp({
      async *run() {
        yield 'ok';
      },
    });
    const { url } = await startGateway({ apps: { main: app, other }, defaultApp: 'main' } as never);
    for (const [n, what] of Object.keys(GIVEN).entries()) {
      for (const at of [1, 3, 5]) {
        const sent = await post(`${url}/send`, { sessionId: `s${n}-${at}`, message: `${what}#${at}` });
        const [field] = what.split(' ');
        const { error } = sent.body;
        // What is yielded ends the run; what a method is given is thrown there.
        const told: string = error ? `${error.code} ${error.message}` : (problems.pop() ?? '');
        expect(told, what).to.match(new RegExp(`^INVALID_PARAMS ${field}: must have`));
      }
    }
  });

  it('are checked where a host gives one to a notice', async () => {
    const app = defineApp({
      async *run() {
        yield 'ok';
      },
    });
    const { url, gateway } = await startGateway({ app, notify: { deliver: () => {} } });
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' });
    const session = gateway.session('main', { user: { id: 'token' } });
    for (const id of ODD) {
      const refused = await session.notify({ id, title: 'Hi' }).catch((error: Error) => error.message);
      expect(refused, JSON.stringify(id)).to.match(/^id: must/);
    }
  });

  it('are checked where a client gives them', async () => {
    const app = defineApp({
      async *run() {
        yield 'ok';
      },
    });
    const { url } = await startGateway({ app });
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' });
    const use = (callId: string) => ({ type: 'tool_use', callId, name: 'n', input: 1 });
    const asked: readonly [path: string, body: (id: string) => object, field: string][] = [
      ['send', (id) => ({ message: { id, content: 'x' } }), 'message.id'],
      ['send', (id) => ({ message: { role: 'assistant', content: [use(id)] } }), 'message.content.0.callId'],
      ['send', (id) => ({ message: [{ type: 'data', id, name: 'n', value: 1 }] }), 'message.0.id'],
      ['send', (parent) => ({ message: 'x', parent }), 'parent'],
      ['move', (tip) => ({ tip }), 'tip'],
      ['regenerate', (messageId) => ({ messageId }), 'messageId'],
      ['fork', (at) => ({ to: 'fork', at }), 'at'],
      ['react', (messageId) => ({ messageId, value: 'up' }), 'messageId'],
      ['tool-response', (callId) => ({ callId, output: 1 }), 'callId'],
    ];
    for (const [path, body, field] of asked)
      for (const id of ODD) {
        const { status, body: answer } = await post(`${url}/${path}`, { sessionId: 'main', ...body(id) });
        const told = `${path} ${JSON.stringify(id)}: ${JSON.stringify(answer)}`;
        expect([status, answer.error?.code], told).to.deep.equal([400, 'INVALID_PARAMS']);
        expect(answer.error.message, told).to.include(field.split('.')[0]);
      }
  });
});
