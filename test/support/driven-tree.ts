import { expect } from 'chai';
import { type Gateway, type HostRun, isGatewayError, type SessionHandle } from '../../server/index.js';
import type { OnBusy } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import { type Message, textOf } from '../../shared/messages.js';
import { embedGateway } from './embedded.js';
import { insist } from './insist.js';
import { readPages } from './paging.js';
import { beginningOf, puppets } from './puppet.js';
import type { StoreKind } from './stores.js';
import { type TestStore, testStore } from './test-store.js';
import { answerOf, type ModelMessage, type ModelPlace, type ModelRun, TreeModel } from './tree-model.js';
import { FoldingReader } from './tree-readers.js';

const QUEUE_LENGTH = 4;

export interface SendStep {
  readonly onBusy: OnBusy;
  readonly place?: ModelPlace | undefined;
  readonly preceding?: number;
  readonly ownId?: boolean;
  /** Whether the answer says something before it stands still. */
  readonly begins?: boolean;
  /** Whether it comes twice at once, under one key. */
  readonly twice?: boolean;
}

/** A message as it was taken in. */
interface Taken {
  readonly runId: string;
  readonly message: Message;
}

/** What of a message the model knows. */
interface Told {
  readonly id: string;
  readonly parentId: string | null | undefined;
  readonly versions: readonly string[] | undefined;
  readonly ending: string | null;
  readonly text: string;
}

/** A session that does what a test tells it, with the model of what has to come of that. */
export class DrivenTree {
  readonly model = new TreeModel();
  readonly store: TestStore;
  readonly readers: FoldingReader[] = [];
  session!: SessionHandle;
  gateway!: Gateway<any, any, any>;
  readonly #limits: object;
  readonly #puppets: ReturnType<typeof puppets>;
  readonly #resumable: boolean;
  /** Sends and regenerations that were accepted, and how each is asked for again. */
  readonly #keyed: { readonly runId: string; again(): HostRun }[] = [];
  readonly #repeated: { readonly runId: string; readonly other: ReturnType<typeof taken> }[] = [];
  readonly #begun = new Set<string>();
  readonly #answers = new Map<string, string>();
  #number = 0;
  #forks = 0;

  constructor(on: StoreKind, limits: object, resumable: boolean) {
    this.store = testStore(on);
    this.#limits = limits;
    this.#resumable = resumable;
    this.#puppets = puppets({ resumable });
    this.#open();
  }

