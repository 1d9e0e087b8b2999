import type { LogRef, SessionRef, Store } from '../../../server/stores/store.js';
import { checkpointAt, message, newTestEpoch, record, refOf, resultOf, TestWriter } from '../records.js';

/** What a case is about: a session of its own, with a run that is open. */
export interface World {
  readonly ref: SessionRef;
  readonly log: LogRef;
  readonly term: number;
  readonly runId: string;
}

/** One member of the store port, as it is called, and how is told from outside whether it was done. */
export interface MemberCase {
  readonly name: string;
  call(store: Store, world: World): unknown;
  /** Of what changes anything. */
  done?(store: Store, world: World): Promise<boolean>;
  /** The session is closed, or not held, when the call comes. */
  readonly closed?: boolean;
  readonly released?: boolean;
  /** Before the call, beside the session. */
  prepare?(store: Store, world: World): unknown;
}

const HOLDER = 'gw_1';
let count = 0;

/** A session with a run that is open, held by the store that is given. */
export async function worldOf(store: Store, { closed, released, prepare }: MemberCase): Promise<World> {
  const name = `s${++count}`;
  const runId = `run_${count}`;
  const writer = await TestWriter.acquire(store, refOf(name, `scope${count}`), undefined, HOLDER);
  const opens = { runId, key: 'k', hash: 'h', request: '{}' };
  await writer.append([{ ...record(1, 'message_accepted'), runId }], { opens });
  if (closed) await writer.append([record(2)], { ends: [{ runId, result: resultOf(runId) }], close: true });
  if (released) await store.release(writer.log, writer.term);
  const { log, term } = writer;
  const world = { ref: refOf(name, `scope${count}`), log, term, runId };
  await prepare?.(store, world);
  return world;
}

const heldBy = async (store: Store, ref: SessionRef): Promise<string> => {
  const taken = await store.acquire(ref, { holder: 'gw_2' });
  return taken.kind === 'owned' ? taken.holder : taken.kind === 'acquired' ? '' : 'nobody';
};

const another = ({ ref }: World): SessionRef => ({ ...ref, name: `${ref.name}-begun` });
const next = ({ term }: World) => ({ term, batch: 2 });
const headOf = async (store: Store, { ref }: World): Promise<number> => (await store.head(ref))?.head ?? 0;

/** Those that change something. */
export const WRITES: readonly MemberCase[] = [
  {
    name: 'acquire, of a session that is there',
    released: true,
    call: (store, { ref }) => store.acquire(ref, { holder: HOLDER }),
    done: async (store, { ref }) => (await heldBy(store, ref)) === HOLDER,
  },
  {
    name: 'acquire, of one that begins',
    call: (store, world) =>
      store.acquire(another(world), { holder: HOLDER, create: { epoch: newTestEpoch() } }),
    done: async (store, world) => (await store.record(another(world))) !== null,
  },
  {
    name: 'release',
    call: (store, { ref, term }) => store.release(ref, term),
    done: async (store, { ref }) => (await heldBy(store, ref)) === '',
  },
  {
    name: 'append, of events',
    call: (store, world) => store.append(world.log, [record(2)], next(world)),
    done: async (store, world) => (await headOf(store, world)) === 2,
  },
  {
    name: 'append, of a run that begins',
    call: (store, world) =>
      store.append(world.log, [{ ...record(2, 'message_accepted'), runId: `${world.runId}b` }], {
        ...next(world),
        opens: { runId: `${world.runId}b`, key: 'k2', hash: 'h', request: '{}' },
      }),
    done: async (store, world) => (await headOf(store, world)) === 2,
  },
  {
    name: 'append, of the end of a run',
    call: (store, world) =>
      store.append(world.log, [record(2, 'message_end')], {
        ...next(world),
        ends: [{ runId: world.runId, result: resultOf(world.runId) }],
      }),
    done: async (store, { ref, runId }) => (await store.run(ref, { runId }))?.result !== undefined,
  },
  {
    name: 'append, that closes',
    call: (store, world) =>
      store.append(world.log, [record(2)], {
        ...next(world),
        ends: [{ runId: world.runId, result: resultOf(world.runId) }],
        close: true,
      }),
    done: async (store, { ref }) => (await store.head(ref))?.closed === true,
  },
  {
    name: 'append, that erases',
    call: (store, world) => store.append(world.log, [record(2)], { ...next(world), erase: newTestEpoch() }),
    done: async (store, { ref, log }) => (await store.head(ref))?.epoch !== log.epoch,
  },
  {
    name: 'cut',
    call: (store, { log, term }) => store.cut(log, checkpointAt(1, 'm1', 1), [message('m1')], term),
    done: async (store, { log }) => (await store.checkpoint(log))?.seq === 1,
  },
  {
    name: 'remove',
    closed: true,
    call: (store, { ref }) => store.remove(ref),
    done: async (store, { ref }) => (await store.record(ref)) === null,
  },
  {
    name: 'beginErasure',
    call: (store, { ref }) => store.beginErasure({ erasure: ref, by: 'me', vacuum: false }),
    done: async (store, { ref }) => isErasing(store, ref),
  },
  {
    name: 'endErasure',
    prepare: (store, { ref }) => store.beginErasure({ erasure: ref, by: 'me', vacuum: false }),
    call: (store, { ref }) => store.endErasure(ref),
    done: async (store, { ref }) => !(await isErasing(store, ref)),
  },
  {
    name: 'put',
    call: (store, { ref }) => store.shared!.put(ref.name, 'note', { ttlMs: 60_000 }),
    done: async (store, { ref }) => (await store.shared!.get(ref.name)) === 'note',
  },
  {
    name: 'drop',
    prepare: (store, { ref }) => store.shared!.put(ref.name, 'note', { ttlMs: 60_000 }),
    call: (store, { ref }) => store.shared!.drop(ref.name),
    done: async (store, { ref }) => (await store.shared!.get(ref.name)) === null,
  },
];

async function isErasing(store: Store, ref: SessionRef): Promise<boolean> {
  return (await store.erasures()).some(({ erasure }) => erasure.scope === ref.scope);
}

/** Those that only look. */
export const READS: readonly MemberCase[] = [
  { name: 'read', call: (store, { log }) => store.read(log, 0, 9, 9999) },
  { name: 'head', call: (store, { ref }) => store.head(ref) },
  { name: 'conversations', call: (store, { ref }) => store.conversations(ref) },
  { name: 'run', call: (store, { ref }) => store.run(ref, { key: 'k' }) },
  { name: 'sessionOf', call: (store, { ref, runId }) => store.sessionOf(ref.scope, runId) },
  { name: 'checkpoint', call: (store, { log }) => store.checkpoint(log) },
  { name: 'messages', call: (store, { log }) => store.messages(log, { tip: 'm0', limit: 9 }) },
  { name: 'replies', call: (store, { log }) => store.replies(log, null) },
  { name: 'pathLength', call: (store, { log }) => store.pathLength(log, 'm0') },
  { name: 'record', call: (store, { ref }) => store.record(ref) },
  { name: 'list', call: (store, { ref }) => store.list(ref.scope, { limit: 9 }) },
  { name: 'count', call: (store, { ref }) => store.count(ref.scope) },
  { name: 'kept', call: (store, { ref }) => store.kept(ref.scope, { limit: 9 }) },
  { name: 'erasures', call: (store) => store.erasures() },
  { name: 'get', call: (store, { ref }) => store.shared!.get(ref.name) },
];
