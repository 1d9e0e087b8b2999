import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import type { Subscription } from '../../server/delivery/subscription.js';
import type { HeldSession } from '../../server/held/held-session.js';
import { memoryStore } from '../../server/index.js';
import type { Session } from '../../server/sessions/session.js';
import { StoreError } from '../../server/stores/append.js';
import type { Store } from '../../server/stores/store.js';
import { isGatewayError } from '../../shared/errors.js';
import { directoryOn, refOf } from './directory.js';
import { overriding } from './overriding.js';
import { until } from './until.js';

const REF = refOf('main');

/** What the session's life should be, as far as anybody outside can tell. */
interface Model {
  stage: 'free' | 'held' | 'leaving';
  isEnding: boolean;
  isOpen: boolean;
}

interface World {
  readonly session: Session;
  readonly store: Store;
  /** Has the next call of a member fail: before it is made, or once it is made. */
  fail(member: 'acquire' | 'append' | 'release', how: 'refuse' | 'lose' | 'break'): void;
}

/** A store that answers at once or later, and fails a call where it is told to. */
function failing(inner: Store, isLate: boolean) {
  let next: { readonly member: string; readonly how: string } | null = null;
  const met = <Result>(member: string, call: () => Result): Result => {
    if (next?.member !== member) return call();
    const { how } = next;
    next = null;
    if (how === 'break') throw new Error('damaged');
    if (how === 'lose') call();
    throw new StoreError('UNAVAILABLE', how);
  };
  const failed = <Result>(member: string, call: () => Result): Result =>
    isLate ? (setTimeout(0).then(() => met(member, call)) as Result) : met(member, call);
  const store = overriding(inner, {
    acquire: (...given) => failed('acquire', () => inner.acquire(...given)),
    append: (...given) => failed('append', () => inner.append(...given)),
    // Answered later than an `acquire` that comes behind it.
    release: (...given) => {
      const released = failed('release', () => inner.release(...given));
      return isLate ? Promise.resolve(released).then(() => setTimeout(5)) : released;
    },
  });
  return {
    store,
    fail: (member: string, how: string): void => {
      next = { member, how };
    },
    spare: (): void => {
      next = null;
    },
  };
}

/** The stage after the session is no longer held. */
const free = (model: Model): void => {
  model.stage = model.isEnding ? 'leaving' : 'free';
};
/** The stage after a hold in doubt: it is taken again, if there is a session and the gateway stays. */
const retaken = (model: Model): void => {
  if (model.isEnding) model.stage = 'leaving';
  else model.stage = model.isOpen ? 'held' : 'free';
};
const write = ({ session }: World): Promise<unknown> =>
  session.held!.log.commit([{ type: 'custom', ts: 1, name: 'n', payload: 1 }]);

