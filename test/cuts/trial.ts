import { createGateway, defineApp, isGatewayError, type Turn } from '../../server/index.js';
import type { Store } from '../../server/stores/store.js';
import type { StoredEvent } from '../../server/stores/stored.js';
import type { Budget } from '../../shared/budgets/options.js';
import { FAST, TestLogger } from '../support/gateway.js';
import { insist } from '../support/insist.js';
import { closeLater } from '../support/resources.js';
import { until } from '../support/until.js';
import { byName } from '../support/users.js';
import { type CutPlan, cutStore } from './cut-store.js';
import { FLOWS, Person } from './flows.js';

const turns = async (many: number, { signal }: Turn): Promise<void> => {
  for (let i = 0; i < many && !signal.aborted; i++) await new Promise(setImmediate);
};

/** An app that tells what it does, with a key under which it may happen once. */
const appFor = (effects: string[]) =>
  defineApp({
    resumable: true,
    async *run(turn) {
      yield 'heard ';
      if (turn.text === 'fail') throw new Error('The app failed');
      if (turn.text === 'wait') await turns(Number.POSITIVE_INFINITY, turn);
      if (turn.text === 'turns') await turns(20, turn);
      if (turn.text === 'ask') await turn.confirm({ name: 'pay', input: 1 });
      if (turn.text === 'steps')
        for (const name of ['a', 'b']) await turn.step(name, ({ key }) => effects.push(key));
      if (turn.text === 'spend')
        for (const id of ['a', 'b']) await turn.usage({ id, inputTokens: 600, outputTokens: 0 });
      if (turn.text === 'children') {
        const begun = ['a', 'b'].map((id) => turn.spawn('main', { message: id, id }).result);
        await Promise.allSettled(begun);
      }
      if (turn.text === 'detached') turn.spawn('main', { message: 'a', id: 'd', detached: true });
      yield turn.text;
    },
  });

/** A budget of which a run is told that some of it is spent. */
const BUDGET: Budget = {
  ...{ name: 'own', per: 'session', period: 'ever' },
  ...{ limit: { tokens: 2000 }, at: [0.5], reached: 'stop' },
};

/** Time after which two flows are helped on, in milliseconds. */
const STUCK_MS = 2000;

/** A trial: what somebody does, with one call of the store cut, or with something else on its way meanwhile. */
export interface Trial extends Pick<CutPlan, 'at' | 'cut'> {
  readonly flow: string;
  /** What somebody else does while the call is on its way. */
  readonly other?: string;
}

export interface Outcome {
  /** Names of the store's calls. */
  readonly calls: readonly string[];
  /** The call that was cut; empty if it was not met. */
  readonly hit: string;
  readonly violations: readonly string[];
}

/** Two flows may get in each other's way, which they are told. One alone is told nothing but its answer. */
const isRefusal = (error: unknown): boolean => isGatewayError(error) && error.status < 500;

