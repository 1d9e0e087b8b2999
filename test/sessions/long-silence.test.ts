import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { StoreError } from '../../server/stores/append.js';
import type { Store } from '../../server/stores/store.js';
import { textOf } from '../../shared/messages.js';
import { gate } from '../support/gate.js';
import { MemoryHub } from '../support/memory-hub.js';
import { type Node, startNode } from '../support/nodes.js';
import { overriding } from '../support/overriding.js';
import { until } from '../support/until.js';
import { passMonotonic } from '../support/wall-clock.js';

const TEN_MINUTES = 600_000;

/** Begins, waits for a word of the test, and goes on. */
function telling() {
  const word = gate<string>();
  const app = defineApp({
    async *run() {
      yield 'before ';
      yield await word.passed;
      yield ' after';
    },
  });
  return { app, word };
}

/** A store of which the answers to appends are lost while it is silent. @param makes Whether it makes these appends all the same */
function silenced(makes: boolean) {
  let tries = 0;
  let isSilent = false;
  const wrap = (own: Store): Store =>
    overriding(own, {
      append: async (...args) => {
        if (!isSilent) return own.append(...args);
        tries += 1;
        if (makes) await own.append(...args);
        throw new StoreError('UNKNOWN', 'The store did not answer append');
      },
    });
  const tried = async (count: number): Promise<void> => {
    const before = tries;
    await until(() => tries >= before + count);
  };
  const silence = (is: boolean): void => {
    isSilent = is;
  };
  return { wrap, tried, silence };
}

/** Resolves once the run has said something. */
async function begun(hub: MemoryHub, run: { readonly accepted: Promise<unknown> }): Promise<void> {
  await run.accepted;
  await until(() => hub.eventsOf('main').some(({ type }) => type === 'content_delta'));
}

async function firstEnd({ client }: Node): Promise<string> {
  for await (const event of client.events('main', { from: 'earliest' }))
    if (event.type === 'message_end') return event.stopReason;
  throw new Error('the stream ended');
}

describe('a store that does not say for minutes whether it has an append', () => {
  for (const makes of [true, false])
    it(`costs no run when nobody else took the session (${makes ? 'the append was made' : 'it was not'})`, async () => {
      const hub = new MemoryHub();
      const { wrap, tried, silence } = silenced(makes);
      const { app, word } = telling();
      const node = await startNode(hub, { app, store: wrap });
      const run = node.client.send('main', 'hello');
      await begun(hub, run);
      silence(true);
      word.open('meanwhile');
      await tried(1);
      passMonotonic(TEN_MINUTES);
      await tried(2);
      silence(false);
      const { stopReason, message } = await run.result;
      expect([stopReason, textOf(message)]).to.deep.equal(['end', 'before meanwhile after']);
      const types = hub.eventsOf('main').map(({ type }) => type);
      expect(types.filter((type) => type === 'message_end')).to.have.length(1);
      expect(node.log.lines.map(({ message: line }) => line)).to.not.include(
        'session main was given up: its events could not be stored',
      );
    });

  it('ends its run as lost when another gateway took the session', async () => {
    const hub = new MemoryHub();
    const { wrap, tried, silence } = silenced(false);
    const { app, word } = telling();
    const node = await startNode(hub, { app, store: wrap });
    const other = await startNode(hub, { app });
    const run = node.client.send('main', 'hello');
    await begun(hub, run);
    silence(true);
    word.open('meanwhile');
    await tried(1);
    node.node.freeze();
    expect(await firstEnd(other)).to.equal('lost');
    passMonotonic(TEN_MINUTES);
    silence(false);
    node.node.thaw();
    expect((await run.result).stopReason).to.equal('lost');
    expect(hub.eventsOf('main').filter(({ type }) => type === 'message_end')).to.have.length(1);
  });

  it('has no more kept for it than fits: the session is given up then, and its run ends as lost', async () => {
    const hub = new MemoryHub();
    const { wrap, tried, silence } = silenced(false);
    const { app, word } = telling();
    const node = await startNode(hub, { app, store: wrap });
    const run = node.client.send('main', 'hello');
    await begun(hub, run);
    silence(true);
    word.open('x'.repeat(9 * 1024 * 1024));
    await tried(1);
    silence(false);
    expect((await run.result).stopReason).to.equal('lost');
  });

  it('lets a run end by its own time', async () => {
    const hub = new MemoryHub();
    const { wrap, tried, silence } = silenced(false);
    const { app } = telling();
    const node = await startNode(hub, { app, store: wrap, limits: { runMs: 100 } });
    const sent = node.client.send('main', 'hello');
    await sent.accepted;
    silence(true);
    await tried(2);
    silence(false);
    expect((await sent.result).stopReason).to.equal('timeout');
  });
});