  #open(): void {
    const limits = { queueLength: QUEUE_LENGTH, ...this.#limits };
    this.gateway = embedGateway({ app: this.#puppets.app, store: this.store.store, limits });
    this.session = this.gateway.session('main');
  }

  /** Messages that may be named: those of the model, the answer that is being written, and one that is nowhere. */
  get nameable(): string[] {
    const { active } = this.model;
    return [...this.model.messages.keys(), ...(active ? [answerOf(active.runId)] : []), 'unknown'];
  }

  /** Sends a message. Resolves with the code where it is refused. */
  async send({
    onBusy,
    place,
    preceding = 0,
    ownId,
    begins,
    twice = false,
  }: SendStep): Promise<string | null> {
    const number = ++this.#number;
    const text = `${begins ? 'say ' : ''}message ${number}`;
    const before: ModelMessage[] = Array.from({ length: preceding }, (_, i) => {
      return { id: `before ${number}.${i}`, text: `before ${i}`, ending: null };
    });
    const options = {
      onBusy,
      ...(preceding > 0 && { preceding: before.map(({ id, text: content }) => ({ id, content })) }),
      idempotencyKey: `key-${number}`,
      ...(place && this.#real(place)),
    };
    const input = ownId ? { id: `own ${number}`, content: text } : text;
    const { parent, code } = this.model.placeOf(place, onBusy);
    const moves = parent !== undefined;
    const refusal = code ?? (moves ? null : this.model.refusal(onBusy, QUEUE_LENGTH));
    const run = await this.#start(() => this.session.send(input, options), twice, refusal);
    if (!run) return refusal;
    this.#keyed.push({ ...run, again: () => this.session.send(input, options) });
    if (moves) this.model.move(parent);
    const message = { id: run.message.id, text, ending: null };
    this.#accept({ ...run, onBusy: moves ? 'interrupt' : onBusy, preceding: before, message });
    return null;
  }

  /** Has a message answered again. Resolves with the code where that is refused. */
  async regenerate(id?: string, twice = false): Promise<string | null> {
    const options = {
      idempotencyKey: `key-${++this.#number}`,
      ...(id !== undefined && { messageId: this.#realId(id) }),
    };
    const { message, code = null } = this.model.answered(id);
    const run = await this.#start(() => this.session.regenerate(options), twice, code);
    if (!run) return code;
    this.#keyed.push({ ...run, again: () => this.session.regenerate(options) });
    expect(run.message.id).to.equal(message!.id);
    this.model.move(message!.id);
    this.#accept({ ...run, onBusy: 'interrupt', preceding: [], message: message! });
    return null;
  }

  #accept(run: Omit<ModelRun, 'begins'>): void {
    this.model.accept({ ...run, begins: beginningOf(run.message.text) });
  }

  /** Two edits of one message at once: one is accepted, and the other told so where it is shown. */
  async editTwice(id: string): Promise<string | null> {
    const { parent, code } = this.model.placeOf({ replaces: id }, 'queue');
    const edits = ['one', 'other'].map((name) => {
      const options = { idempotencyKey: `key-${++this.#number}`, replaces: this.#realId(id) };
      return { text: `edit ${name}`, begin: () => this.session.send(`edit ${name}`, options) };
    });
    const outcomes = await Promise.all(edits.map(({ begin }) => taken(begin)));
    const refused = outcomes.flatMap((outcome) => ('code' in outcome ? outcome.code : []));
    if (code !== undefined) {
      expect(refused).to.deep.equal([code, code]);
      return code;
    }
    expect(refused).to.deep.equal(['HISTORY_MOVED']);
    for (const [i, outcome] of outcomes.entries()) {
      if ('code' in outcome) continue;
      const { runId, message } = outcome;
      const { text, begin } = edits[i]!;
      this.#keyed.push({ runId, again: begin });
      this.model.move(parent!);
      const shown = { id: message.id, text, ending: null };
      this.#accept({ runId, onBusy: 'interrupt', preceding: [], message: shown });
    }
    return null;
  }

  async move(tip: string | null): Promise<string | null> {
    const expected = tip === null || this.nameable.slice(0, -1).includes(tip) ? null : 'MESSAGE_NOT_FOUND';
    const real = tip === null ? null : this.#realId(tip);
    const moved = await insist(() => this.session.move(real)).catch(codeOf);
    if (typeof moved === 'string' || expected) {
      expect(moved).to.equal(expected);
      return expected;
    }
    expect(moved.tip).to.equal(real);
    this.model.move(tip);
    return null;
  }

  /** Begins another session with the path to a message, goes on there, and looks at both. */
  async fork(at?: string): Promise<string | null> {
    const name = `fork${++this.#forks}`;
    const end = at ?? this.model.tip;
    const isThere = at === undefined || this.model.messages.has(at);
    const before = this.#structure;
    const named = at === undefined ? {} : { at: this.#realId(at) };
    const forked = await insist(() => this.session.fork(name, named)).catch(codeOf);
    if (!isThere) {
      expect(forked).to.equal('MESSAGE_NOT_FOUND');
      return forked as string;
    }
    if (typeof forked === 'string') throw new Error(`the fork was refused: ${forked}`);
    expect(forked).to.include({ sessionId: name, tip: end === null ? null : this.#realId(end) });
    const repeated = await insist(() => this.session.fork(name, named));
    expect(repeated, 'asked for once more').to.include({ sessionId: name, tip: forked.tip });
    const fork = this.gateway.session(name);
    const path = this.model.path(end).map((id) => ({ ...this.#expected(id), versions: undefined }));
    expect((await readPages(fork, 7)).map(this.#told)).to.deep.equal(path);
    for (const from of ['snapshot', 'earliest'] as const) {
      const { messages, tip, run, queue } = await stateOf(fork, from);
      expect({ tip, run, queue }).to.deep.equal({ tip: forked.tip, run: null, queue: [] });
      expect(messages.map(this.#told)).to.deep.equal(path.slice(-50));
    }
    const run = await this.#start(() => fork.send('on its own', { idempotencyKey: 'first' }), false, null);
    (await this.#puppets.standing(run!.runId)).finish('answered');
    await this.#endOf(run!.runId, name);
    while ((await insist(() => fork.status())).status !== 'idle') await new Promise(setImmediate);
    const after = (await readPages(fork, 50)).map(this.#told);
    expect(after.slice(0, -2)).to.deep.equal(path);
    expect(after.slice(-2).map(({ text }) => text)).to.deep.equal(['on its own', 'answered']);
    expect(this.#structure, 'the session that was forked').to.deep.equal(before);
    return null;
  }

  /** What was logged, but for text that may be on its way. */
  get #structure(): readonly string[] {
    return this.store.eventsOf('main').flatMap(({ type }) => (type === 'content_delta' ? [] : type));
  }

  async finish(more: string): Promise<void> {
    const { active } = this.model;
    if (!active) return;
    (await this.#puppets.standing(active.runId)).finish(more);
    expect(await this.#endOf(active.runId)).to.equal('end');
    this.model.finish('end', more);
    this.model.advance();
  }

  /** How a run ended, once that is stored. */
  async #endOf(runId: string, session = 'main'): Promise<string> {
    for (;;) {
      const log = this.store.eventsOf(session);
      const end = log.findLast((event) => event.type === 'message_end' && event.runId === runId);
      if (end?.type === 'message_end') return end.stopReason;
      await new Promise(setImmediate);
    }
  }

  async steer(): Promise<void> {
    const { active } = this.model;
    if (!active) return;
    const { turn } = await this.#puppets.standing(active.runId);
    const taken = turn.steered().map(({ id }) => id);
    const runs = this.model.steer();
    expect(taken).to.deep.equal(
      runs.flatMap(({ preceding, message }) => [...preceding, message]).map(({ id }) => id),
    );
    for (const { runId } of runs) await this.#endOf(runId);
  }

  async abort(runId: string): Promise<void> {
    expect(await insist(() => this.session.abort({ runId }))).to.equal(true);
    this.model.abort(runId);
    this.model.advance();
  }

  /** Closes the gateway and begins another one on the same store. */
  async restart(): Promise<void> {
    const reading = this.readers.filter(({ reads }) => reads);
    await this.gateway.close();
    for (const reader of reading) await reader.leave();
    this.#puppets.forget();
    const { model, store } = this;
    const handsOver = store.store.durability !== 'memory';
    if (!handsOver) for (const { runId } of model.waiting.splice(0)) model.ends.set(runId, 'lost');
    if (!handsOver || !this.#resumable) model.finish('lost');
    model.advance();
    this.#open();
    // Somebody uses it: a gateway that could not take it up by itself does then.
    await insist(() => this.session.channel('noise').publish('here'));
    for (const reader of reading) reader.come(this.session);
  }

  /** Waits until the active run stands; it is to see the path. */
  async stand(): Promise<void> {
    const { active } = this.model;
    if (!active) return;
    const { turn } = await this.#puppets.standing(active.runId);
    if (this.#begun.has(active.runId)) return;
    this.#begun.add(active.runId);
    const path = this.model.path(active.message.id).slice(0, -1);
    const said = path.filter((id) => this.model.messages.get(id)!.text !== '');
    expect(turn.message.id).to.equal(active.message.id);
    expect(turn.history.map(({ id }) => this.#modelId(id))).to.deep.equal(said);
  }

  async cursor(): Promise<string> {
    // The store may know already what the gateway does not.
    for (;;) {
      const { cursor } = await insist(() => this.session.status());
      if (cursor === this.store.eventsOf('main').at(-1)?.cursor) return cursor;
      await new Promise(setImmediate);
    }
  }

  /** Every reader that is there has folded what the model says. */
  async check(): Promise<void> {
    await this.stand();
    for (const reader of this.readers.filter(({ reads }) => reads)) {
      await reader.catchUp(() => this.cursor());
      this.checkState(reader.state);
    }
  }

  checkState(state: SessionState): void {
    const { active, tip, waiting } = this.model;
    const path = this.model.path();
    const shown = state.messages.length;
    const replies = this.model.replies(tip);
    const versions = active && replies.length > 0 ? [...replies, answerOf(active.runId)] : undefined;
    const told = {
      messages: state.messages.map(this.#told),
      hasMore: state.hasMore,
      tip: state.tip && this.#modelId(state.tip),
      replies: state.replies?.map(this.#modelId) ?? [],
      run: state.run?.runId,
      versions: state.run?.message.versions?.map(this.#modelId),
      queue: state.queue.map(({ runId }) => runId),
      pending: state.pending,
    };
    const expected = {
      messages: path.slice(path.length - shown).map((id) => this.#expected(id)),
      hasMore: shown < path.length,
      tip,
      replies,
      run: active?.runId,
      versions,
      queue: waiting.map(({ runId }) => runId),
      pending: [],
    };
    if (JSON.stringify(told) !== JSON.stringify(expected))
      throw new Error(`${JSON.stringify(told)}\n is not\n${JSON.stringify(expected)}`);
    expect(told).to.deep.equal(expected);
    if (path.length > 0) expect(shown, 'what a page has to show').to.be.greaterThan(0);
  }

  /** Whether events were cut. */
  get cut(): boolean {
    return this.store.epochsOf('main').some((epoch) => this.store.firstOf(epoch) > 1);
  }

  /** What somebody who comes now is told, and all of the path, page by page. */
  async look(limit: number): Promise<void> {
    await this.check();
    await this.cursor();
    const snapshot = await stateOf(this.session, 'snapshot');
    this.checkState(snapshot);
    const path = this.model.path().map((id) => this.#expected(id));
    expect(snapshot.messages).to.have.length(Math.min(50, path.length));
    expect((await readPages(this.session, limit)).map(this.#told)).to.deep.equal(path);
  }

  /** Lets all come to its end. Every key then answers as it did, and each run has ended once. */
  async end(): Promise<void> {
    while (this.model.active) {
      await this.stand();
      await this.finish('over');
    }
    await this.look(19);
    const before = await this.cursor();
    for (const { runId, other } of this.#repeated) {
      const outcome = await other;
      if ('code' in outcome)
        expect(outcome.code, 'what was asked before a restart').to.equal('SHUTTING_DOWN');
      else expect(outcome.runId).to.equal(runId);
    }
    for (const { runId, again } of this.#keyed) {
      const repeated = await taken(again);
      expect(repeated).to.include({ runId });
      const { stopReason } = await insist(() => this.session.run(runId).result);
      expect(stopReason, runId).to.equal(this.model.ends.get(runId));
    }
    expect(await this.cursor(), 'what is repeated starts nothing').to.equal(before);
    const ends = this.store.eventsOf('main').flatMap((event) => (event.type === 'message_end' ? event : []));
    expect(ends.map(({ runId }) => runId)).to.have.members(this.#keyed.map(({ runId }) => runId));
    for (const { runId, stopReason } of ends) expect(stopReason).to.equal(this.model.ends.get(runId!));
    for (const reader of this.readers) await reader.leave();

    await this.gateway.close();
  }

  /** Begins a run, or is refused with a code as is expected. */
  async #start(begin: () => HostRun, twice: boolean, refusal: string | null): Promise<Taken | null> {
    const asked = Array.from({ length: twice ? 2 : 1 }, () => taken(begin));
    const first = await Promise.race(asked);
    if ('code' in first || refusal) {
      for (const outcome of await Promise.all(asked)) expect(outcome).to.deep.equal({ code: refusal });
      return null;
    }
    // One that comes when the acceptance was cut already is answered when the run has ended.
    for (const other of asked) this.#repeated.push({ runId: first.runId, other });
    return first;
  }

  #real(place: ModelPlace): ModelPlace {
    if ('replaces' in place) return { replaces: this.#realId(place.replaces) };
    return { parent: place.parent === null ? null : this.#realId(place.parent) };
  }

  #learn(): void {
    for (const event of this.store.eventsOf('main'))
      if (event.type === 'message_start') this.#answers.set(event.messageId, answerOf(event.runId!));
  }

  #realId(id: string): string {
    this.#learn();
    for (const [real, name] of this.#answers) if (name === id) return real;
    return id;
  }

  readonly #modelId = (id: string): string => {
    if (!this.#answers.has(id)) this.#learn();
    return this.#answers.get(id) ?? id;
  };

  /** A message as the model would tell of it. */
  readonly #told = ({ id, parentId, versions, stopReason, ...message }: Message): Told => ({
    id: this.#modelId(id),
    parentId: parentId == null ? parentId : this.#modelId(parentId),
    versions: versions?.map(this.#modelId),
    ending: stopReason ?? null,
    text: textOf(message),
  });

  #expected(id: string): Told {
    const { parent, text, ending } = this.model.messages.get(id)!;
    const versions = this.model.replies(parent);
    return { id, parentId: parent, versions: versions.length > 1 ? versions : undefined, ending, text };
  }
}

const codeOf = (error: unknown): string => {
  if (!isGatewayError(error)) throw error;
  return error.code;
};

/** Begins a run until the store takes it, or the code that it is refused with. */
async function taken(begin: () => HostRun): Promise<Taken | { readonly code: string }> {
  const accepting = insist(async () => {
    const { runId, message } = await begin().accepted;
    return { runId, message };
  });
  return accepting.catch((error: unknown) => ({ code: codeOf(error) }));
}

/** What somebody folds who comes now. */
async function stateOf(session: SessionHandle, from: 'snapshot' | 'earliest'): Promise<SessionState> {
  const reader = new FoldingReader(from);
  reader.come(session);
  await reader.catchUp(async () => {
    const { head, cursor } = await insist(() => session.status());
    // Of a log without events nobody is told anything.
    return head === 0 ? null : cursor;
  });
  await reader.leave();
  return reader.state;
}
