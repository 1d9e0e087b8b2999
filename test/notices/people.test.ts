import { expect } from 'chai';
import { clientInbox } from '../../client/inbox/index.js';
import { sessionControl, sessionSharing } from '../../client/people/index.js';
import { defineApp } from '../../server/index.js';
import { PEOPLE } from '../inbox/begin.js';
import { connectClient } from '../support/client.js';
import { begin } from './begin.js';
import { Receiver, SECRET } from './receiver.js';

const giving = defineApp({
  run(turn) {
    if (turn.text === 'a person, please') turn.handOff({ reason: 'A refund', roles: ['support'] });
    return 'An answer';
  },
});

/** Ann's session `main`, that Ben may work in. */
async function shared(...[url, notify]: Parameters<typeof begin>) {
  const { url: at, ...begun } = await begin(url, notify, { app: giving, auth: PEOPLE });
  const [ann, ben] = ['ann', 'ben'].map((token) => connectClient(at, { token }));
  await ann!.send('main', 'hello').result;
  const { grant } = await sessionSharing(ann!, 'main').share({ with: { userId: 'ben' }, as: 'operator' });
  return { ...begun, ann: ann!, ben: sessionControl(ben!, grant.sessionId) };
}

describe('notices of people', () => {
  it('tell a session’s person that another has taken over, once for as long as that one keeps it', async () => {
    const receiver = await Receiver.start();
    const { ann, ben } = await shared(receiver.url, { on: ['taken_over'] });
    const own = sessionControl(ann, 'main');
    await own.takeOver();
    await own.handBack();
    await ben.takeOver({ reason: 'A refund' });
    await ben.takeOver({ untilMs: 60_000 });
    await ben.handBack();
    await ben.takeOver();
    const all = await receiver.until(({ length }) => length > 1);
    expect(all).to.have.length(2);
    const [{ body }] = all as [(typeof all)[number]];
    expect(body.data).to.include({ kind: 'taken_over', sessionId: 'main', userId: 'ann', by: 'ben' });
    expect(body.data.id).to.match(/^taken_over~.{11}~\d+$/);
    expect(body.data).to.not.have.any.keys('text', 'reason');
    expect(all[0]!.id).to.not.equal(all[1]!.id);
  });

  it('tell of an app that asks for a person, with the roles', async () => {
    const receiver = await Receiver.start();
    const { ann } = await shared('', {
      on: ['hand_off'],
      webhooks: { url: receiver.url, secrets: SECRET, content: true },
    });
    const { runId } = await ann.send('main', 'a person, please').result;
    const [received] = await receiver.until((all) => all.length > 0);
    expect(received!.body.data).to.deep.include({
      ...{ id: `hand_off~${runId}`, kind: 'hand_off', runId, userId: 'ann', roles: ['support'] },
      text: 'A refund',
    });
  });

  it('tell nobody of an app that asks for a person where one has come meanwhile', async () => {
    const { ann, ben, clock } = await shared('https://nobody.invalid', {
      on: ['hand_off'],
      unseenMs: 60_000,
    });
    const home = { scope: '[null,"ann"]', app: 'default', name: 'main' };
    const waiting = async () => (await clock.store.records({ home, kind: 'notice', limit: 10 })).length;
    await ann.send('main', 'a person, please').result;
    expect(await waiting()).to.equal(1);
    await ben.takeOver();
    expect(await waiting()).to.equal(0);
  });

  it('tell of an app that asks for a person also where the session’s person has read it', async () => {
    const receiver = await Receiver.start();
    const { ann } = await shared(receiver.url, { on: ['run_ended', 'hand_off'], unseenMs: 200 });
    await ann.send('main', 'a person, please').result;
    await clientInbox(ann).read('main');
    await receiver.until((all) => all.some(({ body }) => body.type === 'hand_off'));
  });
});
