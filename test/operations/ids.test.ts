import { expect } from 'chai';
import { defineApp, type Turn, tool } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { post, startGateway } from '../support/gateway.js';
import { openUnixSocket, openWebSocket } from '../support/raw-socket.js';
import { socketDirectory } from '../support/socket-directory.js';

/** Ids that some store, header, URL or log does not take. */
const UNFIT: Readonly<Record<string, string>> = {
  '257 bytes': 'a'.repeat(257),
  '256 characters of more bytes': '€'.repeat(86),
  'a NUL': 'a\0',
  'a line break': 'a\nb',
  'half of a pair': 'a\ud83d',
  nothing: '',
};
/** Ids at the bounds, and such as other code takes for something else. */
const FIT = ['a'.repeat(256), '€'.repeat(85), '😀', '__proto__', 'constructor', ' a~b|c:d/e ', '~', '!'];

type Asked = readonly [operation: string, field: string, params: (id: string) => object];

const block = (id: string) => ({ type: 'tool_use', callId: id, name: 'n', input: null });
const answer = (more: object) => ({ messages: [{ role: 'assistant', content: 'x', ...more }] });

/** The ids that clients give, each by the path that an error names. */
const GIVEN: readonly Asked[] = [
  ['send', 'message.id', (id) => ({ message: { id, content: 'x' } })],
  ['send', 'parent', (id) => ({ message: 'x', parent: id })],
  ['send', 'replaces', (id) => ({ message: 'x', replaces: id })],
  ['send', 'message.content.0.callId', (id) => ({ message: { content: [block(id)] } })],
  ['send', 'clientTools.0.name', (id) => ({ message: 'x', clientTools: [{ name: id }] })],
  ['send', 'onlyAs.id', (id) => ({ message: 'x', onlyAs: { id } })],
  ['regenerate', 'messageId', (id) => ({ messageId: id })],
  ['move', 'tip', (id) => ({ tip: id })],
  ['move', 'version', (id) => ({ version: id })],
  ['fork', 'at', (id) => ({ to: 'other', at: id })],
  ['import', 'messages.0.id', (id) => answer({ id })],
  ['import', 'messages.0.parentId', (id) => answer({ parentId: id })],
  ['import', 'messages.0.runId', (id) => answer({ runId: id })],
  ['import', 'messages.0.senderId', (id) => answer({ senderId: id })],
  ['import', 'messages.0.app', (id) => answer({ app: id })],
  ['import', 'messages.0.content.0.callId', (id) => answer({ content: [block(id)] })],
  ['append', 'messages.0.id', (id) => ({ messages: [{ id, content: 'x' }] })],
  ['abort', 'runId', (id) => ({ runId: id })],
  ['steer', 'runId', (id) => ({ runId: id, message: 'x' })],
  ['tool-response', 'callId', (id) => ({ callId: id, output: 1 })],
  ['subscribe', 'connectionId', (id) => ({ connectionId: id, add: ['main'] })],
  ['presence', 'connectionId', (id) => ({ connectionId: id })],
  ['react', 'messageId', (id) => ({ messageId: id, value: 'up' })],
  ['retract', 'messageId', (id) => ({ messageId: id })],
  ['share', 'with.userId', (id) => ({ with: { userId: id }, as: 'member' })],
  ['unshare', 'grantId', (id) => ({ grantId: id })],
];

const fieldsOf = (error: any): string[] =>
  Array.isArray(error?.details) ? error.details.map(({ path }: { path: string }) => path) : [];

