import type { AppendOptions, AppendResult } from '../../../server/stores/append.js';
import type { Membership } from '../../../server/stores/shared-store.js';
import type { Store } from '../../../server/stores/store.js';
import type { LogRef, SessionRef } from '../../../server/stores/stored.js';
import {
  checkpointAt,
  message,
  newTestEpoch,
  record,
  refOf,
  resultOf,
  TestWriter,
} from '../../../testing/stores/records.js';
import { until } from '../../support/until.js';

/** What a case is about: a session of its own, with a run that is open. */
export interface World {
  readonly ref: SessionRef;
  readonly log: LogRef;
  readonly term: number;
  readonly runId: string;
  /** Another log of the session, or of another session. */
  readonly epoch: string;
  /** The same server, beside the line. */
  readonly beside: Store;
  /** Of one that is named as the session. */
  membership: Membership | null;
  /** What it was told. */
  readonly heard: string[];
}

/** One member of the store port, as it is called, and how is told from outside whether it was done. */
export interface MemberCase {
  readonly name: string;
  call(store: Store, world: World): unknown;
  /** Of what changes anything. */
  done?(store: Store, world: World): Promise<boolean>;
  /** Whether all that goes with it is as it is to be, once it was done. */
  whole?(store: Store, world: World): Promise<boolean>;
  /** Whether the first call may be answered so. */
  says?(answer: unknown): boolean;
  /** The session is closed, or not held, when the call comes. */
  readonly closed?: boolean;
  readonly released?: boolean;
  /** Others have written it. */
  readonly elsewhere?: boolean;
  /** Its runs go with it. */
  readonly drops?: boolean;
  /** Before the call, beside the session. */
  prepare?(store: Store, world: World): unknown;
}

const HOLDER = 'gw_1';
let count = 0;

/** A name and a run that no other world has. */
export function newPlace(): Pick<World, 'ref' | 'runId'> {
  count += 1;
  return { ref: refOf(`s${count}`, `scope${count}`), runId: `run_${count}` };
}

/** A session with a run that is open, held by the store that is given. */
export async function worldOf(
  store: Store,
  beside: Store,
  { closed, released, elsewhere, prepare }: MemberCase,
  { ref, runId } = newPlace(),
): Promise<World> {
  const writer = await TestWriter.acquire(elsewhere ? beside : store, ref, undefined, HOLDER);
  const opens = { runId, key: 'k', hash: 'h', request: '{}' };
  await writer.append([{ ...record(1, 'message_accepted'), runId }], { opens });
  if (closed) await writer.append([record(2)], { ends: [{ runId, result: resultOf(runId) }], close: true });
  if (released) await store.release(writer.log, writer.term);
  const { log, term } = writer;
  const world = { ref, log, term, runId, epoch: newTestEpoch(), beside, membership: null, heard: [] };
  await prepare?.(store, world);
  return world;
}

const heldBy = async (store: Store, ref: SessionRef): Promise<string> => {
  const taken = await store.acquire(ref, { holder: 'gw_2' });
  return taken.kind === 'owned' ? taken.holder : taken.kind === 'acquired' ? '' : 'nobody';
};

/** A session that begins beside another one. */
export const another = ({ ref }: Pick<World, 'ref'>): SessionRef => ({ ...ref, name: `${ref.name}-begun` });
const next = ({ term }: World) => ({ term, batch: 2 });
const headOf = async (store: Store, { ref }: World): Promise<number> => (await store.head(ref))?.head ?? 0;
const isAcquired = (answer: unknown): boolean => (answer as { kind: string }).kind === 'acquired';
const isCreated = (answer: unknown): boolean => (answer as { created?: boolean }).created === true;

/** An event was written, in its place, and for the first time. */
function isAppended(answer: unknown): boolean {
  const { first, last, duplicate, stale } = answer as AppendResult;
  return first === 2 && last === 2 && !duplicate && !stale;
}

const isWritten: NonNullable<MemberCase['done']> = async (store, world) => (await headOf(store, world)) === 2;

/** An append of one event, with something beside it. */
const appending = (
  what: string,
  options: (world: World) => Partial<AppendOptions>,
  done = isWritten,
): MemberCase => ({
  name: `append, ${what}`,
  call: (store, world) => store.append(world.log, [record(2)], { ...next(world), ...options(world) }),
  says: isAppended,
  done,
});

const joined = async (store: Store, world: World): Promise<void> => {
  world.membership = await store.shared!.join({
    holder: world.ref.name,
    hear: (message) => void world.heard.push(message),
    away: () => {},
    lapsed: () => {},
  });
};

/** Whether the one that is named as the session is a member, as another one has it. */
export async function isMember(store: Store, { ref }: World): Promise<boolean> {
  const holder = `${ref.name}-observer`;
  const observer = await store.shared!.join({ holder, hear() {}, away() {}, lapsed() {} });
  const members = await observer.members();
  await observer.leave();
  return members.includes(ref.name);
}

