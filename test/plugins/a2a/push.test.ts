import { expect } from 'chai';
import { clientInbox } from '../../../client/inbox/index.js';
import { createGateway, memoryStore, type Store } from '../../../server/index.js';
import { Receiver } from '../../notices/receiver.js';
import { counted } from '../../notices/seen.js';
import { connectClient } from '../../support/client.js';
import { gate } from '../../support/gate.js';
import { overriding } from '../../support/overriding.js';
import { until } from '../../support/until.js';
import { says, startA2a } from './fixtures.js';
import { app, config, OPEN, STATES, said, stateOf, toldTo, update } from './push-fixtures.js';

describe('push notifications of A2A', () => {
  it('tell the address of a message that its task asks, and that it is over', async () => {
    const { client } = await startA2a({ app, notify: OPEN });
    const receiver = await Receiver.start();
    const agent = await client();
    const authentication = { scheme: 'Bearer', credentials: 'abc' };
    const asked = toldTo('ask', config(receiver.url, { token: 'mine', authentication }));
    const task: any = await agent.sendMessage(asked);
    await receiver.until((all) => all.some((each) => stateOf(each) === STATES.asks));
    await agent.sendMessage(says('42', { taskId: task.id }));
    const all = await receiver.until((all) => all.some((each) => stateOf(each) === STATES.done));
    expect(said(all)).to.deep.equal([STATES.asks, STATES.done]);
    const [first] = all;
    expect(first!.headers).to.include({
      authorization: 'Bearer abc',
      'x-a2a-notification-token': 'mine',
      'content-type': 'application/a2a+json',
    });
    expect(update(first!)).to.include({ taskId: task.id, contextId: task.contextId });
    expect(update(first!).status.message.parts[0].data).to.include({ kind: 'input', name: 'answer' });
    // A message that comes again is the same task, and what is told again has the same id.
    const again: any = await agent.sendMessage(asked);
    expect(again.id).to.equal(task.id);
    const [, end, repeated] = await receiver.until(({ length }) => length === 3);
    expect([repeated!.id, repeated!.raw]).to.deep.equal([end!.id, end!.raw]);
  });

  it('are made, listed without secrets, and removed', async () => {
    const { client } = await startA2a({ app, notify: OPEN });
    const [receiver, other] = [await Receiver.start(), await Receiver.start()];
    const agent = await client();
    const { id: taskId }: any = await agent.sendMessage(
      toldTo('ask', config(other.url, { id: 'other', token: 'secret' })),
    );
    const made = await agent.createTaskPushNotificationConfig(
      config(receiver.url, { taskId, authentication: { scheme: 'Basic', credentials: 'c2VjcmV0' } }),
    );
    expect(made).to.deep.include({
      taskId,
      url: receiver.url,
      authentication: { scheme: 'Basic', credentials: '' },
    });
    const listed = await agent.listTaskPushNotificationConfig({
      tenant: '',
      taskId,
      pageSize: 0,
      pageToken: '',
    });
    expect(listed.configs.map(({ id, token }) => [id, token])).to.have.deep.members([
      ['other', ''],
      [made.id, ''],
    ]);
    const page = await agent.listTaskPushNotificationConfig({
      tenant: '',
      taskId,
      pageSize: 1,
      pageToken: '',
    });
    expect(page.configs.length).to.equal(1);
    expect(page.nextPageToken).to.equal(page.configs[0]!.id);
    const found = await agent.getTaskPushNotificationConfig({ tenant: '', taskId, id: 'other' });
    expect([found.url, found.token]).to.deep.equal([other.url, '']);
    await agent.deleteTaskPushNotificationConfig({ tenant: '', taskId, id: 'other' });
    await agent.deleteTaskPushNotificationConfig({ tenant: '', taskId, id: 'other' });
    const gone = await agent
      .getTaskPushNotificationConfig({ tenant: '', taskId, id: 'other' })
      .catch((error) => error);
    expect(gone).to.be.instanceOf(Error);
    await agent.sendMessage(says('42', { taskId }));
    await receiver.until((all) => said(all).includes(STATES.done));
    expect(said(other.all)).not.to.include(STATES.done);
    // What was told of the end is told nothing more.
    const after = await agent.listTaskPushNotificationConfig({
      tenant: '',
      taskId,
      pageSize: 0,
      pageToken: '',
    });
    expect(after.configs).to.deep.equal([]);
  });

  it('tell an address that comes late what has happened', async () => {
    const { client } = await startA2a({ app, notify: OPEN });
    const receiver = await Receiver.start();
    const agent = await client();
    const { id: taskId }: any = await agent.sendMessage(says('hi'));
    await agent.createTaskPushNotificationConfig(config(receiver.url, { taskId }));
    await receiver.until(({ length }) => length === 1);
    const waiting: any = await agent.sendMessage(toldTo('ask', config(`${receiver.url}?a`)));
    await receiver.until(({ length }) => length === 2);
    await agent.createTaskPushNotificationConfig(config(`${receiver.url}?b`, { taskId: waiting.id }));
    const all = await receiver.until(({ length }) => length === 3);
    expect(all.map((each) => [update(each).taskId, stateOf(each)])).to.deep.equal([
      [taskId, STATES.done],
      [waiting.id, STATES.asks],
      [waiting.id, STATES.asks],
    ]);
  });

  it('are told of a run that was stopped, and need no kind of notices', async () => {
    const { client } = await startA2a({ app, notify: { ...OPEN, on: ['taken_over'], unseenMs: 60_000 } });
    const receiver = await Receiver.start();
    const agent = await client();
    const { id }: any = await agent.sendMessage(toldTo('wait', config(receiver.url)));
    await agent.cancelTask({ tenant: '', id, metadata: undefined } as never);
    const all = await receiver.until(({ length }) => length === 1);
    expect(said(all)).to.deep.equal(['TASK_STATE_CANCELED']);
  });

  it('tell of what a child of the task asks, also an address that comes late', async () => {
    const { client } = await startA2a({ app, notify: OPEN });
    const receiver = await Receiver.start();
    const agent = await client();
    const { id: taskId }: any = await agent.sendMessage(toldTo('child', config(receiver.url)));
    await receiver.until((all) => said(all).includes(STATES.asks));
    await agent.createTaskPushNotificationConfig(config(`${receiver.url}?late`, { taskId }));
    await receiver.until(({ length }) => length === 2);
    await agent.sendMessage(says('42', { taskId }));
    const all = await receiver.until(({ length }) => length === 4);
    expect(all.map((each) => [update(each).taskId, stateOf(each)])).to.deep.equal([
      [taskId, STATES.asks],
      [taskId, STATES.asks],
      [taskId, STATES.done],
      [taskId, STATES.done],
    ]);
  });

  it('tell of what has been read, and nothing once the host allows the address no more', async () => {
    const origins = ['http://127.0.0.1:1'];
    const [due, inner] = [gate(), memoryStore()];
    const takeDue: Store['takeDue'] = async (...given) => {
      await due.passed;
      return inner.takeDue(...given);
    };
    const runWebhooks = { origins };
    const store = overriding(inner, { takeDue });
    const { client, gateway, url } = await startA2a({ app, store, notify: { ...OPEN, runWebhooks } });
    const [receiver, other] = [await Receiver.start(), await Receiver.start()];
    origins.push(new URL(receiver.url).origin, new URL(other.url).origin);
    const agent = await client();
    const { contextId, id: taskId }: any = await agent.sendMessage(toldTo('ask', config(receiver.url)));
    await agent.createTaskPushNotificationConfig(config(other.url, { taskId }));
    await clientInbox(connectClient(url, { token: 'alice' })).read(contextId);
    origins.pop();
    due.open();
    await receiver.until(({ length }) => length === 1);
    await until(() => counted(gateway, 'gone') > 0);
    expect([counted(gateway, 'seen'), other.all]).to.deep.equal([0, []]);
  });

  it('go where the host allows, and nowhere else', async () => {
    const receiver = await Receiver.start();
    const strict = await startA2a({ app, notify: { runWebhooks: {} } });
    const few = await startA2a({
      ...{ app, limits: { runWebhooks: 1 } },
      notify: { runWebhooks: { origins: ['https://hooks.example'] } },
    });
    const send = ({ rpc }: typeof strict, push: object, messageId = 'm', user?: string): Promise<any> =>
      rpc(
        'SendMessage',
        {
          message: { messageId, role: 'ROLE_USER', parts: [{ text: 'wait' }] },
          configuration: { returnImmediately: true, taskPushNotificationConfig: push },
        },
        user,
      );
    for (const url of [
      receiver.url,
      'https://127.0.0.1/x',
      'https://[::1]/x',
      'https://169.254.169.254/latest',
      'https://me:secret@hooks.example/',
      'ftp://hooks.example',
      'hooks.example',
      `https://hooks.example/${'x'.repeat(2048)}`,
    ]) {
      const { error } = await send(strict, { url });
      expect([error.code, error.data[0].fieldViolations[0].field], url).to.deep.equal([-32602, 'url']);
    }
    for (const [push, field] of [
      [{ url: 'https://other.example/' }, 'url'],
      [
        { url: 'https://hooks.example/', id: 'x'.repeat(65) },
        'params.configuration.taskPushNotificationConfig.id',
      ],
      [
        { url: 'https://hooks.example/', token: 'a\r\nhost: evil' },
        'params.configuration.taskPushNotificationConfig.token',
      ],
      [
        { url: 'https://hooks.example/', authentication: { scheme: 'a b', credentials: 'c' } },
        'params.configuration.taskPushNotificationConfig.authentication.scheme',
      ],
      [{}, 'params.configuration.taskPushNotificationConfig.url'],
    ] as const) {
      const { error } = await send(few, push);
      expect([error.code, error.data[0].fieldViolations[0].field], field).to.deep.equal([-32602, field]);
    }
    // Nothing has begun.
    expect((await few.rpc('ListTasks', {})).result.tasks).to.deep.equal([]);
    const { result } = await send(few, { url: 'https://hooks.example/a' });
    const over = await few.rpc('CreateTaskPushNotificationConfig', {
      taskId: result.task.id,
      url: 'https://hooks.example/b',
    });
    expect(over.error.message).to.include('limits.runWebhooks');
    for (const method of ['Create', 'Get', 'Delete', 'List'])
      expect(
        (
          await few.rpc(
            `${method}TaskPushNotificationConfig${method === 'List' ? 's' : ''}`,
            { taskId: result.task.id, id: 'x', url: 'https://hooks.example/c' },
            'bob',
          )
        ).error.code,
        method,
      ).to.equal(-32001);
    expect(receiver.all).to.deep.equal([]);
  });

  it('follow no redirect, and end where the receiver says that it is gone', async () => {
    const { client, rpc } = await startA2a({ app, notify: OPEN });
    const elsewhere = await Receiver.start();
    const receiver = await Receiver.start((response) =>
      response.writeHead(receiver.all.length === 1 ? 307 : 410, { location: elsewhere.url }).end(),
    );
    const agent = await client();
    const { id: taskId }: any = await agent.sendMessage(toldTo('ask', config(receiver.url)));
    await receiver.until(({ length }) => length === 1);
    await agent.sendMessage(says('42', { taskId }));
    await receiver.until(({ length }) => length === 2);
    for (let left = 1; left > 0; )
      left = (await rpc('ListTaskPushNotificationConfigs', { taskId })).result.configs.length;
    expect(elsewhere.all).to.deep.equal([]);
  });

  it('are said by the card, and refused where the host allows none', async () => {
    for (const [notify, offers] of [
      [undefined, false],
      [{ deliver() {} }, false],
      [OPEN, true],
    ] as const) {
      const { url, rpc } = await startA2a({ app, ...(notify && { notify }) });
      const card: any = await (await fetch(`${url}/.well-known/agent-card.json`)).json();
      expect(card.capabilities.pushNotifications).to.equal(offers);
      const { error } = await rpc('CreateTaskPushNotificationConfig', {
        taskId: 'a~b',
        url: 'https://a.example',
      });
      expect(error.code).to.equal(offers ? -32001 : -32003);
    }
    for (const origin of ['https://a.example/x', 'a.example', 'http://a.example', 'https://10.0.0.1'])
      expect(() => createGateway({ app, notify: { runWebhooks: { origins: [origin] } } }), origin).to.throw(
        'notify.runWebhooks.origins.0',
      );
  });
});
