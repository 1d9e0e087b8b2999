import { expect } from 'chai';
import { StoreError } from '../../../server/stores/append.js';
import type { Store } from '../../../server/stores/store.js';
import { withDeadlines } from '../../../server/stores/store-deadlines.js';
import { isToday } from '../../support/daily.js';
import { until } from '../../support/until.js';
import { CUTS, type Cut, type Hit, LATE_MS } from './cut-line.js';
import {
  CHECK,
  EXPIRE,
  isMember,
  LEAVE,
  type MemberCase,
  READS,
  TELL,
  told,
  type World,
  WRITES,
  worldOf,
} from './members.js';

/** Two stores on one server: one through a line that is hit, and one beside it that says what became of a call. */
export interface StoreOnALine {
  readonly store: Store;
  readonly beside: Store;
  arm(hit: Hit): void;
  disarm(): boolean | Promise<boolean>;
  /** Whether what is kept is found by something that has this in its name. */
  mentions?(text: string): boolean;
}

/** A reason for which a server refuses what changes anything. */
export interface Refusing {
  readonly name: string;
  begin(): unknown;
  end(): unknown;
  /** The members it is tried with, where each try takes long. */
  readonly only?: RegExp;
}

export interface LineUnderTest {
  open(): Promise<StoreOnALine>;
  readonly refusing: readonly Refusing[];
  /** Members that make no request. */
  readonly without?: RegExp;
  /** How its line is cut, besides where the server refuses. @default in every way */
  readonly cuts?: readonly Cut[];
}

export type Outcome = 'answered' | StoreError['code'];

/** A call makes no more requests than these. */
const MOST_REQUESTS = 12;

/** What the caller is told. Anything but an answer and the errors of the port is a fault. */
export async function outcomeOf(call: () => unknown, says?: MemberCase['says']): Promise<Outcome> {
  try {
    const answer = await call();
    if (says) expect(answer).to.satisfy(says);
    return 'answered';
  } catch (error) {
    if (error instanceof StoreError) return error.code;
    throw error;
  }
}

/** What is refused was not made, what is answered was, and the same again says what became of the rest. */
export async function judge(
  member: MemberCase,
  { store, beside, mentions }: Pick<StoreOnALine, 'store' | 'beside' | 'mentions'>,
  outcome: Outcome,
  world: World,
  where: string,
): Promise<void> {
  expect(outcome, where).to.be.oneOf(['answered', 'UNAVAILABLE', 'UNKNOWN']);
  if (outcome === 'UNAVAILABLE') {
    expect(await member.done!(beside, world), where).to.equal(false);
    return;
  }
  // The same again says what became of it.
  if (outcome === 'UNKNOWN')
    expect(await outcomeOf(() => member.call(store, world)), where).to.equal('answered');
  expect(await member.done!(beside, world), where).to.equal(true);
  if (member.whole) expect(await member.whole(beside, world), `${where}, all of it`).to.equal(true);
  if (member.drops) expect(mentions?.(`"${world.runId}"`), where).to.not.equal(true);
}

/** What was late is made by then. */
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2 * LATE_MS));