/** All that may happen to a session, with what its life is afterwards. */
const EVENTS: Readonly<Record<string, (world: World, model: Model) => Promise<unknown>>> = {
  async begin({ session }, model) {
    if (model.stage === 'free') Object.assign(model, { stage: 'held', isOpen: true });
    await session.take({ userId: 'u' });
  },
  async take({ session }, model) {
    if (model.stage === 'free' && model.isOpen) model.stage = 'held';
    await session.take();
  },
  async 'twice at once'({ session }, model) {
    if (model.stage === 'free') Object.assign(model, { stage: 'held', isOpen: true });
    await Promise.all([session.take({ userId: 'u' }), session.take({ userId: 'u' })]);
  },
  async 'a take that is refused'({ session, fail }, model) {
    if (model.stage === 'free') retaken(model);
    fail('acquire', 'refuse');
    await session.take();
  },
  async 'a take whose answer is lost'({ session, fail }, model) {
    if (model.stage === 'free') retaken(model);
    fail('acquire', 'lose');
    await session.take();
  },
  async 'an end while it is taken'({ session }, model) {
    const taken = session.take({ userId: 'u' });
    session.life.end();
    if (model.stage === 'free') Object.assign(model, { stage: 'held', isOpen: true });
    model.isEnding = true;
    await taken;
  },
  async 'a leave while it is taken'({ session }, model) {
    const taken = Promise.resolve(session.take({ userId: 'u' }));
    const left = session.abandon(1000);
    if (model.stage === 'free') model.isOpen = true;
    Object.assign(model, { isEnding: true, stage: 'leaving' });
    await Promise.all([left, taken]);
  },
  async 'a close while it closes'({ session }, model) {
    if (model.stage !== 'held') return;
    model.isOpen = false;
    free(model);
    await Promise.all([session.close('over'), session.close('over'), session.take()]);
  },
  async 'a loss while it closes'({ session, store }, model) {
    if (model.stage !== 'held') return;
    free(model);
    const closed = session.close('over');
    const taken = await store.acquire(REF, { holder: 'rival' });
    if (taken.kind !== 'acquired') throw new Error(taken.kind);
    await store.release(REF, taken.head.term);
    await closed;
  },
  async 'a rival that takes it'({ session, store }, model) {
    if (!model.isOpen) return;
    const taken = await store.acquire(REF, { holder: 'rival' });
    if (taken.kind !== 'acquired') throw new Error(taken.kind);
    await store.release(REF, taken.head.term);
    if (model.stage !== 'held') return;
    free(model);
    await session.hold.checkTerm();
  },
  async 'a batch that the store cannot take'(world, model) {
    if (model.stage !== 'held') return;
    retaken(model);
    world.fail('append', 'break');
    await write(world);
  },
  async close({ session }, model) {
    if (model.stage !== 'held') return;
    model.isOpen = false;
    free(model);
    await session.close('over');
  },
  async 'a close that is refused'({ session, fail }, model) {
    if (model.stage !== 'held') return;
    fail('append', 'refuse');
    await session.close('over');
  },
  async delete({ session }, model) {
    if (model.stage !== 'held') return;
    model.isOpen = false;
    free(model);
    await session.delete();
  },
  async 'a close in which it is lost'({ session, fail }, model) {
    if (model.stage !== 'held') return;
    retaken(model);
    fail('append', 'break');
    await session.close('over');
  },
  async 'giving up'({ session }, model) {
    if (model.stage === 'held') free(model);
    await session.hold.letGo();
  },
  async 'giving up, refused'({ session, fail }, model) {
    if (model.stage !== 'held') return;
    retaken(model);
    fail('release', 'refuse');
    await session.hold.letGo();
  },
  async 'giving up while it is taken again and followed'({ session }, model) {
    const isHeld = model.stage === 'held';
    const follower = { pump() {}, interrupt() {} } as unknown as Subscription;
    const left = session.hold.letGo();
    session.viewers.attach(follower);
    try {
      await session.look();
      if (isHeld) retaken(model);
      else if (model.stage === 'free' && model.isOpen) model.stage = 'held';
      await Promise.all([left, session.take()]);
    } finally {
      session.viewers.detach(follower, false);
    }
  },
  async end({ session }, model) {
    model.isEnding = true;
    if (model.stage === 'free') model.stage = 'leaving';
    session.life.end();
  },
  async leave({ session }, model) {
    Object.assign(model, { isEnding: true, stage: 'leaving' });
    await session.abandon(1000);
  },
};

export const NAMES = Object.keys(EVENTS);

/** Lets events happen to a session of its own, and checks after each what everybody believes. */
export async function live(names: readonly string[], isLate: boolean): Promise<void> {
  const inner = memoryStore();
  const { store, fail, spare } = failing(inner, isLate);
  const { directory } = directoryOn(store);
  const session = directory.get(REF);
  const world: World = { session, store: inner, fail };
  const model: Model = { stage: 'free', isEnding: false, isOpen: false };
  const holds = new Set<HeldSession>();
  for (const [at, name] of names.entries()) {
    const what = names.slice(0, at + 1).join(', ');
    const refusal = await EVENTS[name]!(world, model).then(
      () => null,
      (error: unknown) => error,
    );
    spare();
    if (refusal && !isGatewayError(refusal) && !(refusal instanceof StoreError)) throw refusal;
    await until(() => ['free', 'held', 'leaving'].includes(session.life.stage.name));
    const { held, stage, mayStart } = session.life;
    expect({ stage: stage.name, mayStart }, what).to.deep.equal({
      stage: model.stage,
      mayStart: model.stage === 'held' && !model.isEnding,
    });
    expect(held !== null, `${what}: what is held`).to.equal(model.stage === 'held');
    if (held) holds.add(held);
    for (const each of holds)
      if (each !== held)
        expect(each.over && (await refused(each)), `${what}: a hold that is over writes`).to.equal(true);
    const head = await inner.head(REF);
    if (held) expect(head!.term, `${what}: the store`).to.equal(held.log.term);
    if (held)
      expect(session.log === held.log.view, `${what}: what is shown is what is written`).to.equal(true);
    const log = await session.look();
    expect(log?.head ?? null, `${what}: what is read`).to.equal(head && !head.closed ? head.head : null);
    expect(head !== null && !head.closed, `${what}: the conversation`).to.equal(model.isOpen);
  }
}

/** Whether a write is refused, so that its caller knows that nothing was done. */
const refused = ({ log }: HeldSession): Promise<boolean> =>
  log.commit([{ type: 'custom', ts: 1, name: 'late', payload: 1 }]).then(
    () => false,
    ({ code, details }) => code === 'SESSION_CLOSED' || (code === 'OVERLOADED' && !details),
  );
