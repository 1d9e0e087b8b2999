import { expect } from 'chai';
import { textOf } from '../../shared/messages.js';
import { gate } from '../support/gate.js';
import { FAST, post, startGateway } from '../support/gateway.js';
import { isHeard, leaver } from './leaver.js';
import { endOf, eventsUntil, foldOf, sendTo } from './tree.js';

describe('the end of a detached child', () => {
  it('begins a run of the app of its session, once', async () => {
    const done = gate();
    const app = leaver(async () => {
      await done.passed;
      return 'made it';
    });
    const { url } = await startGateway({ app, limits: FAST });
    await eventsUntil(url, endOf(await sendTo(url, 'go')));
    done.open();
    const events = await eventsUntil(url, isHeard);
    const state = foldOf(events);
    expect(state.messages.map(textOf)).to.deep.equal(['go', 'left', 'made it', 'heard work end: made it']);
    expect(state.lanes).to.equal(undefined);
    const spawned = events.find(({ type }) => type === 'run_spawned');
    expect(state.messages.at(-2)!.metadata).to.deep.equal({ childRunId: spawned!.runId });
  });

  it('begins it whatever others have sent under its id', async () => {
    const done = gate();
    const app = leaver(async () => {
      await done.passed;
      return 'made it';
    });
    const { url } = await startGateway({ app, limits: FAST });
    const events = await eventsUntil(url, endOf(await sendTo(url, 'go')));
    const { runId } = events.find(({ type }) => type === 'run_spawned')!;
    const taken = await sendTo(url, 'nothing', { idempotencyKey: `child:${runId}` });
    await eventsUntil(url, endOf(taken));
    done.open();
    const state = foldOf(await eventsUntil(url, isHeard));
    expect(textOf(state.messages.at(-1)!)).to.equal('heard work end: made it');
  });

  it('begins none where a person took over, or the session was closed', async () => {
    const app = leaver(() => new Promise(() => {}));
    const { url } = await startGateway({ app, limits: FAST });
    await eventsUntil(url, endOf(await sendTo(url, 'go')));
    await post(`${url}/take-over`, { sessionId: 'main' });
    await post(`${url}/hand-back`, { sessionId: 'main' });
    const events = await eventsUntil(url, endOf(await sendTo(url, 'go')));
    expect(events.filter(({ type }) => type === 'message_accepted')).to.have.length(2);
    await post(`${url}/close`, { sessionId: 'main' });
    const anew = await eventsUntil(url, endOf(await sendTo(url, 'go')));
    expect(anew.filter(({ type }) => type === 'message_accepted')).to.have.length(1);
  });
});
