import { expect } from 'chai';
import fc from 'fast-check';
import type { Gateway, SessionHandle } from '../../server/index.js';
import type { GatewayEvent } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import { embedGateway } from '../support/embedded.js';
import { insist, sendUntilTaken } from '../support/insist.js';
import { readPages } from '../support/paging.js';
import { foldOf, lastMessages } from '../support/session-view.js';
import type { TestStore } from '../support/test-store.js';
import { FoldingReader } from '../support/tree-readers.js';
import { faultsOf } from './faults.js';
import { Players, type Program, programsOf } from './programs.js';

const which = fc.noBias(fc.nat(400));

/** What comes from outside while programs run. */
export const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant('breathe' as const), which: fc.nat(12) }) },
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constantFrom('look', 'come', 'come' as const), which }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('abort', 'steer', 'end' as const), which }) },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('send' as const), which: fc.nat(2), program: programsOf(2) }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const), which }) },
  ),
  { minLength: 2, maxLength: 14, size: 'max' },
);
type Step = typeof steps extends fc.Arbitrary<(infer One)[]> ? One : never;

/** What is sent beside the conversation, and what in it. */
const LANES = [{}, { lane: 'new' }, { lane: 'new', keep: false }] as const;

/** A session whose runs begin others, and what a test does to it. */
export class Forest {
  readonly store: TestStore;
  readonly players = new Players();
  /** How often each kind of step came to what it is for. */
  readonly met = new Map<string, number>();
  session!: SessionHandle;
  gateway!: Gateway<any, any, any>;
  readonly #limits: object;
  readonly #name: string;
  readonly #readers: FoldingReader[] = [];
  #roots = 0;
  #restarts = 0;

  constructor(store: TestStore, limits: object, name = 'main') {
    this.store = store;
    this.#name = name;
    this.#limits = limits;
    this.#open();
  }

  #open(): void {
    const { app } = this.players;
    const limits = { queueLength: 40, ...this.#limits };
    this.gateway = embedGateway({
      ...{ apps: { player: app }, defaultApp: 'player', store: this.store.store, limits },
    });
    this.session = this.gateway.session(this.#name);
  }

  get log(): readonly GatewayEvent[] {
    return this.store.eventsOf(this.#name);
  }

  get state(): SessionState {
    return foldOf(this.log);
  }

  async send(program: Program, where: number): Promise<void> {
    const name = `r${this.#roots++}`;
    this.players.programs.set(name, program);
    const run = await sendUntilTaken(this.session, name, LANES[where]!).catch((error) => {
      if (error.code === 'QUOTA_EXCEEDED') return null;
      throw error;
    });
    run?.result.catch(() => {});
  }

  async take(step: Step): Promise<void> {
    this.met.set(step.do, (this.met.get(step.do) ?? 0) + 1);
    const open = this.#openRuns();
    const chosen = open[step.which % Math.max(1, open.length)];
    switch (step.do) {
      case 'breathe':
        for (let i = 0; i < step.which; i++) await new Promise(setImmediate);
        break;
      case 'look':
        await this.#look();
        break;
      case 'come':
        this.#come(step.which);
        break;
      case 'abort':
        if (chosen) await this.session.abort({ runId: chosen }).catch(overloaded);
        break;
      case 'steer':
        await [...this.players.children.values()]
          .at(-1)
          ?.steer('from outside')
          .catch(() => {});
        break;
      case 'end':
        this.players.release();
        break;
      case 'send':
        await this.send(step.program, step.which);
        break;
      case 'restart':
        await this.#restart();
    }
    await this.#answer();
  }

  #openRuns(): readonly string[] {
    const { run, queue, lanes = [] } = this.state;
    const all = [...(run ? [run] : []), ...queue, ...lanes.filter(({ stopReason }) => !stopReason)];
    return all.map(({ runId }) => runId);
  }

  /** A snapshot is the fold of the log up to its cursor. */
  async #look(): Promise<void> {
    await insist(async () => {
      for await (const event of this.session.events({ from: 'snapshot' })) {
        if (event.type !== 'snapshot') return;
        const { cursor } = event.state;
        const log = this.log.slice(0, this.log.findIndex((each) => each.cursor === cursor) + 1);
        expect(lastMessages(event.state)).to.deep.equal(lastMessages(foldOf(log)));
        if (event.state.lanes) this.met.set('lanes in a snapshot', 1);
        return;
      }
    });
  }

  /** Somebody comes who knows the session up to a place, and may have known it as JSON. */
  #come(at: number): void {
    const { log } = this;
    const reader = new FoldingReader(at % 2 === 0 ? 'snapshot' : 'earliest');
    if (at % 3 > 0 && log.length > 0)
      reader.state = JSON.parse(JSON.stringify(foldOf(log.slice(0, (at % log.length) + 1))));
    reader.come(this.session);
    this.#readers.push(reader);
  }

  async #restart(): Promise<void> {
    await this.gateway.close();
    for (const reader of this.#readers) await reader.leave();
    this.#restarts += 1;
    this.#open();
    await insist(() => this.session.channel('noise').publish('here'));
    for (const reader of this.#readers) reader.come(this.session);
  }

  /** Answers what the runs ask. */
  async #answer(): Promise<void> {
    for (const { callId } of this.state.pending) {
      this.met.set('asked', 1);
      await this.session.respond(callId, { output: 'red' }).catch(() => {});
    }
  }

  /** Lets everything come to its end, and looks at it from everywhere. @param refuses Whether the store may have refused what runs did */
  async end(refuses: boolean): Promise<void> {
    this.players.release();
    this.store.hostile.relent();
    while (this.#openRuns().length > 0) {
      await this.#answer();
      await new Promise(setImmediate);
    }
    const { log } = this;
    const forgets = this.store.store.durability === 'memory' && this.#restarts > 0;
    expect(faultsOf(log, this.players, refuses || forgets).join('\n')).to.equal('');
    const whole = this.state;
    expect(whole).to.deep.include({ run: null, queue: [], pending: [] });
    expect(whole.lanes).to.equal(undefined);
    const cursorOf = async (): Promise<string | null> => (await insist(() => this.session.status())).cursor;
    // A store that is late has what the gateway does not know of yet.
    while ((await cursorOf()) !== whole.cursor) await new Promise(setImmediate);
    expect(await readPages(this.session, 3)).to.deep.equal(whole.messages);
    for (let at = 0; at < log.length; at++) {
      const reader = new FoldingReader('earliest');
      reader.state = JSON.parse(JSON.stringify(foldOf(log.slice(0, at + 1))));
      reader.come(this.session);
      this.#readers.push(reader);
    }
    for (const reader of this.#readers) {
      await reader.catchUp(cursorOf);
      await reader.leave();
      if (reader.gaps > 0) this.met.set('gap', (this.met.get('gap') ?? 0) + 1);
      expect(lastMessages(reader.state)).to.deep.equal(lastMessages(whole));
    }
    await this.gateway.close();
  }
}

function overloaded(error: { readonly code?: string }): void {
  if (error.code !== 'OVERLOADED') throw error;
}
