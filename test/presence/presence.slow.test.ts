import { expect } from 'chai';
import { WebSocket } from 'ws';
import { type PresenceView, sessionPresence } from '../../client/people/index.js';
import { echo } from '../support/apps.js';
import { connectClient } from '../support/client.js';
import { gate } from '../support/gate.js';
import { post, startGateway } from '../support/gateway.js';
import { MemoryHub } from '../support/memory-hub.js';
import { startNode } from '../support/nodes.js';
import { overriding } from '../support/overriding.js';
import { closeLater } from '../support/resources.js';
import { openStream } from '../support/sse-client.js';
import { until } from '../support/until.js';
import { as, byName } from '../support/users.js';

const shared = { auth: byName, sessionScope: 'global' } as const;

/** Somebody's presence in `main`, on a client of their own. */
function present(url: string, name: string, options = {}) {
  const client = connectClient(url, { token: name, ...options });
  return { client, presence: closeLater(sessionPresence(client, 'main'), (it) => it.leave()) };
}

/** Resolves once what is shown fits. */
function shows(
  presence: ReturnType<typeof sessionPresence>,
  fits: (view: PresenceView) => boolean,
): Promise<PresenceView> {
  return new Promise((resolve) => {
    const stop = presence.subscribe(() => look());
    const look = () => {
      const view = presence.getSnapshot();
      if (!fits(view)) return;
      queueMicrotask(stop);
      resolve(view);
    };
    look();
  });
}

const names = ({ members }: PresenceView) => members.map(({ userId, state }) => `${userId} ${state}`).sort();
const are =
  (...expected: string[]) =>
  (view: PresenceView) =>
    names(view).join() === expected.sort().join();

