import { expect } from 'chai';
import { redisStore } from '../../../server/stores/redis/index.js';
import { Keys } from '../../../server/stores/redis/keys.js';
import type { Store } from '../../../server/stores/store.js';
import { openStore } from '../../support/open-store.js';
import { startCluster } from '../../support/redis-cluster.js';
import { describeWithRedis, newPrefix, type RedisServer } from '../../support/redis-server.js';
import { until } from '../../support/until.js';
import { judge, type Outcome, outcomeOf } from './describe-members.js';
import { another, type MemberCase, newPlace, type World, WRITES, worldOf } from './members.js';

const MASTERS = [0, 1, 2];
const AWAY = 2;
const SLOTS = 16_384;

/** Those that change a session, or what leads to it. */
const CHANGES = WRITES.filter(({ name }) => /^(acquire|release|append|cut|remove)/.test(name));

/** CRC-16 (XMODEM) of the key, or of what it has in braces. */
function slotOf(key: string): number {
  let crc = 0;
  for (const byte of Buffer.from(/\{(.+?)\}/.exec(key)?.[1] ?? key)) {
    crc ^= byte << 8;
    for (let i = 0; i < 8; i++) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
  }
  return crc % SLOTS;
}

const masterOf = (key: string): number => Math.floor((slotOf(key) * MASTERS.length) / SLOTS);

interface Called {
  readonly member: MemberCase;
  readonly world: World;
  readonly where: string;
  /** The master that is away has something of it. */
  readonly ofAway: boolean;
  outcome?: Outcome;
}

describeWithRedis('store contract over a line that breaks: a Redis Cluster that lacks a master', () => {
  let servers: readonly RedisServer[];
  let prefix: string;

  before(async () => {
    servers = await startCluster(['--cluster-require-full-coverage', 'no']);
  });
  after(() => Promise.all(servers.map((server) => server.stop())));
  beforeEach(() => {
    prefix = newPrefix();
  });

  const opened = async (): Promise<Store> => {
    const nodes = servers.map(({ url }) => url);
    return openStore(redisStore({ cluster: { nodes }, prefix, leaseMs: 1000 }));
  };

  /** Of each member a case for each master that has the session, and each that has what leads to it. */
  async function cases(store: Store, beside: Store): Promise<Called[]> {
    const keys = new Keys(prefix);
    const all: Called[] = [];
    for (const ofSession of MASTERS)
      for (const ofScope of MASTERS)
        for (const member of CHANGES) {
          let place = newPlace();
          const fits = (): boolean => {
            const { ref } = place;
            const sessions = [ref, another(place)].map((each) => keys.session(each).meta);
            return (
              sessions.every((key) => masterOf(key) === ofSession) &&
              masterOf(keys.kept(ref.scope)) === ofScope
            );
          };
          while (!fits()) place = newPlace();
          const world = await worldOf(store, beside, member, place);
          const where = `${member.name}, session on ${ofSession}, what leads to it on ${ofScope}`;
          // Whose a record is and when it is due is said in other parts.
          const hasRecords = /record|takeDue/i.test(member.name);
          const said = hasRecords ? [keys.due, keys.owner('note', 'ben')].map(masterOf) : [];
          all.push({ member, world, where, ofAway: [ofSession, ofScope, ...said].includes(AWAY) });
        }
    return all;
  }

  const call = (store: Store, all: readonly Called[]): Promise<unknown> =>
    Promise.all(
      all.map(async (called) => {
        called.outcome = await outcomeOf(() => called.member.call(store, called.world));
      }),
    );

  async function isWhole(): Promise<boolean> {
    return servers.every((server) => {
      const info = server.cli('cluster', 'info');
      return /cluster_state:ok/.test(info) && /cluster_slots_ok:16384/.test(info);
    });
  }

  it('what is refused was not made, and what is answered is there when it is back', async function () {
    // Some hundred calls, each in a place of its own.
    this.timeout(600_000);
    const [store, beside] = [await opened(), await opened()];
    const [asItStops, whileItIsAway] = [await cases(store, beside), await cases(store, beside)];
    const lost = servers[AWAY]!;
    lost.freeze();
    const called = call(store, asItStops);
    // The others have found out.
    await until(() => /cluster_state:fail|cluster_slots_fail:[1-9]/.test(servers[0]!.cli('cluster', 'info')));
    await lost.end();
    await called;
    await call(store, whileItIsAway);
    // Not for what a master that is there has to itself.
    for (const { outcome, where, ofAway } of whileItIsAway)
      if (!ofAway) expect(outcome, where).to.equal('answered');
    await lost.begin();
    await until(isWhole);
    for (const { member, world, outcome, where } of [...asItStops, ...whileItIsAway])
      await judge(member, { store, beside }, outcome!, world, `${where}: ${outcome}`);
  });
});
