import { expect } from 'chai';
import { type GatewayConfig, type HostSendOptions, isGatewayError, memoryStore } from '../../server/index.js';
import { embedGateway } from '../support/embedded.js';
import { gate } from '../support/gate.js';
import { MemoryHub } from '../support/memory-hub.js';
import { startNodes, waiting } from '../support/nodes.js';
import { overriding } from '../support/overriding.js';
import { byName } from '../support/users.js';

async function start(config: Omit<GatewayConfig, 'store'> = {}) {
  const { app, letGo } = waiting();
  const nodes = await startNodes(new MemoryHub(), { app, auth: byName, ...config }, 2);
  const [own, other] = nodes.map(({ gateway }) => gateway.session('main', { user: { id: 'alice' } }));
  return { own: own!, other: other!, letGo };
}

type Session = Awaited<ReturnType<typeof start>>['own'];

/** What a send is refused with. */
const refusal = async (session: Session, options: HostSendOptions): Promise<unknown> => {
  try {
    await session.send('late', options).accepted;
  } catch (error) {
    if (isGatewayError(error)) return [error.code, error.details];
    throw error;
  }
  return 'accepted';
};

describe('a message that has to come behind another one', () => {
  it('begins a session where it has to be the first, and is refused where there is none to follow', async () => {
    const { own, other } = await start();
    const details = { messageId: 'm', tip: null, last: null };
    expect(await refusal(own, { behind: 'm' })).to.deep.equal(['HISTORY_MOVED', details]);
    expect(await refusal(other, { behind: 'm' })).to.deep.equal(['HISTORY_MOVED', details]);
    expect((await own.history()).messages).to.deep.equal([]);
    expect((await other.send('first', { behind: null }).result).stopReason).to.equal('end');
  });

  it('is accepted behind the last one that is shown alone, whichever gateway is asked', async () => {
    const { own, other } = await start();
    const first = await own.send('first').result;
    for (const session of [own, other]) {
      const details = { messageId: null, tip: first.message.id, last: first.message.id };
      expect(await refusal(session, { behind: null })).to.deep.equal(['HISTORY_MOVED', details]);
    }
    const second = await other.send('second', { behind: first.message.id }).result;
    expect(await refusal(own, { behind: first.message.id })).to.be.an('array');
    expect(second.message.parentId).to.not.equal(first.message.id);
    expect((await own.history()).messages).to.have.length(4);
  });

  it('knows of the answer that is being given and of what waits, before it is told that the session is busy', async () => {
    const { own, other, letGo } = await start();
    const run = own.send('wait');
    const { message: asked } = await run.accepted;
    const [, details] = (await refusal(other, { behind: asked.id, onBusy: 'reject' })) as any;
    const { last } = details;
    expect(details).to.deep.equal({ messageId: asked.id, tip: asked.id, last });
    const queued = await other.send('queued', { behind: last }).accepted;
    const later = { messageId: last, tip: asked.id, last: queued.message.id };
    expect(await refusal(own, { behind: last })).to.deep.equal(['HISTORY_MOVED', later]);
    expect(await refusal(own, { behind: later.last, onBusy: 'reject' })).to.include('SESSION_BUSY');
    letGo();
    expect((await run.result).message.id).to.equal(last);
  });

  it('counts towards the rate of sends where it is accepted alone', async () => {
    // One, and no more for long.
    const { own } = await start({ limits: { sendsPerSecond: 0.001 } });
    for (let n = 0; n < 3; n++) expect(await refusal(own, { behind: 'm' })).to.include('HISTORY_MOVED');
    expect(await refusal(own, { behind: null })).to.equal('accepted');
    expect(await refusal(own, { behind: null })).to.include('RATE_LIMITED');
  });

  it('is accepted once of all that say so at the same time', async () => {
    const { own, other } = await start();
    const all = await Promise.all([own, other, own, other].map((each) => refusal(each, { behind: null })));
    expect(all.filter((outcome) => outcome === 'accepted')).to.have.length(1);
    const { runId, message } = await other.send('late', { idempotencyKey: 'k' }).result;
    // It is known by its key, whatever came since.
    const again = await own.send('late', { idempotencyKey: 'k', behind: null }).result;
    expect([again.runId, again.message]).to.deep.equal([runId, message]);
  });

  it('is refused where the conversation moves while the move is on its way to the store', async () => {
    const [held, reached] = [gate(), gate()];
    let isHeld = false;
    const inner = memoryStore();
    const store = overriding(inner, {
      append: async (...given) => {
        if (isHeld) {
          reached.open();
          await held.passed;
        }
        return inner.append(...given);
      },
    });
    const { app } = waiting();
    const gateway = embedGateway({ app, store });
    const session = gateway.session('main', { user: { id: 'alice' } });
    const { message } = await session.send('first').result;
    isHeld = true;
    const moving = session.move(null);
    await reached.passed;
    const sending = refusal(session, { behind: message.id });
    held.open();
    await moving;
    expect(await sending).to.include('HISTORY_MOVED');
    expect((await session.history()).messages).to.deep.equal([]);
  });
});
