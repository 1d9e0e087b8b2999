import { expect } from 'chai';
import webPushLibrary from 'web-push';
import { clientInbox } from '../../client/inbox/index.js';
import { sessionSharing } from '../../client/people/index.js';
import { clientPush } from '../../client/push/index.js';
import { sessionSchedules } from '../../client/schedules/index.js';
import { webPush } from '../../server/features/notices/index.js';
import { defineApp } from '../../server/index.js';
import type { ToldNotice } from '../../shared/notices/contract.js';
import { PEOPLE } from '../inbox/begin.js';
import { connectClient } from '../support/client.js';
import { gate } from '../support/gate.js';
import { startGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { PushService } from './push-service.js';
import { Receiver, SECRET } from './receiver.js';
import { counted } from './seen.js';

/** The key of Ann's session. */
const KEY = 'cancer-diagnosis';

/** A gateway that tells everybody it can, at which Ann has a session. */
async function begin(config: object = {}, { unseenMs = 0 } = {}) {
  const [receiver, service] = [await Receiver.start(), await PushService.start()];
  const held = gate();
  const delivered: ToldNotice[] = [];
  const app = defineApp({
    run: async (turn) => {
      if (turn.text === 'hold') await held.passed;
      if (turn.text === 'a person') turn.handOff({ reason: 'A refund' });
      return `An answer to ${turn.text}`;
    },
  });
  const { url, gateway } = await startGateway({
    ...{ app, auth: PEOPLE, shareLinks: { upTo: 'operator' } },
    notify: {
      ...{ on: ['run_ended', 'hand_off'], unseenMs, allowPrivate: true },
      webhooks: { url: receiver.url, secrets: SECRET, content: true, name: 'all' },
      push: webPush({
        subject: 'mailto:o@example.com',
        vapidKeys: webPushLibrary.generateVAPIDKeys(),
        content: true,
      }),
      deliver: (notice) => void delivered.push(notice),
      url: ({ sessionId }) => `/chat/${sessionId}`,
    },
    ...config,
  });
  const connect = (token: string) => connectClient(url, { token });
  const ann = connect('ann');
  await ann.send(KEY, 'hello').result;
  await until(() => counted(gateway, 'told') === 2);
  const told = () => ({
    webhook: receiver.told.slice(1),
    deliver: delivered.slice(1),
    push: service.pushed.map(({ body }) => body),
  });
  return { gateway, service, held, ann, connect, told, sharing: sessionSharing(ann, KEY) };
}

describe('notices of a shared session', () => {
  it('name it by the address of who is told, never by its owner’s key', async () => {
    const { gateway, service, ann, connect, told, sharing } = await begin();
    const ben = connect('ben');
    await clientPush(ben).subscribe(service.browser('ben').registration);
    const { grant } = await sharing.share({ with: { userId: 'ben' }, as: 'member' });
    const { runId } = await ben.send(grant.sessionId, 'hi').result;
    await until(() => counted(gateway, 'told') === 5);
    const { webhook, deliver, push } = told();
    for (const [notice, ...none] of [webhook, deliver, push]) {
      expect(none).to.deep.equal([]);
      expect(notice).to.include({ sessionId: grant.sessionId, url: `/chat/${grant.sessionId}` });
    }
    expect(deliver[0]).to.include({ userId: 'ben', runId, text: 'An answer to hi' });
    const states = await clientInbox(ben).notices(grant.sessionId);
    expect(states.map(({ state }) => state)).to.deep.equal(['told', 'told', 'told']);
    expect(JSON.stringify([webhook, deliver, push, states])).not.to.include(KEY);
    expect(JSON.stringify(await clientInbox(ann).notices(KEY))).not.to.include(runId);
  });

  it('are told to nobody whose grant has ended, whatever was under way', async () => {
    const { gateway, service, held, connect, told, sharing } = await begin();
    const ben = connect('ben');
    await clientPush(ben).subscribe(service.browser('ben').registration);
    const { grant } = await sharing.share({ with: { userId: 'ben' }, as: 'member' });
    const run = ben.send(grant.sessionId, 'hold');
    await run.accepted;
    await sharing.unshare(grant.grantId);
    held.open();
    await until(() => counted(gateway, 'gone') === 3);
    expect(told()).to.deep.equal({ webhook: [], deliver: [], push: [] });
  });

  it('are told by another grant of the same person', async () => {
    const { held, connect, told, sharing, gateway } = await begin();
    const [one, two] = [
      await sharing.share({ with: { userId: 'ben' }, as: 'member' }),
      await sharing.share({ with: { userId: 'ben' }, as: 'viewer' }),
    ];
    const run = connect('ben').send(one.grant.sessionId, 'hold');
    await run.accepted;
    await sharing.unshare(one.grant.grantId);
    held.open();
    await until(() => counted(gateway, 'told') === 4);
    expect(told().deliver[0]).to.include({ userId: 'ben', sessionId: two.grant.sessionId });
  });

  it('name it by the link’s address for who came by a link, while there is one', async () => {
    const { held, connect, told, sharing, gateway } = await begin();
    const { grant, token = '' } = await sharing.share({ with: { link: true }, as: 'member' });
    const guest = connect(token);
    await guest.send(grant.sessionId, 'hi').result;
    await until(() => counted(gateway, 'told') === 4);
    expect(told().deliver[0]).to.include({ sessionId: grant.sessionId });
    const run = guest.send(grant.sessionId, 'hold');
    await run.accepted;
    await sharing.unshare(grant.grantId);
    held.open();
    await until(() => counted(gateway, 'gone') === 2);
    expect(told().deliver).to.have.length(1);
  });

  it('are those of the link for all who bear it, also of what they have scheduled, and no other link has them', async () => {
    const { connect, told, sharing, gateway, ann } = await begin();
    const { grant, token = '' } = await sharing.share({ with: { link: true }, as: 'operator' });
    const other = await sharing.share({ with: { link: true }, as: 'operator' });
    const guest = connect(token);
    const { runId } = await guest.send(grant.sessionId, 'hi').result;
    await until(() => counted(gateway, 'told') === 4);
    const at = Date.now() + 200;
    await sessionSchedules(connect(`${token}.two`), grant.sessionId).schedule({
      id: 'soon',
      message: 'hi',
      at,
    });
    await until(() => counted(gateway, 'told') === 6);
    const noticesOf = (client: typeof guest, sessionId: string) => clientInbox(client).notices(sessionId);
    for (const bearer of [guest, connect(`${token}.two`)]) {
      const states = await noticesOf(bearer, grant.sessionId);
      expect(states.map(({ state }) => state)).to.deep.equal(['told', 'told', 'told', 'told']);
      expect(states.at(-1)).to.include({ runId });
    }
    expect(told().deliver.map(({ sessionId }) => sessionId)).to.deep.equal([
      grant.sessionId,
      grant.sessionId,
    ]);
    expect(await noticesOf(connect(other.token!), other.grant.sessionId)).to.deep.equal([]);
    expect(JSON.stringify(await noticesOf(ann, KEY))).not.to.include(runId);
  });

  it('are told to nobody whose link has ended, where another link is there', async () => {
    const { held, connect, told, sharing, gateway } = await begin();
    const { grant, token = '' } = await sharing.share({ with: { link: true }, as: 'member' });
    await sharing.share({ with: { link: true }, as: 'member' });
    await connect(token).send(grant.sessionId, 'hold').accepted;
    await sharing.unshare(grant.grantId);
    held.open();
    await until(() => counted(gateway, 'gone') === 2);
    expect(told().deliver).to.deep.equal([]);
  });

  it('are seen by who came by a link and reads in time', async () => {
    const { connect, sharing, gateway } = await begin({}, { unseenMs: 1000 });
    const { grant, token = '' } = await sharing.share({ with: { link: true }, as: 'member' });
    const guest = connect(token);
    await guest.send(grant.sessionId, 'hi').result;
    await clientInbox(guest).read(grant.sessionId);
    await until(() => counted(gateway, 'seen') === 1);
    const [state] = await clientInbox(guest).notices(grant.sessionId);
    expect(state).to.include({ state: 'seen' });
  });

  it('are their own for users, whatever they are called', async () => {
    const { connect, told, gateway } = await begin();
    const guest = connect('guest_house');
    const { runId } = await guest.send('main', 'hi').result;
    await until(() => counted(gateway, 'told') === 4);
    expect(told().deliver[0]).to.include({ userId: 'guest_house', sessionId: 'main', runId });
    const states = await clientInbox(guest).notices('main');
    expect(states.map(({ state }) => state)).to.deep.equal(['told', 'told']);
  });

  it('go to its owner where the app asks for a person, whoever it spoke with', async () => {
    const { connect, told, sharing, gateway } = await begin();
    const { grant } = await sharing.share({ with: { userId: 'ben' }, as: 'member' });
    await connect('ben').send(grant.sessionId, 'a person').result;
    await until(() => counted(gateway, 'told') === 6);
    const [asked] = told().deliver.filter(({ kind }) => kind === 'hand_off');
    expect(asked).to.include({ userId: 'ann', sessionId: KEY, text: 'A refund' });
  });

  it('name it by its key for all whose it is', async () => {
    const { connect, told, gateway } = await begin({ sessionScope: 'global' });
    await connect('ben').send(KEY, 'hi').result;
    await until(() => counted(gateway, 'told') === 4);
    expect(told().deliver[0]).to.include({ userId: 'ben', sessionId: KEY });
  });
});