/** The contract of members of the port over a line that breaks under them. */
export function describeMembers(make: () => LineUnderTest): void {
  const { without = /^$/, cuts = CUTS, refusing } = make();
  /** How each member has been hit so far. */
  const ways = new Map<string, number>();
  const members = [...WRITES, TELL, LEAVE, EXPIRE, CHECK, ...READS];
  /** Hits a member in each of its requests. */
  const test = (
    member: MemberCase,
    { cut, reason }: { readonly cut: Cut; readonly reason?: string },
    title: string,
    check: (line: StoreOnALine, outcome: Outcome, world: World, where: string) => Promise<void>,
  ): void => {
    const { name } = member;
    if (without.test(name)) return;
    const way = ways.get(name) ?? 0;
    ways.set(name, way + 1);
    // A fifth of them a day: of each way some members, and of each member some ways.
    if (!isToday(members.indexOf(member) + way, 5)) return;
    it(`${name}: ${title}`, async () => {
      const line = await make().open();
      const refused = refusing.find((each) => each.name === reason);
      await eachRequest(member, cut, line, refused ?? {}, (...said) => check(line, ...said));
    });
  };

  /** Hits each request of a call in turn, each time in a session of its own. */
  async function eachRequest(
    member: MemberCase,
    cut: Cut,
    line: StoreOnALine,
    { begin, end }: Partial<Refusing>,
    check: (outcome: Outcome, world: World, where: string) => Promise<void>,
  ): Promise<void> {
    for (let nth = 1; nth <= MOST_REQUESTS; nth++) {
      const world = await worldOf(line.store, line.beside, member);
      line.arm({ cut, nth, meanwhile: begin });
      const bounded = cut === 'late' ? bound(line.store) : line.store;
      let wasHit = false;
      let outcome: Outcome;
      try {
        outcome = await outcomeOf(() => member.call(bounded, world), member.says);
      } finally {
        wasHit = await line.disarm();
        // Also where it fails: the tests that come after it have a server that refuses nothing.
        if (wasHit) await end?.();
      }
      if (!wasHit) {
        expect(nth, 'it makes requests').to.be.greaterThan(1);
        return;
      }
      await check(outcome, world, `${member.name}, request ${nth}, ${cut}: ${outcome}`);
      await world.membership?.leave();
    }
  }

  for (const cut of cuts)
    describe(`whose line is cut ${cut === 'late' ? 'so that answers are late' : `${cut} a call was made`}`, () => {
      for (const member of WRITES)
        test(
          member,
          { cut },
          'what is refused was not made, and what is answered was',
          async (line, outcome, world, where) => {
            if (cut === 'late' && outcome !== 'answered') await settled();
            await judge(member, line, outcome, world, where);
          },
        );

      test(TELL, { cut }, 'comes once at most', async (_, __, world, where) => {
        await told(world, 'last');
        expect(world.heard.length, where).to.be.lessThan(3);
      });

      test(
        LEAVE,
        { cut },
        'ends, and who left is a member for a lease at most',
        async (line, outcome, world, where) => {
          expect(outcome, where).to.equal('answered');
          await until(async () => !(await isMember(line.beside, world)));
        },
      );

      test(
        EXPIRE,
        { cut },
        'is answered where it was done, and goes on where it was not',
        async (line, outcome, world, where) => {
          expect(outcome, where).to.be.oneOf(['answered', 'UNAVAILABLE', 'UNKNOWN']);
          if (outcome === 'answered') return judge(EXPIRE, line, outcome, world, where);
          expect(await outcomeOf(() => EXPIRE.call(line.store, world)), where).to.equal('answered');
        },
      );

      test(
        CHECK,
        { cut },
        'is answered, or refused until the line stands again',
        async (line, outcome, world, where) => {
          expect(outcome, where).to.be.oneOf(['answered', 'UNAVAILABLE']);
          await until(async () => (await outcomeOf(() => CHECK.call(line.store, world))) === 'answered');
        },
      );

      for (const member of READS)
        test(
          member,
          { cut },
          'is answered, or refused and answered the next time',
          async (line, outcome, world, where) => {
            expect(outcome, where).to.be.oneOf(['answered', 'UNAVAILABLE']);
            expect(await outcomeOf(() => member.call(line.store, world)), where).to.equal('answered');
          },
        );
    });

  for (const { name, only = /^/ } of refusing)
    for (const cut of ['before', 'after', 'standing'] as const)
      describe(`${cut === 'standing' ? 'that goes on' : `whose line is cut ${cut} a call was made`}, and which refuses it then: ${name}`, () => {
        for (const member of WRITES.filter((each) => only.test(each.name)))
          test(member, { cut, reason: name }, 'what is refused was not made', (line, ...said) =>
            judge(member, line, ...said),
          );
      });
}

/** As a gateway has it, with a deadline that a late answer misses. */
function bound(store: Store): Store {
  return withDeadlines(store, LATE_MS / 4);
}
