import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { isGatewayError } from '../../shared/errors.js';
import { textOf } from '../../shared/messages.js';
import { MemoryHub } from '../support/memory-hub.js';
import { type Node, startNode } from '../support/nodes.js';
import { until } from '../support/until.js';

/** An app that says which version has answered. */
const appOf = (version: string, accepts: readonly string[] = []) =>
  defineApp({
    ...{ version, accepts, resumable: true },
    async *run(turn) {
      yield `Asked. `;
      yield `${await turn.ask({ name: 'sure' })} at ${version}.`;
    },
  });

const node = (hub: MemoryHub, version: string, accepts: readonly string[] = []): Promise<Node> =>
  startNode(hub, { app: appOf(version, accepts) });

/** Sends at a gateway, and resolves with the question's id. */
async function ask({ client }: Node): Promise<string> {
  for await (const event of client.send('main', 'go'))
    if (event.type === 'input_required') return event.callId;
  throw new Error('nobody was asked');
}

const answer = ({ client }: Node, callId: string): Promise<string> =>
  client
    .session('main')
    .respond(callId, { output: 'yes' })
    .then(
      () => 'taken',
      (error: unknown) => (isGatewayError(error) ? error.code : String(error)),
    );

async function endAt({ client }: Node): Promise<string> {
  for await (const event of client.events('main', { from: 'earliest' }))
    if (event.type === 'message_end') return textOf(event.message);
  throw new Error('the events ended');
}

describe('a run of a version of its app, with several gateways', () => {
  it('goes on at one of its version where one lives, though another that accepts it is asked', async () => {
    const hub = new MemoryHub();
    const [first, newer] = [await node(hub, '1'), await node(hub, '2', ['1'])];
    const callId = await ask(first);
    const second = await node(hub, '1');
    first.node.kill();
    expect(await answer(newer, callId)).to.equal('taken');
    expect(await endAt(newer)).to.equal('Asked. yes at 1.');
    expect(hub.holderOf('main')).to.equal(second.node.holder);
  });

  it('goes on at one that accepts it where none of its version lives', async () => {
    const hub = new MemoryHub();
    const [first, newer] = [await node(hub, '1'), await node(hub, '2', ['1'])];
    const callId = await ask(first);
    first.node.kill();
    expect(await answer(newer, callId)).to.equal('taken');
    expect(await endAt(newer)).to.equal('Asked. yes at 2.');
  });

  it('is held where none can, and goes on by itself at one of its version that comes, also where it is followed', async () => {
    const hub = new MemoryHub();
    const [first, newer] = [await node(hub, '1'), await node(hub, '2')];
    const callId = await ask(first);
    const followed = endAt(newer);
    first.node.kill();
    const held = async () => (await newer.client.session('main').state()).run?.held ?? null;
    await until(async () => (await held()) !== null);
    expect(await answer(newer, callId)).to.equal('RUN_HELD');
    const back = await node(hub, '1');
    await until(async () => (await held()) === null);
    expect(await answer(newer, callId)).to.equal('taken');
    expect(await followed).to.equal('Asked. yes at 1.');
    expect(hub.holderOf('main')).to.equal(back.node.holder);
  });

  it('goes over with a hand-over to one of its version', async () => {
    const hub = new MemoryHub();
    const first = await node(hub, '1');
    const [newer, second] = [await node(hub, '2', ['1']), await node(hub, '1')];
    const callId = await ask(first);
    await first.gateway.close();
    await until(() => hub.holderOf('main') === second.node.holder);
    expect(await answer(newer, callId)).to.equal('taken');
    expect(await endAt(newer)).to.equal('Asked. yes at 1.');
  });
});
