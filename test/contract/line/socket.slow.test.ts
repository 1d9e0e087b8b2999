import { memoryStore } from '../../../server/stores/memory.js';
import type { Store } from '../../../server/stores/store.js';
import { isToday } from '../../support/daily.js';
import { openStore } from '../../support/open-store.js';
import { reachStore, serveForTests } from '../../support/served-store.js';
import { ENGINES } from '../../support/stores.js';
import { CutLine } from './cut-line.js';
import { describeMembers } from './describe-members.js';
import { describeGateways } from './gateways.js';

async function onALine(store: Store, leaseMs: number) {
  const port = await serveForTests(store, leaseMs);
  const line = await CutLine.to(port);
  return {
    store: await openStore(reachStore(line.port)),
    beside: await openStore(reachStore(port)),
    arm: line.arm.bind(line),
    disarm: () => line.disarm(),
  };
}

// One of them a day: the line is the same.
const SERVED = Object.entries(ENGINES);
for (const [number, [name, make]] of SERVED.entries())
  if (isToday(number, SERVED.length))
    describe(`store contract over a line that breaks: ${name} over a socket`, () => {
      describeMembers(() => ({ refusing: [], open: () => onALine(make(), 1000) }));
    });

describe('gateways on a store over a socket', () => {
  describeGateways(() => ({ open: () => onALine(memoryStore(), 1000) }));
});
