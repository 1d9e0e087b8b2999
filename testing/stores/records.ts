import type { Store } from '../../server/index.js';
import type {
  Acquired,
  AcquireOptions,
  Checkpoint,
  EventRecord,
  LogRef,
  MessageRow,
  SessionRef,
} from '../../server/stores/index.js';
import type { LoggedEventType } from '../../shared/events.js';
import { initialState, type SessionState } from '../../shared/fold.js';
import type { RunResult } from '../../shared/operation-types.js';
import { closeLater } from './runner.js';

/** A store under test, with a way to open it again if it keeps anything. */
export interface StoreUnderTest {
  readonly store: Store;
  cleanup(): unknown;
  /** Closes the store and opens its data in a new one. Absent if nothing survives. */
  reopen?(): Promise<Store>;
}

export type MakeStore = () => StoreUnderTest | Promise<StoreUnderTest>;

/** A store under test that keeps its data; `reopen` makes a new store at the same place. */
export function keptStore(make: () => Store): StoreUnderTest {
  let store = make();
  return {
    store,
    cleanup: () => store.close(),
    async reopen() {
      await store.close();
      store = make();
      await store.open();
      return store;
    },
  };
}

/** Opens a store for the running test. */
export async function opened(makeStore: MakeStore): Promise<StoreUnderTest> {
  const made = closeLater(await makeStore(), (it) => it.cleanup());
  await made.store.open();
  return made;
}

let count = 0;

/** An epoch as the gateway makes them: 11 characters of base64url. */
export function newTestEpoch(): string {
  return `e${String(++count).padStart(10, '0')}`;
}

export function refOf(name = 'main', scope = 'alice', app = 'assistant'): SessionRef {
  return { scope, app, name };
}

/** An event that no log has yet. */
export function record(n: number, type: LoggedEventType = 'custom', ts = 1_700_000_000_000 + n): EventRecord {
  const body = JSON.stringify({ ts, runId: 'run_1', name: 'n', payload: { n, text: 'äöü – 😀' } });
  return { seq: 0, term: 0, type, ts, runId: n % 2 ? 'run_1' : undefined, body };
}

export function records(from: number, to: number): EventRecord[] {
  return Array.from({ length: to - from + 1 }, (_, i) => record(from + i));
}

export function message(id: string, parentId: string | null = null): MessageRow {
  return {
    id,
    parentId,
    role: 'user',
    content: [{ type: 'text', text: `text of ${id}` }],
    createdAt: 1,
    depth: 1,
    branch: '',
  };
}

/** Messages that follow one another. The first follows `after`. */
export function chain(ids: readonly string[], after: string | null = null): MessageRow[] {
  return ids.map((id, i) => message(id, ids[i - 1] ?? after));
}

export function resultOf(runId: string): Omit<RunResult, 'cursor'> {
  const { parentId: _, depth: __, branch: ___, ...answer } = message(`answer-${runId}`);
  return { runId, message: answer, stopReason: 'end', usage: { inputTokens: 3 } };
}

/** A checkpoint whose state is recognisable. */
export function checkpointAt(seq: number, tip: string | null, messageCount = 0): Checkpoint {
  const state: SessionState = {
    ...initialState,
    tip,
    hasMore: tip !== null,
    messageCount,
    cursor: `at-${seq}`,
  };
  return { seq, state };
}

/** A writer of one log that counts its batches, like the gateway's. */
export class TestWriter {
  readonly store: Store;
  readonly log: LogRef;
  readonly acquired: Extract<Acquired, { kind: 'acquired' }>;
  batch = 0;

  private constructor(store: Store, acquired: Extract<Acquired, { kind: 'acquired' }>) {
    this.store = store;
    this.acquired = acquired;
    this.log = { ...acquired.record.ref, epoch: acquired.head.epoch };
  }

  static async acquire(
    store: Store,
    ref: SessionRef,
    create: AcquireOptions['create'] | null = { epoch: newTestEpoch() },
    holder = 'gw_1',
  ): Promise<TestWriter> {
    const acquired = await store.acquire(ref, { holder, ...(create && { create }) });
    if (acquired.kind !== 'acquired') throw new Error(`not acquired: ${acquired.kind}`);
    return new TestWriter(store, acquired);
  }

  get term(): number {
    return this.acquired.head.term;
  }

  append(
    events: readonly EventRecord[],
    options: Omit<Parameters<Store['append']>[2], 'term' | 'batch'> = {},
  ): ReturnType<Store['append']> {
    return this.store.append(this.log, events, { term: this.term, batch: ++this.batch, ...options });
  }

  async seqs(after = 0, limit = 1000, bytes = 1 << 20): Promise<number[]> {
    return (await this.store.read(this.log, after, limit, bytes)).map((event) => event.seq);
  }
}

/** The error code of a refused call; fails if the call succeeds. */
export async function refusal(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    return String((error as { code?: unknown }).code);
  }
  throw new Error('the call was not refused');
}
