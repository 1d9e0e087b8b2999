import { expect } from 'chai';
import fc from 'fast-check';
import { defineApp, type Gateway, isGatewayError, type Turn } from '../../server/index.js';
import { embedGateway } from '../support/embedded.js';
import { type Gate, gate } from '../support/gate.js';
import { insist, sendUntilTaken } from '../support/insist.js';
import { casesOn, STORES, type StoreKind } from '../support/stores.js';
import { testStore } from '../support/test-store.js';

/** A step of a program: how it ends, and how many turns of the event loop it takes. */
interface Step {
  readonly name: string;
  readonly ends: 'value' | 'nothing' | 'throws';
  readonly turns: number;
}

/** Steps that are called one after another; those of a list at the same time. */
type Program = readonly (Step | readonly Step[])[];

/** The point at which a process comes to its end, and whether it goes on without knowing. */
interface Crash {
  readonly at: number;
  readonly unaware: boolean;
}

const step = fc.record<Step>({
  name: fc.constantFrom('a', 'b', 'c'),
  ends: fc.constantFrom('value', 'value', 'nothing', 'throws'),
  turns: fc.nat(3),
});
const program: fc.Arbitrary<Program> = fc.array(
  fc.oneof(step, fc.array(step, { minLength: 2, maxLength: 4 })),
  { minLength: 1, maxLength: 5 },
);
const crashes = fc.array(fc.record<Crash>({ at: fc.integer({ min: 1, max: 12 }), unaware: fc.boolean() }), {
  maxLength: 3,
});

const never = new Promise<never>(() => {});
const breathe = (): Promise<void> => new Promise(setImmediate);

/** A program that its processes run one after another, and what is known of its steps. */
class Life {
  readonly program: Program;
  readonly crashes: readonly (Crash & { readonly met: Gate })[];
  readonly violations: string[] = [];
  /** Processes that have begun it. */
  processes = 0;
  /** By number: what the app was given. */
  readonly outcomes = new Map<number, string>();
  readonly #entered = new Set<string>();
  #effects = 0;

  constructor(given: Program, planned: readonly Crash[]) {
    this.program = given;
    this.crashes = planned.map((crash) => ({ ...crash, met: gate() }));
  }

  readonly run = async (turn: Turn): Promise<string> => {
    const me = this.processes++;
    const mine = this.crashes[me];
    const told = new Set(turn.resumed?.inFlight.map(({ key }) => key));
    if (me === 0 && turn.resumed) this.violations.push('it began by being resumed');
    let points = 0;
    let dead = false;
    const point = async (): Promise<void> => {
      if (++points === mine?.at) {
        mine.met.open();
        dead = !mine.unaware;
      }
      if (dead) await never;
    };
    let number = 0;
    const call = async ({ name, ends, turns }: Step): Promise<string> => {
      const n = ++number;
      const outcome = await turn
        .step(name, async ({ key, interrupted }) => {
          await this.#enter(n, key, { interrupted, told, latest: me === this.processes - 1 });
          await point();
          for (let i = 0; i < turns; i++) await breathe();
          await point();
          if (ends === 'throws') throw new Error(`${name} ${++this.#effects}`);
          return ends === 'value' ? { effect: ++this.#effects } : undefined;
        })
        .then(
          (value) => `value ${JSON.stringify(value)}`,
          (error: Error) => {
            // This process has lost the run: it is not to do anything any more.
            if (error.name === 'AbortError' || isGatewayError(error)) return null;
            return `error ${error.message}`;
          },
        );
      if (outcome === null || dead) return never;
      const known = this.outcomes.get(n);
      if (known !== undefined && known !== outcome)
        this.violations.push(`step ${n} came to ${known}, then to ${outcome}`);
      this.outcomes.set(n, outcome);
      await point();
      return outcome;
    };
    const all: string[] = [];
    for (const part of this.program)
      all.push(...('name' in part ? [await call(part)] : await Promise.all(part.map(call))));
    // What it was about to say a former process may have said.
    return turn.resumed?.content.length ? '' : JSON.stringify(all);
  };

  async #enter(
    n: number,
    key: string,
    how: { readonly interrupted: boolean; readonly told: ReadonlySet<string>; readonly latest: boolean },
  ): Promise<void> {
    const { interrupted, told, latest } = how;
    // A process that has not heard of its end may be late with what it had begun.
    if (latest && this.outcomes.has(n)) this.violations.push(`step ${n} was done again`);
    if (latest && this.#entered.has(key) && !interrupted) this.violations.push(`step ${n} was not told of`);
    if (interrupted !== told.has(key))
      this.violations.push(`step ${n} is told of by one and not by the other`);
    this.#entered.add(key);
  }
}

async function live(on: StoreKind, life: Life): Promise<void> {
  const store = testStore(on);
  const gateways: Gateway<any, any, any>[] = [];
  const start = () => {
    const app = defineApp({ resumable: true, run: (turn) => life.run(turn as Turn) });
    const gateway = embedGateway({ app, store: store.store });
    gateways.push(gateway);
    return gateway.session('main');
  };
  const { runId } = await (await sendUntilTaken(start(), 'go')).accepted;
  for (let taken = 0; ; taken++) {
    const session = gateways.at(-1)!.session('main');
    const ended = insist(() => session.run(runId).result);
    ended.catch(() => {});
    const crash = life.crashes[taken]?.met.passed.then(() => 'crash' as const) ?? never;
    if ((await Promise.race([crash, ended])) !== 'crash') break;
    const next = start();
    await insist(() => next.channel('here').publish('I am'));
  }
  const last = gateways.at(-1)!.session('main');
  const { stopReason, message } = await insist(() => last.run(runId).result);
  expect(life.violations).to.deep.equal([]);
  expect(stopReason).to.equal('end');
  const numbered = [...life.outcomes].sort(([a], [b]) => a - b).map(([, outcome]) => outcome);
  expect(message.content).to.deep.equal([{ type: 'text', text: JSON.stringify(numbered) }]);
  const log = store.eventsOf('main').filter(({ type }) => type !== 'channel');
  expect(log.map(({ type }) => type)).to.deep.equal([
    'message_accepted',
    'message_start',
    'content_delta',
    'message_end',
  ]);
  const seqs = store.eventsOf('main').map(({ cursor }) => Number(cursor!.split('.')[2]));
  expect(seqs).to.deep.equal(seqs.map((_, i) => i + 1));
  await Promise.all(gateways.map((gateway) => gateway.close()));
}

for (const on of STORES) {
  describe(`turn.step (${on.name})`, () => {
    it('comes to the same in every process that has the run, and is done by none once it has come to something', async () => {
      let handedOver = 0;
      await fc.assert(
        fc.asyncProperty(program, crashes, async (given, planned) => {
          const life = new Life(given, planned);
          await live(on, life);
          if (life.processes > 1) handedOver += 1;
        }),
        { numRuns: casesOn(on, 100) },
      );
      expect(handedOver, 'some were cut').to.be.greaterThan(0);
    });
  });
}
