import { memoryStore } from '../../../server/stores/memory.js';
import { sqliteStore } from '../../../server/stores/sqlite/index.js';
import type { Store } from '../../../server/stores/store.js';
import { newDatabase } from '../../support/durable.js';
import { openStore } from '../../support/open-store.js';
import { reachStore, serveForTests } from '../../support/served-store.js';
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

describe('store contract over a line that breaks: memory over a socket', () => {
  describeMembers(() => ({ refusing: [], open: () => onALine(memoryStore(), 1000) }));
});

describe('store contract over a line that breaks: sqlite over a socket', () => {
  describeMembers(() => ({ refusing: [], open: () => onALine(sqliteStore({ path: newDatabase() }), 1000) }));
});

describe('gateways on a store over a socket', () => {
  describeGateways(() => ({ open: () => onALine(memoryStore(), 1000) }));
});
