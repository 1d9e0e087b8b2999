import { expect } from 'chai';
import { memoryStore } from '../../server/index.js';
import { Receiver, SECRET } from '../notices/receiver.js';
import { echo } from '../support/apps.js';
import { gate } from '../support/gate.js';
import { post, startGateway } from '../support/gateway.js';
import { as, byName, userNamed } from '../support/users.js';

const SAID = 'the wrong dose';

describe('a webhook', () => {
  const start = async (webhook: object = {}) => {
    const receiver = await Receiver.start();
    const { gateway, url } = await startGateway({
      ...{ app: echo, auth: byName },
      store: memoryStore(),
      notify: {
        ...{ unseenMs: 400, allowPrivate: true },
        webhooks: { url: receiver.url, secrets: SECRET, content: true, ...webhook },
      },
    });
    const session = gateway.session('main', { user: userNamed('ann') });
    const read = () => post(`${url}/read`, { sessionId: 'main' }, as('ann'));
    return { receiver, session, read };
  };

  it('that was told of an answer is told that it was taken back, by whom and why, also if it was read', async () => {
    const { receiver, session, read } = await start();
    const { message, runId } = await (await session.send(SAID)).result;
    const [first] = await receiver.until(({ length }) => length === 1);
    expect(first!.body.data.text).to.include(SAID);
    await session.retract(message.id, { by: 'staff', reason: 'A wrong dose' });
    expect((await read()).status).to.equal(200);
    const [, second] = await receiver.until(({ length }) => length === 2);
    expect(second!.body.type).to.equal('message_retracted');
    expect(second!.body.data).to.include({
      messageId: message.id,
      runId,
      by: 'staff',
      reason: 'A wrong dose',
    });
    expect(second!.raw).to.not.include(SAID);
    expect(second!.id).to.not.equal(first!.id);
  });

  it('that is told of an answer later is told what is left of it', async () => {
    const [stands, goes] = [gate(), gate()];
    const { receiver, session } = await start();
    receiver.answer = async (response) => {
      stands.open();
      await goes.passed;
      response.writeHead(204).end();
    };
    await (await session.send('first')).result;
    await stands.passed;
    const { message } = await (await session.send(SAID)).result;
    await session.retract(message.id);
    goes.open();
    const all = await receiver.until(({ length }) => length === 3);
    expect(all.map(({ body }) => body.type)).to.deep.equal(['run_ended', 'run_ended', 'message_retracted']);
    expect(JSON.stringify(all.map(({ raw }) => raw))).to.not.include(SAID);
  });
});