/** Tells the one that is named as the session something, from somebody else and over another line, until it has heard it. */
export async function told({ ref, beside, heard }: World, message: string): Promise<void> {
  const holder = `${ref.name}-other`;
  const other = await beside.shared!.join({ holder, hear() {}, away() {}, lapsed() {} });
  while (!(await other.tell(ref.name, message))) await new Promise((resolve) => setTimeout(resolve, 20));
  await until(() => heard.includes(message));
  await other.leave();
}

const isGone = async (store: Store, { ref }: World): Promise<boolean> => (await store.record(ref)) === null;
const isNoticed = async (store: Store, { ref, epoch }: World): Promise<boolean> =>
  (await store.head(ref))?.epoch === epoch;

/** Nothing leads to the runs of what is dropped. */
const hasNoRuns = async (store: Store, { ref, runId }: World): Promise<boolean> =>
  (await store.run(ref, { runId })) === null;

/** Nor to the session. */
const isForgotten = async (store: Store, world: World): Promise<boolean> =>
  (await hasNoRuns(store, world)) && (await store.kept(world.ref.scope, { limit: 9 })).length === 0;

const RECORD = { kind: 'note', id: 'r', owner: 'ben', dueAt: 1000, value: '1' };
const TAKE = { limit: 1000, leaseMs: 60_000 };
const hasRecord: NonNullable<MemberCase['done']> = async (store, { ref }) =>
  (await store.records({ home: ref, limit: 9 })).length === 1;

const isTaken: NonNullable<MemberCase['done']> = async (store, { ref }) =>
  (await store.records({ home: ref, limit: 9 }))[0]!.dueAt! > RECORD.dueAt;

/** Those that change something. */
export const WRITES: readonly MemberCase[] = [
  {
    name: 'acquire, of a session that is there',
    released: true,
    call: (store, { ref }) => store.acquire(ref, { holder: HOLDER }),
    says: isAcquired,
    done: async (store, { ref }) => (await heldBy(store, ref)) === HOLDER,
  },
  {
    name: 'acquire, of one that another one held',
    call: (store, { ref }) => store.acquire(ref, { holder: 'gw_3', from: HOLDER }),
    says: isAcquired,
    done: async (store, { ref }) => (await heldBy(store, ref)) === 'gw_3',
  },
  {
    name: 'acquire, of one that begins',
    call: (store, world) => store.acquire(another(world), { holder: HOLDER, create: { epoch: world.epoch } }),
    says: isCreated,
    done: async (store, world) => (await store.record(another(world)))?.epoch === world.epoch,
  },
  {
    name: 'acquire, of one that was closed and begins anew',
    closed: true,
    call: (store, { ref, epoch }) => store.acquire(ref, { holder: HOLDER, create: { epoch } }),
    says: isCreated,
    done: async (store, { ref, epoch }) => (await store.head(ref))?.epoch === epoch,
  },
  {
    name: 'release',
    call: (store, { ref, term }) => store.release(ref, term),
    done: async (store, { ref }) => (await heldBy(store, ref)) === '',
  },
  appending('of events', () => ({})),
  appending('of what lists say', () => ({
    activity: { status: 'running', queued: 1 },
    about: { title: 'Said', messageCount: 1, pending: 0, usedAt: Date.now() },
  })),
  {
    name: 'append, of a run that begins',
    call: (store, world) =>
      store.append(world.log, [{ ...record(2, 'message_accepted'), runId: `${world.runId}b` }], {
        ...next(world),
        opens: { runId: `${world.runId}b`, key: 'k2', hash: 'h', request: '{}' },
      }),
    says: isAppended,
    done: isWritten,
    whole: async (store, { ref, runId }) => (await store.run(ref, { runId: `${runId}b` })) !== null,
  },
  {
    name: 'append, of a step',
    call: (store, world) =>
      store.append(world.log, [], {
        ...next(world),
        steps: [{ runId: world.runId, number: 1, name: 'step', outcome: '{}' }],
      }),
    done: async (store, { ref }) => {
      const taken = await store.acquire(ref, { holder: HOLDER });
      return taken.kind === 'acquired' && taken.openRuns[0]?.steps?.length === 1;
    },
  },
  appending(
    'of the end of a run',
    ({ runId }) => ({ ends: [{ runId, result: resultOf(runId) }] }),
    async (store, { ref, runId }) => (await store.run(ref, { runId }))?.result !== undefined,
  ),
  appending(
    'that closes',
    ({ runId }) => ({ ends: [{ runId, result: resultOf(runId) }], close: true }),
    async (store, { ref }) => (await store.head(ref))?.closed === true,
  ),
  appending(
    'of messages',
    () => ({ messages: [message('m1')] }),
    async (store, { log }) => (await store.messages(log, { tip: 'm1', limit: 1 })).length === 1,
  ),
  {
    ...appending('of records', () => ({ records: [RECORD] }), hasRecord),
    // By this, or by what took it meanwhile: who takes what is due finds it.
    whole: async (store, world) => {
      await store.takeDue(TAKE);
      return isTaken(store, world);
    },
  },
  {
    name: 'changeRecords',
    call: (store, { ref }) => store.changeRecords(ref, [{ ...RECORD, token: 0 }]),
    says: (done) => done === true,
    done: hasRecord,
  },
  {
    name: 'takeDue',
    prepare: (store, { ref }) => store.changeRecords(ref, [RECORD]),
    call: async (store, world) => {
      // What others of the suite left is due as well, and a refusal may come between.
      do await store.takeDue(TAKE);
      while (!(await isTaken(world.beside, world)));
    },
    done: isTaken,
  },
  {
    ...appending('that erases', ({ epoch }) => ({ erase: epoch }), isNoticed),
    whole: hasNoRuns,
    drops: true,
  },
  {
    name: 'cut',
    call: (store, { log, term }) => store.cut(log, checkpointAt(1, 'm1', 1), [message('m1')], term),
    done: async (store, { log }) => (await store.checkpoint(log))?.seq === 1,
  },
  {
    name: 'remove',
    closed: true,
    drops: true,
    call: (store, { ref }) => store.remove(ref),
    done: isGone,
    whole: isForgotten,
  },
  {
    name: 'join',
    call: joined,
    done: async (store, world) => {
      if (!(await isMember(store, world))) return false;
      for (const message of ['first', 'last']) await told(world, message);
      return world.heard.join() === 'first,last';
    },
  },
];

