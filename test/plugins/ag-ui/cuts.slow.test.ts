import { expect } from 'chai';
import { describeDaily } from '../../support/daily.js';
import { FAST } from '../../support/gateway.js';
import { FrameProxy } from '../frame-proxy.js';
import {
  type Agent,
  type AgUiClient,
  type AgUiGateway,
  actor,
  attempt,
  CLIENTS,
  listener,
  STORES,
  says,
  shown,
  startAgUi,
} from './fixtures.js';

const SCRIPT = 'think hello look data where more pay think bye';

/** Runs until the end of the client's run was heard: whoever has not heard it asks again for the same. */
async function insist(agent: Agent, runId: string, parameters: object = {}): Promise<any[]> {
  const failures: unknown[] = [];
  for (let times = 0; times < 3; times++) {
    const heard = listener();
    failures.push(await attempt(agent, { runId, ...parameters }, heard));
    if (heard.events.some(({ type }) => type === 'RUN_FINISHED' || type === 'RUN_ERROR')) return heard.events;
  }
  throw new Error(`the run was not told to its end: ${failures.join('; ')}`);
}

/** A conversation with a tool of the client's and a confirmation, in three runs of the client. */
async function converse(agent: Agent): Promise<number[]> {
  agent.addMessage(says('u1', SCRIPT));
  const first = await insist(agent, 'one');
  const [call] = agent.messages.at(-1).toolCalls;
  agent.addMessage({ id: 't1', role: 'tool', toolCallId: call.id, content: 'here' });
  const second = await insist(agent, 'two');
  const [{ id: interruptId }] = agent.pendingInterrupts;
  const resume = [{ interruptId, status: 'resolved', payload: { approved: true } }];
  const third = await insist(agent, 'three', { resume });
  return [first.length, second.length, third.length];
}

async function cutEverywhere(ui: AgUiGateway, client: AgUiClient, effects: string[]): Promise<void> {
  const proxy = await FrameProxy.start(ui.url);
  const uncut = ui.agent(client, { threadId: 'uncut' });
  const lengths = await converse(uncut);
  const expected = shown(uncut.messages);
  let cuts = 0;
  for (const clean of [false, true])
    for (const [stream, frames] of lengths.entries())
      for (let after = 0; after < frames; after++) {
        const where = `${clean ? 'ended' : 'cut'} after ${after} of ${frames} frames of run ${stream + 1}`;
        for (let before = 0; before < stream; before++) proxy.cuts.push({ after: Infinity, clean });
        proxy.cuts.push({ after, clean });
        cuts += 1;
        const agent = ui.agent(client, { threadId: `thread-${cuts}`, url: proxy.url });
        await converse(agent);
        expect(shown(agent.messages), where).to.deep.equal(expected);
        const ids = agent.messages.map(({ id }) => id);
        expect(new Set(ids).size, where).to.equal(ids.length);
      }
  expect(proxy.ended).to.equal(cuts);
  expect(cuts).to.be.greaterThan(60);
  const once = ['look', 'pay'];
  expect(effects).to.deep.equal(Array.from({ length: 1 + cuts }, () => once).flat());
}

describeDaily('an agent whose stream is cut off', 2, () => {
  for (const [store, make] of STORES)
    for (const client of CLIENTS)
      it(`is whole again by the same runId, wherever that was: ${client.version}, ${store}`, async () => {
        const { app, effects } = actor();
        const ui = await startAgUi({ app, store: make(), limits: FAST });
        await cutEverywhere(ui, client, effects);
      });
});
