import fc from 'fast-check';
import {
  type Application,
  type BaseUser,
  defineApp,
  isGatewayError,
  type SessionHandle,
  type Store,
  tool,
} from '../../server/index.js';
import type { ConfirmPolicy } from '../../shared/approvals.js';
import type { GatewayEvent } from '../../shared/events.js';
import { type TestGateway, testGateway } from '../../testing/index.js';
import { gate } from '../support/gate.js';

/** Somebody who votes, and what they say. */
interface Say {
  readonly voter: number;
  readonly approved: boolean;
}
/** What happens: people vote at the same time, some time passes, or the process comes to its end. */
type Act = { readonly says: readonly Say[] } | { readonly waitMs: number } | 'kill';

/** Five people with roles, a policy, and what happens. The first of them is the sender. */
export interface Story {
  readonly roles: readonly (readonly string[])[];
  readonly policy: ConfirmPolicy;
  readonly acts: readonly Act[];
}

const role = fc.constantFrom('finance', 'finance', 'cfo', 'sales');
const say = fc.record<Say>({
  voter: fc.nat(4),
  approved: fc.constantFrom(true, true, true, false),
});
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ says: fc.array(say, { minLength: 1, maxLength: 6 }) }) },
  { weight: 2, arbitrary: fc.record({ waitMs: fc.integer({ min: 1, max: 30 }) }) },
  { weight: 1, arbitrary: fc.constant('kill' as const) },
);
const policy: fc.Arbitrary<ConfirmPolicy> = fc
  .record({
    approvals: fc.integer({ min: 1, max: 3 }),
    notBy: fc.constantFrom('sender' as const, undefined),
    expires: fc.option(fc.integer({ min: 15, max: 60 })),
    onExpiry: fc.constantFrom('deny' as const, 'approve' as const, 'abort' as const),
    escalates: fc.option(fc.integer({ min: 1, max: 14 })),
  })
  .map(({ approvals, notBy, expires, onExpiry, escalates }) => ({
    ...{ roles: ['finance'], approvals, notBy },
    ...(expires !== null && { expiresInMs: expires, onExpiry }),
    ...(escalates !== null && { escalate: { afterMs: escalates, roles: ['cfo'] } }),
  }));

export const stories: fc.Arbitrary<Story> = fc.record({
  roles: fc.array(fc.array(role, { maxLength: 2 }), { minLength: 5, maxLength: 5 }),
  policy,
  acts: fc.array(act, { minLength: 1, maxLength: 6 }),
});

const nameOf = (voter: number): string => `voter-${voter}`;

/** The gateways of a story. */
export interface World {
  /** The session `main` of a user, at a gateway that lives. */
  main(user: BaseUser): SessionHandle;
  /** Ends a gateway as the end of its process does; others go on. */
  kill(): Promise<void>;
  end(): Promise<void>;
}

/** One gateway at a time. */
export function oneGateway(store?: Store) {
  return async (app: Application): Promise<World> => {
    const kit = await testGateway({ app, sessionScope: 'global', ...(store && { store }) });
    return {
      main: (user) => kit.gateway.session('main', { user }),
      kill: () => kit.kill(),
      end: () => (kit as TestGateway<any>).close(),
    };
  };
}

/** Lets a story happen, and says what of it is not as promised. */
export async function violationsOf(
  { roles, policy, acts }: Story,
  begin: (app: Application) => Promise<World>,
): Promise<readonly string[]> {
  const effects: string[] = [];
  const app = defineApp({
    resumable: true,
    tools: { pay: tool({ confirm: policy, handler: () => effects.push('paid') }) },
    run: async (turn) =>
      turn.callTool('pay', {}).then(
        () => 'paid',
        (error: Error) => error.message,
      ),
  });
  const world = await begin(app);
  try {
    const sender = { id: nameOf(0), roles: roles[0]! };
    const run = world.main(sender).send('pay');
    const { runId } = await run.accepted;
    let callId = '';
    for await (const event of run)
      if (event.type === 'tool_confirmation_required') {
        ({ callId } = event);
        break;
      }
    const told = new Map<string, Map<string, boolean[]>>();
    let killed = gate();
    const vote = async (
      user: { id: string; roles: readonly string[] },
      approved: boolean,
    ): Promise<string> => {
      const answered = world
        .main(user)
        .respond(callId, { approved })
        .then(
          () => 'ok',
          (error: unknown) => (isGatewayError(error) ? error.code : String(error)),
        );
      const code = await Promise.race([answered, killed.passed.then(() => 'killed')]);
      const known = told.get(user.id) ?? new Map<string, boolean[]>();
      told.set(user.id, known.set(code, [...(known.get(code) ?? []), approved]));
      return code;
    };
    const open: Promise<unknown>[] = [];
    for (const one of acts) {
      if (one === 'kill') {
        // What is on its way is cut off with it.
        killed.open();
        await world.kill();
        killed = gate();
      } else if ('waitMs' in one) await new Promise((resolve) => setTimeout(resolve, one.waitMs));
      else {
        const cast = one.says.map(({ voter, approved }) =>
          vote({ id: nameOf(voter), roles: roles[voter]! }, approved),
        );
        open.push(...cast);
        if (one.says.length % 2 === 0) await Promise.all(cast);
      }
    }
    await Promise.all(open);
    const result = world.main(sender).run(runId).result;
    let isOver = false;
    const over = result.finally(() => {
      isOver = true;
    });
    // Whatever is open still is denied.
    while (!isOver) {
      await vote({ id: 'closer', roles: ['finance'] }, false);
      await Promise.race([over, new Promise((resolve) => setTimeout(resolve, 5))]);
    }
    const events: GatewayEvent[] = [];
    for await (const event of world.main(sender).export('events')) events.push(event);
    return judge({ roles, policy, events, told, effects: effects.length });
  } finally {
    await world.end();
  }
}