/** Wakes once it hears, and then when somebody else has written. */
async function woken(store: Store, { ref, beside }: World): Promise<void> {
  const writer = await TestWriter.acquire(beside, ref, null, HOLDER);
  let stop = (): void => {};
  const wake = new Promise<void>((resolve) => {
    stop = store.watch(ref, () => resolve());
  });
  await writer.append([record(9)]);
  await wake;
  stop();
}

/** Those that only look. */
export const READS: readonly MemberCase[] = [
  { name: 'read', call: (store, { log }) => store.read(log, 0, 9, 9999) },
  { name: 'head', call: (store, { ref }) => store.head(ref) },
  {
    name: 'head, of a log that is named',
    closed: true,
    call: (store, { ref, log }) => store.head(ref, log.epoch),
  },
  { name: 'conversations', call: (store, { ref }) => store.conversations(ref) },
  {
    name: 'records, of a home',
    prepare: (store, { ref }) => store.changeRecords(ref, [RECORD]),
    call: (store, { ref }) => store.records({ home: ref, limit: 9 }),
  },
  {
    name: 'records, of an owner',
    prepare: (store, { ref }) => store.changeRecords(ref, [{ ...RECORD, owner: ref.name }]),
    call: (store, { ref }) => store.records({ owner: ref.name, kind: 'note', limit: 9 }),
  },
  { name: 'run', call: (store, { ref }) => store.run(ref, { key: 'k' }) },
  { name: 'run, by its id', call: (store, { ref, runId }) => store.run(ref, { runId }) },
  { name: 'checkpoint', call: (store, { log }) => store.checkpoint(log) },
  { name: 'messages', call: (store, { log }) => store.messages(log, { tip: 'm0', limit: 9 }) },
  { name: 'replies', call: (store, { log }) => store.replies(log, null) },
  { name: 'record', call: (store, { ref }) => store.record(ref) },
  { name: 'list', call: (store, { ref }) => store.list(ref.scope, { limit: 9 }) },
  {
    name: 'search',
    call: async (store, { ref: { scope } }) =>
      store.search?.({ within: [{ scope }], words: ['word'], limit: 9, chars: 9999 }),
  },
  { name: 'count', call: (store, { ref }) => store.count(ref.scope) },
  { name: 'openRuns', call: (store, { ref }) => store.openRuns(ref) },
  { name: 'usage', call: (store, { ref }) => store.usage(ref) },
  { name: 'unfinished', released: true, call: (store) => store.unfinished() },
  { name: 'kept', call: (store, { ref }) => store.kept(ref.scope, { limit: 9 }) },
  { name: 'watch', call: woken },
  { name: 'held', call: (store) => store.shared!.held({ limit: 9 }) },
  { name: 'members', prepare: joined, call: (_, { membership }) => membership!.members() },
];

/** Tries once. */
export const CHECK: MemberCase = { name: 'check', call: (store) => store.check?.() };

/** What may be lost, and comes once at most. */
export const TELL: MemberCase = {
  name: 'tell',
  prepare: joined,
  call: (_, { ref, membership }) => membership!.tell(ref.name, 'hello'),
};

/** Is tried once for long enough, and not waited for by anybody. */
export const LEAVE: MemberCase = {
  name: 'leave',
  prepare: joined,
  call: (_, { membership }) => membership!.leave(),
};

/** Goes through all there is, and is done again at any time: what of it was done is nothing to anybody. */
export const EXPIRE: MemberCase = {
  name: 'expire',
  closed: true,
  // What was closed here moments ago is told again to a store that comes back without it.
  elsewhere: true,
  drops: true,
  call: (store) => store.expire(Date.now() + 60_000),
  done: isGone,
  whole: isForgotten,
};
