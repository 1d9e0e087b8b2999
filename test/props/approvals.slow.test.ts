import { expect } from 'chai';
import fc from 'fast-check';
import { type Application, createGateway, type Gateway } from '../../server/index.js';
import type { MakePlace, Place, StoreNode } from '../cluster/place.js';
import { postgresPlace } from '../cluster/postgres-place.js';
import { redisPlace } from '../cluster/redis-place.js';
import { cases } from '../support/fuzz.js';
import { describeWithPostgres } from '../support/postgres-server.js';
import { describeWithRedis, endSharedRedis } from '../support/redis-server.js';
import { stories, violationsOf, type World } from './approvals-life.js';

interface Member {
  readonly node: StoreNode;
  readonly gateway: Gateway<any, any, any>;
}

/** Two gateways on a store at a time: who votes comes to either. */
function twoGateways(place: Place) {
  return async (app: Application): Promise<World> => {
    let members: Member[] = [];
    const dead: Member[] = [];
    const join = async (): Promise<void> => {
      const node = await place.node();
      const gateway = createGateway({
        ...{ app, embedded: true, auth: { type: 'none' }, sessionScope: 'global', store: node.store },
        logger: { info: () => {}, warn: () => {}, error: () => {} },
        limits: { drainMs: 20, storeMs: 3000 },
      });
      await gateway.start();
      members.push({ node, gateway });
    };
    await join();
    await join();
    let turn = 0;
    return {
      main: (user) => members[turn++ % members.length]!.gateway.session('main', { user }),
      async kill() {
        const [killed, ...others] = members as [Member, ...Member[]];
        killed.node.kill();
        dead.push(killed);
        members = others;
        await join();
      },
      async end() {
        for (const { node } of dead) node.thaw();
        await Promise.all([...members, ...dead].map(({ gateway }) => gateway.close()));
      },
    };
  };
}

function holds(makePlace: MakePlace): void {
  it('is decided once, by the order of the log, whoever races for it at any of them', () =>
    fc.assert(
      fc.asyncProperty(stories, async (story) => {
        expect(await violationsOf(story, twoGateways(await makePlace({})))).to.deep.equal([]);
      }),
      { numRuns: cases(15) },
    ));
}

describeWithRedis('an approval at gateways that share a Redis', () => {
  after(endSharedRedis);

  holds(redisPlace);
});

describeWithPostgres('an approval at gateways that share a PostgreSQL database', () => holds(postgresPlace));