describe('ids that clients give', () => {
  it('are bounded and well-formed, or the error names them, over HTTP', async () => {
    const { url } = await startGateway({ app: echo, clientMessages: { import: true, tools: true } });
    for (const [operation, field, params] of GIVEN) {
      const given = (id: string) =>
        post(`${url}/${operation}`, {
          ...(operation === 'subscribe' ? {} : { sessionId: 'main' }),
          ...params(id),
        });
      for (const [what, id] of Object.entries(UNFIT)) {
        const { status, body } = await given(id);
        expect([status, body.error?.code], `${operation} ${field} ${what}`).to.deep.equal([
          400,
          'INVALID_PARAMS',
        ]);
        expect(fieldsOf(body.error), `${operation} ${field} ${what}`).to.include(field);
      }
      for (const id of FIT) {
        const { status, body } = await given(id);
        expect(status, `${operation} ${field} ${id}: ${JSON.stringify(body)}`).to.be.below(500);
        expect(JSON.stringify(body.error ?? null), `${operation} ${field}`).to.not.match(
          /bytes|control char|empty/,
        );
      }
    }
  });

  it('are so over sockets too', async () => {
    const socketPath = `${socketDirectory()}/g.sock`;
    const { url } = await startGateway({
      app: echo,
      socketPath,
      clientMessages: { import: true, tools: true },
    });
    for (const socket of [await openWebSocket(url), await openUnixSocket(socketPath)]) {
      await socket.connect();
      let asked = 0;
      for (const [operation, field, params] of GIVEN) {
        // The connection of a frame is its own.
        if (field === 'connectionId') continue;
        for (const [what, id] of Object.entries(UNFIT)) {
          asked += 1;
          const { error } = await socket.ask(`${asked}`, operation, { sessionId: 'main', ...params(id) });
          expect(error?.code, `${operation} ${field} ${what}`).to.equal('INVALID_PARAMS');
          expect(fieldsOf(error), `${operation} ${field} ${what}`).to.include(field);
        }
      }
    }
  });
});

const use = { type: 'tool_use', name: 'n', input: null } as const;

/** The ids and names that apps give. */
const SAID: readonly (readonly [field: string, run: (turn: Turn, id: string) => unknown])[] = [
  ['callId', (_turn, callId) => [{ ...use, callId }]],
  ['callId', (_turn, callId) => [{ type: 'tool_result', callId, name: 'n', output: 1 }]],
  ['callId', (_turn, callId) => [{ type: 'tool_progress', callId, value: 1 }]],
  ['id', (_turn, id) => [{ type: 'data', id, name: 'n', value: 1 }]],
  ['name', (_turn, name) => [{ type: 'data', id: 'd', name, value: 1 }]],
  ['name', (_turn, name) => [{ type: 'custom', name, payload: 1 }]],
  ['id', (turn, id) => turn.data('n', 1, { id })],
  ['name', (turn, name) => turn.data(name, 1)],
  ['name', (turn, name) => turn.emit(name, 1)],
  ['channel', (turn, name) => turn.publish(name, 1)],
  ['name', (turn, name) => turn.ask({ name })],
  ['callId', (turn, callId) => turn.confirm({ name: 'n', input: 1, callId })],
  ['name', (turn, name) => turn.confirm({ name, input: 1 })],
  ['id', (turn, id) => turn.spawn('default', { id, message: 'x' }).result],
  ['callId', (turn, callId) => turn.spawn('default', { id: 'x', callId, message: 'x' }).result],
];

describe('ids and names that apps give', () => {
  it('are bounded and well-formed, or the run fails with an error that names the field', async () => {
    const problems: string[] = [];
    const app = defineApp({
      tools: { n: tool({ handler: () => 1 }) },
      async *run(turn) {
        const [at, id] = JSON.parse(turn.text) as [number, string];
        const said = await SAID[at]![1](turn, id);
        if (Array.isArray(said)) yield* said;
      },
    });
    const { gateway } = await startGateway({ app });
    for (const [at, [field]] of SAID.entries())
      for (const [what, id] of Object.entries(UNFIT)) {
        const { error } = await gateway.session(`s${at}`).send(JSON.stringify([at, id])).result;
        if (error?.code !== 'INVALID_PARAMS' || !error.message.includes(field))
          problems.push(`${at} ${field} ${what}: ${JSON.stringify(error)}`);
      }
    expect(problems).to.deep.equal([]);
  });
});
