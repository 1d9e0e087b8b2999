import { expect } from 'chai';
import { a2aPlugin } from '../../../server/plugins/a2a/index.js';
import { echo } from '../../support/apps.js';
import { startGateway } from '../../support/gateway.js';
import { actor } from '../actor.js';
import { startA2a } from './fixtures.js';

const message = (more: object = {}) => ({
  message: { messageId: `m-${JSON.stringify(more)}`, role: 'ROLE_USER', parts: [{ text: 'hi' }], ...more },
});

/** The code and the reason of an error. */
const shown = ({ error }: any) => [error?.code, error?.data?.at(-1)?.reason];

describe('errors of A2A', () => {
  it('have the id of the request, a code and the field that is wrong', async () => {
    const { rpc, ask } = await startA2a({ app: echo });
    for (const [params, field] of [
      [{}, 'params.message'],
      [message({ role: 'ROLE_AGENT' }), 'params.message.role'],
      [message({ parts: [] }), 'params.message.parts'],
      [message({ parts: [{ filename: 'a' }] }), 'params.message.parts.0'],
      [message({ parts: [{ raw: '%%%' }] }), 'params.message.parts.0.raw'],
      [message({ messageId: '' }), 'params.message.messageId'],
      [message({ contextId: 'a\nb' }), 'message.contextId'],
      [message({ messageId: 'm', contextId: 'x'.repeat(2000) }), 'params.message.contextId'],
      [{ ...message(), configuration: { historyLength: -1 } }, 'params.configuration.historyLength'],
    ] as const) {
      const { id, error } = await rpc('SendMessage', params);
      expect([id, error.code, error.data[0].fieldViolations[0].field], field).to.deep.equal([
        7,
        -32602,
        field,
      ]);
    }
    for (const [method, params, code] of [
      ['message/send', message(), [-32601, 'METHOD_NOT_FOUND']],
      ['__proto__', {}, [-32601, 'METHOD_NOT_FOUND']],
      ['GetExtendedAgentCard', {}, [-32004, 'UNSUPPORTED_OPERATION']],
      ['CreateTaskPushNotificationConfig', {}, [-32003, 'PUSH_NOTIFICATION_NOT_SUPPORTED']],
      ['ListTaskPushNotificationConfigs', {}, [-32003, 'PUSH_NOTIFICATION_NOT_SUPPORTED']],
      ['GetTask', { id: 'none' }, [-32001, 'TASK_NOT_FOUND']],
      ['GetTask', { id: 'a~b~c' }, [-32001, 'TASK_NOT_FOUND']],
      ['GetTask', { id: 'main~../x' }, [-32001, 'TASK_NOT_FOUND']],
      ['SubscribeToTask', { id: 'main~run_x' }, [-32001, 'TASK_NOT_FOUND']],
      ['ListTasks', { pageToken: 'x' }, [-32602, 'INVALID_REQUEST']],
    ] as const)
      expect(shown(await rpc(method, params)), method).to.deep.equal(code);
    for (const [body, status, code] of [
      ['{', 400, -32700],
      ['[]', 400, -32600],
      ['null', 400, -32600],
      [{ jsonrpc: '1.0', id: 1, method: 'GetTask' }, 400, -32600],
    ] as const) {
      const answer = await ask(body);
      const { id, error } = (await answer.json()) as any;
      expect([answer.status, id, error.code], JSON.stringify(body)).to.deep.equal([status, null, code]);
    }
    const old = await ask({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: {} }, { 'a2a-version': '0.3' });
    expect(shown(await old.json())).to.deep.equal([-32009, 'VERSION_NOT_SUPPORTED']);
  });

  it('tell nothing of the tasks of others, and change nothing of them', async () => {
    const { app, effects } = actor();
    const { rpc } = await startA2a({ app });
    const { result } = await rpc('SendMessage', message({ contextId: 'main', parts: [{ text: 'pay' }] }));
    const { id } = result.task;
    for (const [method, params] of [
      ['GetTask', { id }],
      ['CancelTask', { id }],
      ['SubscribeToTask', { id }],
      ['SendMessage', message({ taskId: id, parts: [{ data: { approved: true } }] })],
      ['SendStreamingMessage', message({ taskId: id, parts: [{ text: 'yes' }] })],
    ] as const)
      expect(shown(await rpc(method, params, 'bob')), method).to.deep.equal([-32001, 'TASK_NOT_FOUND']);
    expect((await rpc('ListTasks', {}, 'bob')).result.tasks).to.deep.equal([]);
    expect((await rpc('ListTasks', { contextId: 'main' }, 'bob')).result.tasks).to.deep.equal([]);
    expect((await rpc('GetTask', { id })).result.status.state).to.equal('TASK_STATE_INPUT_REQUIRED');
    expect(effects).to.deep.equal([]);
  });

  it('refuse messages to tasks that do not ask, are over, or are of another context', async () => {
    const { rpc } = await startA2a({ app: actor().app });
    const over = (await rpc('SendMessage', message())).result.task;
    expect(shown(await rpc('SendMessage', message({ taskId: over.id })))).to.deep.equal([
      ...[-32004, 'UNSUPPORTED_OPERATION'],
    ]);
    expect(shown(await rpc('SubscribeToTask', { id: over.id }))).to.deep.equal([
      ...[-32004, 'UNSUPPORTED_OPERATION'],
    ]);
    expect(shown(await rpc('CancelTask', { id: over.id }))).to.deep.equal([-32002, 'TASK_NOT_CANCELABLE']);
    const asks = (await rpc('SendMessage', message({ parts: [{ text: 'pay' }] }))).result.task;
    const answer = { taskId: asks.id, parts: [{ data: { approved: true } }] };
    expect(shown(await rpc('SendMessage', message({ ...answer, contextId: 'other' })))[0]).to.equal(-32602);
    expect(shown(await rpc('SendMessage', message({ taskId: asks.id })))[0]).to.equal(-32602);
    const other = message({ taskId: asks.id, parts: [{ data: { callId: 'x', approved: true } }] });
    expect(shown(await rpc('SendMessage', other))[0]).to.equal(-32602);
    expect((await rpc('SendMessage', message(answer))).result.task.status.state).to.equal(
      'TASK_STATE_COMPLETED',
    );
  });

  it('refuse another message under the same id, and callers who are nobody', async () => {
    const { rpc, ask, url } = await startA2a({ app: echo });
    const id = { messageId: 'one', contextId: 'main' };
    await rpc('SendMessage', message(id));
    const { error } = await rpc('SendMessage', message({ ...id, parts: [{ text: 'other' }] }));
    expect(error.data.at(-1).reason).to.equal('IDEMPOTENCY_CONFLICT');
    expect((await rpc('ListTasks', undefined)).result.tasks).to.have.length(1);
    const nobody = await ask({ jsonrpc: '2.0', id: 1, method: 'ListTasks' }, { authorization: 'Bearer' });
    expect([nobody.status, nobody.headers.get('www-authenticate')]).to.deep.equal([401, 'Bearer']);
    for (const path of ['/a2a', '/a2a/none', '/a2a/default/x', '/.well-known/agent-card.json/x'])
      expect((await fetch(`${url}${path}`)).status, path).to.equal(404);
    expect((await fetch(`${url}/a2a/default`)).status).to.equal(405);
  });

  it('have a flood of messages refused by the rate of a user', async () => {
    const { rpc } = await startA2a({ app: echo, limits: { sendsPerSecond: 2 } });
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) => rpc('SendMessage', message({ contextId: `c${at}` }))),
    );
    const refused = answers.filter(({ error }) => error);
    expect(refused.length).to.be.above(5);
    for (const { error } of refused) expect(error.data[0].reason).to.equal('RATE_LIMITED');
  });

  it('are told when the plugin is made', async () => {
    const { gateway } = await startGateway({ app: echo });
    for (const [options, field] of [
      [{ path: 'a2a' }, 'path'],
      [{ agents: ['none'] }, 'agents'],
      [{ agents: [] }, 'agents'],
      [{ url: 'agents' }, 'url'],
      [{ cards: { none: {} } }, 'cards.none'],
      [{ onBusy: 'steer' as never }, 'onBusy'],
    ] as const)
      expect(() => gateway.use(a2aPlugin(options)), field).to.throw(`${field}:`);
  });
});
