import { expect } from 'chai';
import { describeDaily } from '../../support/daily.js';
import { SEED } from '../../support/fuzz.js';
import { FAST } from '../../support/gateway.js';
import { randomOf } from '../../support/random.js';
import { actor, STORES } from '../actor.js';
import { ByteProxy } from '../byte-proxy.js';
import { Follower, madeIn, says, startA2a } from './fixtures.js';

const SCRIPT = `think hello look data ${'wört '.repeat(60)}bye`;
const CUTS = 30;
const COMPLETED = 3;

describeDaily('an agent whose line breaks in mid-answer', 1, () => {
  for (const [store, make] of STORES)
    it(`has each byte once, of one task: ${store} (seed ${SEED})`, async () => {
      const { app, effects } = actor();
      const gateway = await startA2a({ app, store: make(), limits: FAST });
      const proxy = await ByteProxy.start(gateway.url);
      const [direct, agent] = [await gateway.client(), await gateway.client('alice', { at: proxy.url })];
      let runs = 0;
      gateway.gateway.on('run:started', () => {
        runs += 1;
      });
      /** Sends, and comes back until the task is over, as the protocol says. */
      const run = async () => {
        const message = says(SCRIPT);
        const follower = new Follower();
        const isOver = () => follower.task?.status?.state === COMPLETED;
        while (!isOver())
          try {
            const id = follower.task?.id;
            // A client that heard of no task sends the message again.
            if (id === undefined) await follower.read(agent.sendMessageStream(message));
            else await follower.read(agent.resubscribeTask({ tenant: '', id }));
            // A stream that ends has told the end.
            expect(isOver()).to.equal(true);
          } catch (error) {
            if ((error as Error).name === 'AssertionError') throw error;
            const id = follower.task?.id;
            if (id !== undefined && /over/.test(String(error)))
              follower.task = await direct.getTask({ tenant: '', id, historyLength: undefined });
          }
        const { id } = follower.task!;
        const got = await direct.getTask({ tenant: '', id, historyLength: undefined });
        const made = madeIn(follower.task!);
        expect(made).to.deep.equal(madeIn(got));
        return made;
      };
      const expected = await run();
      const random = randomOf(SEED);
      for (let round = 0; round < CUTS; round++) {
        proxy.cutAfter = 1 + Math.floor(random() * 20_000);
        expect(await run(), `round ${round}`).to.deep.equal(expected);
      }
      expect(proxy.cuts).to.be.above(CUTS / 2);
      expect(runs).to.equal(CUTS + 1);
      expect(effects).to.deep.equal(Array.from({ length: CUTS + 1 }, () => 'look'));
    });
});