interface Seen extends Omit<Story, 'acts'> {
  readonly events: readonly GatewayEvent[];
  /** What each was told, with what they had said. */
  readonly told: ReadonlyMap<string, ReadonlyMap<string, readonly boolean[]>>;
  readonly effects: number;
}

/** Compares a log with what its order means. */
function judge({ roles, policy, events, told, effects }: Seen): readonly string[] {
  const wrong: string[] = [];
  const rolesOf = (id: string): readonly string[] =>
    id === 'closer' ? ['finance'] : roles[Number(id.slice('voter-'.length))]!;
  let eligible: readonly string[] = policy.roles!;
  let votes: { readonly by: string; readonly approved: boolean }[] = [];
  let state: 'none' | 'open' | 'decided' = 'none';
  let approvals = 0;
  const voted = new Set<string>();
  for (const event of events) {
    if (event.type === 'tool_confirmation_required') {
      if (state === 'open') wrong.push('asked while it was open');
      [state, votes, eligible] = ['open', [], policy.roles!];
    } else if (event.type === 'tool_confirmation_escalated') {
      if (state !== 'open' || eligible.includes('cfo')) wrong.push('escalated twice, or late');
      eligible = [...eligible, ...event.roles];
    } else if (event.type === 'tool_confirmation_vote') {
      const { by, approved } = event;
      if (state !== 'open') wrong.push(`a vote of ${by} when it was ${state}`);
      if (votes.some((vote) => vote.by === by)) wrong.push(`${by} voted twice`);
      if (!rolesOf(by).some((held) => eligible.includes(held))) wrong.push(`${by} had no role`);
      if (policy.notBy && by === nameOf(0)) wrong.push('the sender voted');
      votes.push({ by, approved });
      voted.add(by);
      const said = [...(told.get(by)?.values() ?? [])].flat();
      if (!said.includes(approved)) wrong.push(`${by} had never said ${approved}`);
    } else if (event.type === 'tool_confirmation_result') {
      if (state !== 'open') wrong.push(`a result when it was ${state}`);
      state = 'decided';
      if (JSON.stringify(event.votes) !== JSON.stringify(votes)) wrong.push('the result has other votes');
      const isDecided = votes.some(({ approved }) => !approved) || votes.length >= (policy.approvals ?? 1);
      if (event.expired === isDecided) wrong.push(`expired: ${event.expired}, decided: ${isDecided}`);
      const expected = isDecided ? votes.every(({ approved }) => approved) : policy.onExpiry === 'approve';
      if (event.approved !== expected) wrong.push(`approved: ${event.approved}, and not ${expected}`);
      if (event.approved) approvals += 1;
    } else if (event.type === 'message_end' && state !== 'decided') wrong.push('it ended undecided');
    if (state === 'open' && event.type === 'tool_result') wrong.push('it went on undecided');
  }
  for (const [by, known] of told) {
    if (known.has('ok') && !voted.has(by)) wrong.push(`${by} was told ok without a vote`);
    for (const code of known.keys())
      if (!/^(?:ok|killed|GUARD_DENIED|ALREADY_ANSWERED|CALL_NOT_FOUND|OVERLOADED|SHUTTING_DOWN)$/.test(code))
        wrong.push(`${by} was told ${code}`);
  }
  if (effects > approvals) wrong.push(`${effects} effects of ${approvals} approvals`);
  return wrong;
}
