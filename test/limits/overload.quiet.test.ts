import { expect } from 'chai';
import { runProgram } from '../support/program.js';

/** Calls in a second, of which the gateway can do 100. */
const TWICE = 200;
/** How long it is driven. With more of them times are judged too, not only their ratio to those without a bound. */
const LONG_SECONDS = Number(process.env.OVERLOAD_SECONDS ?? 0);
const SECONDS = LONG_SECONDS || 5;

/** What became of the calls. */
interface Driven {
  readonly accepted: number;
  readonly refused: number;
  /** Answers that were neither a result nor a refusal as it has to be. */
  readonly odd: readonly string[];
  /** Milliseconds from when a call was due to its result, for 99 of 100 that were accepted at most. */
  readonly p99: number;
  /** Milliseconds from the last call until the gateway called itself ready. */
  readonly backMs: number;
  readonly log: string;
}

async function drive(loopDelayMs: number): Promise<Driven> {
  const env = { LOOP_DELAY_MS: String(loopDelayMs) };
  const gateway = runProgram('test/limits/overload-gateway.ts', { env });
  const [, url] = await gateway.prints(/listening at (\S+)/);
  const args = [url!, String(TWICE), String(SECONDS)];
  const [, told] = await runProgram('test/limits/overload-load.ts', { args }).prints(/outcome (.*)\n/);
  await gateway.kill('SIGKILL');
  return { ...JSON.parse(told!), log: gateway.output };
}

describe('a gateway with twice what it can do', () => {
  it('refuses new work, answers in time what it accepted, and is itself again', async () => {
    // Both wait where they would compute, so neither is slower for the other.
    const [{ log, ...bounded }, { log: _, ...unbounded }] = await Promise.all([
      drive(250),
      drive(Number.POSITIVE_INFINITY),
    ]);
    const shown = JSON.stringify({ bounded, unbounded });
    expect(bounded.odd, shown).to.deep.equal([]);
    expect(bounded.refused, shown).to.be.above(0);
    expect(unbounded.refused, shown).to.equal(0);
    expect(bounded.p99 / unbounded.p99, shown).to.be.below(0.5);
    expect(log).to.match(/new work is refused: the event loop is \d+ ms late/);
    expect(log).to.contain('new work is taken again');
    if (LONG_SECONDS === 0) return;
    expect(bounded.p99, shown).to.be.below(1000);
    expect(bounded.backMs, shown).to.be.below(2000);
    // Of what could be done meanwhile, most was done.
    expect(bounded.accepted, shown).to.be.above((SECONDS * TWICE) / 2 / 2);
    console.log(shown);
  }).timeout(600_000);
});