describe('presence', () => {
  for (const transport of ['sse', 'websocket'] as const)
    it(`tells who is there, who types, and who has left, over ${transport}`, async () => {
      const { url } = await startGateway({ app: echo, ...shared });
      const options = { transport, WebSocket: WebSocket as never };
      const ann = present(url, 'ann', options);
      const ben = present(url, 'ben', options);
      await ann.client.send('main', 'hi').result;
      ann.presence.enter({ name: 'Ann' });
      await shows(ben.presence, are('ann here'));
      ben.presence.enter();
      const view = await shows(ann.presence, are('ann here', 'ben here'));
      expect(view.members.find(({ id }) => id === view.me)).to.deep.include({
        userId: 'ann',
        data: { name: 'Ann' },
      });
      ben.presence.typing();
      await shows(ann.presence, are('ann here', 'ben typing'));
      ben.presence.leave();
      await shows(ann.presence, are('ann here'));
      ben.presence.enter();
      await shows(ann.presence, are('ann here', 'ben here'));
      ben.client.disconnect();
      await shows(ann.presence, are('ann here'));
      for await (const { members } of ann.presence) {
        expect(members).to.have.length(1);
        break;
      }
    });

  it('is told to nobody who did not ask, and costs no append', async () => {
    const hub = new MemoryHub();
    let appends = 0;
    const store = (own: any) =>
      overriding(own, {
        append: (...args: any[]) => {
          appends += 1;
          return own.append(...args);
        },
        changeRecords: () => {
          throw new Error('a record');
        },
      });
    const { url } = await startNode(hub, { app: echo, ...shared, store });
    const ann = present(url, 'ann');
    await ann.client.send('main', 'hi').result;
    const old = await openStream(`${url}/events?sessionId=main`, { headers: as('ben') });
    const before = appends;
    ann.presence.enter();
    await shows(ann.presence, are('ann here'));
    ann.presence.typing();
    await shows(ann.presence, are('ann typing'));
    expect(appends).to.equal(before);
    await ann.client.session('main').update({ title: 'marks a place' });
    await old.until(({ event }) => event === 'session_updated');
    expect(old.events.map(({ event }) => event)).to.not.include('presence');
  });

  it('is told across gateways, and right again after a partition, within two heartbeats', async () => {
    const hub = new MemoryHub();
    const config = { app: echo, ...shared, limits: { heartbeatMs: 100 } };
    const [one, two] = [await startNode(hub, config), await startNode(hub, config)];
    const [ann, ben] = [present(one.url, 'ann'), present(two.url, 'ben')];
    await ann.client.send('main', 'hi').result;
    ann.presence.enter();
    ben.presence.enter();
    for (const { presence } of [ann, ben]) await shows(presence, are('ann here', 'ben here'));
    const late = present(two.url, 'cat');
    const first = await shows(late.presence, ({ members }) => members.length > 0);
    expect(names(first)).to.deep.equal(['ann here', 'ben here']);
    one.node.freeze();
    await shows(ben.presence, are('ben here'));
    one.node.thaw();
    for (const { presence } of [ann, ben]) await shows(presence, are('ann here', 'ben here'));
  });

  it('has this page among the members as soon as it has its id', async () => {
    const { url } = await startGateway({ app: echo, ...shared });
    const [ann, ben] = [present(url, 'ann'), present(url, 'ben')];
    await ann.client.send('main', 'hi').result;
    // The gateway tells of the second one a moment later than it answers, because it has just told of the first.
    for (const { presence } of [ann, ben]) {
      presence.enter();
      const { me, members } = await shows(presence, (view) => view.me !== undefined);
      expect(members.map(({ id }) => id)).to.include(me);
    }
  });

  it('keeps what came while it asked, if the answer is older', async () => {
    const { url } = await startGateway({ app: echo, ...shared });
    const [isAsked, isAnswered] = [gate(), gate()];
    const late: typeof fetch = async (input, init) => {
      const answer = await fetch(input, init);
      if (!String(input).endsWith('/presence') || !answer.ok) return answer;
      isAsked.open();
      await isAnswered.passed;
      return answer;
    };
    const ann = present(url, 'ann', { fetch: late });
    await ann.client.send('main', 'hi').result;
    const isThere = shows(ann.presence, are('ann here'));
    await isAsked.passed;
    const { id: connectionId } = ann.client.connection;
    await post(`${url}/presence`, { sessionId: 'main', connectionId, state: 'here' }, as('ann'));
    await isThere;
    const isChanged = new Promise<void>((resolve) =>
      closeLater(ann.presence.subscribe(resolve), (stop) => stop()),
    );
    isAnswered.open();
    await isChanged;
    expect(names(ann.presence.getSnapshot())).to.deep.equal(['ann here']);
  });

  it('is of a connection at whichever gateway the request comes to', async () => {
    const hub = new MemoryHub();
    const [one, two] = [
      await startNode(hub, { app: echo, ...shared }),
      await startNode(hub, { app: echo, ...shared }),
    ];
    const ann = present(one.url, 'ann');
    await ann.client.send('main', 'hi').result;
    const follows = ann.presence.subscribe(() => {});
    closeLater(follows, (stop) => stop());
    await until(() => ann.client.connection.id !== undefined);
    const asked = {
      sessionId: 'main',
      connectionId: ann.client.connection.id,
      state: 'here',
      data: 'by two',
    };
    const { status, body } = await post(`${two.url}/presence`, asked, as('ann'));
    expect([status, body.members[0]?.data]).to.deep.equal([200, 'by two']);
    await shows(ann.presence, are('ann here'));
  });

  it('refuses, in a code, more than its bounds, and a connection that is not the caller’s', async () => {
    const { url } = await startGateway({
      app: echo,
      ...shared,
      limits: { presenceMembers: 1, presenceBytes: 20 },
    });
    const [ann, ben] = [present(url, 'ann'), present(url, 'ben')];
    await ann.client.send('main', 'hi').result;
    ann.presence.enter();
    await shows(ann.presence, are('ann here'));
    ben.presence.enter();
    const { error, members } = await shows(ben.presence, (view) => view.error !== undefined);
    expect(error).to.include({ code: 'TOO_MANY_CONNECTIONS', status: 429 });
    expect(error!.message).to.include('limits.presenceMembers');
    expect(members).to.have.length(0);
    const ask = (params: object) => post(`${url}/presence`, { sessionId: 'main', ...params }, as('ben'));
    const { id: connectionId } = ben.client.connection;
    const long = await ask({ connectionId, data: 'x'.repeat(20) });
    expect([long.status, long.body.error.code, long.body.error.details[0].path]).to.deep.equal([
      400,
      'INVALID_PARAMS',
      'data',
    ]);
    const others = await ask({ connectionId: ann.client.connection.id });
    expect([others.status, others.body.error.code]).to.deep.equal([404, 'CONNECTION_NOT_FOUND']);
    const elsewhere = await post(`${url}/presence`, { sessionId: 'other', connectionId }, as('ben'));
    expect([elsewhere.status, elsewhere.body.error.code]).to.deep.equal([404, 'CONNECTION_NOT_FOUND']);
  });
});