/** Tries a flow on a store that nobody else uses, and judges what is left of it. */
export async function attempt(inner: Store, { flow, other, at, cut }: Trial): Promise<Outcome> {
  const effects: string[] = [];
  const violations: string[] = [];
  await inner.open();
  closeLater(inner, (it) => it.close());
  const open = async (store: Store) => {
    const gateway = createGateway({
      ...{
        apps: { main: appFor(effects) },
        defaultApp: 'main',
        store,
        auth: byName,
        embedded: true,
        sessionScope: 'global',
        logger: new TestLogger(),
        ...(flow === 'spend' && { budgets: [BUDGET] }),
      },
      limits: { ...FAST, loopDelayMs: Number.POSITIVE_INFINITY, drainMs: 1000 },
    });
    closeLater(gateway, (it) => it.close());
    await gateway.start();
    return gateway;
  };
  let meanwhile: Promise<unknown> = Promise.resolve();
  const people: Person[] = [];
  const doing = async (name: string, ids: readonly [string, string]): Promise<void> => {
    const [one, two] = ids.map((id) => new Person(gateway, id));
    people.push(one!, two!);
    await FLOWS[name]!(one!, two!).catch((error: unknown) => {
      if (!other || !isRefusal(error)) violations.push(`${name} failed: ${(error as Error).stack}`);
    });
  };
  // One flow may have got a run of the other that goes on until it is told to stop.
  const free = async (): Promise<void> => {
    for (const name of ['abort', 'hand-back'] as const)
      for (const id of ['ann', 'cleo']) await new Person(gateway, id).call(name).catch(() => {});
  };
  const { store, calls } = cutStore(inner, {
    ...{ at, cut },
    ...(other !== undefined && {
      meanwhile: () => {
        meanwhile = doing(other, ['cleo', 'dan']);
        // The other may wait for the call.
        return Promise.race([meanwhile, new Promise((resolve) => setTimeout(resolve, 40))]);
      },
    }),
  });
  const gateway = await open(store);
  await gateway.session('main', { user: { id: 'ann' } }).send('hi').result;
  calls.isArmed = true;
  const freeing = other === undefined ? null : setInterval(() => void free().catch(() => {}), STUCK_MS);
  await doing(flow, ['ann', 'ben']).then(() => meanwhile);
  clearInterval(freeing ?? undefined);
  calls.isArmed = false;

  const asker = new Person(gateway, 'eve');
  const isIdle = async (): Promise<boolean> => {
    const state = await insist(() => asker.call('status')).catch((error: unknown) => {
      if (isGatewayError(error) && error.code === 'SESSION_NOT_FOUND') return { status: 'idle', queued: 0 };
      throw error;
    });
    // What the other flow has ended may leave a question, a person in charge or a run that waits for ever.
    if (other && state.status !== 'idle') await free();
    return state.status === 'idle' && state.queued === 0;
  };
  await until(isIdle);
  if (other)
    for (const id of ['ann', 'cleo']) await new Person(gateway, id).call('hand-back').catch(() => {});
  const { stopReason } = await asker.send('one more');
  if (stopReason !== 'end') violations.push(`one more message ended as ${stopReason}`);

  const ref = { scope: 'global', app: 'main', name: 'main' };
  const logs = [];
  for (const epoch of await inner.conversations(ref))
    logs.push(await inner.read({ ...ref, epoch }, 0, 100_000, 1e9));
  if (logs.length === 0) violations.push('the session has no log');
  const runs = new Map<string, string>();
  for (const log of logs) violations.push(...judge(log, runs));
  const told = logs.flat().filter(({ type }) => type === 'budget_warned');
  if (flow === 'spend' && !other && told.length !== 1) violations.push(`it was warned ${told.length} times`);
  const isWiped = [flow, other].includes('delete');
  for (const { acknowledged } of isWiped ? [] : people)
    for (const [key, runId] of acknowledged)
      if (runs.get(key) !== runId)
        violations.push(`${key} was acknowledged as ${runId}, logged ${runs.get(key)}`);
  if (new Set(effects).size !== effects.length) violations.push(`effects were repeated: ${effects}`);
  const shown = await asker.state();
  await gateway.close();
  const fresh = await new Person(await open(cutStore(inner, { at: 0, cut }).store), 'eve').state();
  if (JSON.stringify(shown) !== JSON.stringify(fresh)) violations.push('what is shown differs from the log');
  return { calls: calls.names, hit: calls.hit, violations };
}

/** What is wrong with the log of a conversation that is idle. @param runs Filled with runs by their keys */
function judge(log: readonly StoredEvent[], runs: Map<string, string>): readonly string[] {
  const found: string[] = [];
  const open = new Map<string, boolean>();
  let holder: string | null = null;
  for (const [i, { seq, type, body }] of log.entries()) {
    const { runId, key, to, code } = JSON.parse(body) as {
      readonly runId?: string;
      readonly key?: string;
      readonly to?: string | null;
      readonly code?: string;
    };
    if (type === 'run_error' && code === 'OVERLOADED') found.push(`${runId} was ended by its store`);
    if (i > 0 && seq !== log[i - 1]!.seq + 1) found.push(`a hole before ${seq}`);
    if (type === 'control_moved') holder = to ?? null;
    if (type === 'message_start' && holder !== null) found.push(`${runId} began while ${holder} had control`);
    if (runId === undefined || type === 'schedule_fired') continue;
    if (type === 'message_accepted' || type === 'run_spawned') {
      if (open.has(runId)) found.push(`${runId} was accepted twice`);
      if (key !== undefined && runs.has(key)) found.push(`${key} was accepted twice`);
      open.set(runId, true);
      if (key !== undefined) runs.set(key, runId);
    } else if (open.get(runId) === false) found.push(`${type} behind the end of ${runId}`);
    if (type === 'message_end') open.set(runId, false);
  }
  for (const [runId, isOpen] of open) if (isOpen) found.push(`${runId} has no end`);
  return found;
}
