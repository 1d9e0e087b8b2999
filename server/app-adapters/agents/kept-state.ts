import type { Agent, RunState } from '@openai/agents';
import { GatewayError } from '../../../shared/errors.js';
import type { Turn } from '../../apps/application.js';
import { PLACE, type PlaceKeeper } from '../../apps/goes-on.js';
import type { Interrupted } from './approvals.js';
import { copyOf, type Sdk } from './sdk.js';

type AgentState = RunState<any, Agent<any, any>>;

const placeOf = (turn: Turn): PlaceKeeper | undefined => (turn as { readonly [PLACE]?: PlaceKeeper })[PLACE];

/** Keeps a run that waits for approvals, for a process that takes it up. A state that does not fit, or is not JSON, is not kept. */
export async function keepState(turn: Turn, state: AgentState): Promise<void> {
  try {
    const { context, ...json } = state.toJSON();
    // The context of another process has nothing for this one.
    await placeOf(turn)?.keep(JSON.parse(JSON.stringify({ ...json, context: { ...context, context: {} } })));
  } catch (error) {
    turn.signal.throwIfAborted();
    await placeOf(turn)?.keep({ unkept: String((error as Error)?.message) });
  }
}

/** Notes that tools are at work from here on, which another process must not have work again. */
export async function noteWork(turn: Turn): Promise<void> {
  await placeOf(turn)?.keep({ unkept: 'its tools were at work' });
}

/** The parts of a run that its kept state is made whole with. */
interface StateParts {
  readonly agent: Agent<any, any>;
  readonly context: unknown;
  /** Names of tools whose calls are not made again, because the turn has their results. */
  readonly loggedElsewhere: ReadonlySet<string>;
}

/**
 * The run as a former process has kept it; null if it begins from the beginning.
 *
 * @throws GatewayError `ABORTED` if a tool was at work since then, or the state could not be kept
 */
export async function keptState(
  sdk: Sdk,
  turn: Turn,
  { agent, context, loggedElsewhere }: StateParts,
): Promise<Interrupted | null> {
  const place = placeOf(turn);
  if (!turn.resumed || !place) return null;
  const kept = place.kept as { readonly unkept?: string } | undefined;
  if (
    turn.resumed.content
      .slice(place.blocks)
      .some((block) => block.type === 'tool_use' && !loggedElsewhere.has(block.name))
  )
    throw new GatewayError({
      code: 'ABORTED',
      message: 'The gateway ended while tools of the agent were at work',
    });
  if (kept === undefined) return null;
  if (kept.unkept !== undefined)
    throw new GatewayError({
      code: 'ABORTED',
      message: `The agent cannot go on where the gateway ended: ${kept.unkept}`,
    });
  const { RunContext, RunState: Kept } = copyOf(agent, sdk);
  const state: AgentState = await Kept.fromStringWithContext(
    agent,
    JSON.stringify(kept),
    new RunContext(context),
  );
  const { _generatedItems: newItems } = state as unknown as {
    readonly _generatedItems: Interrupted['newItems'];
  };
  return { state: state as Interrupted['state'], newItems, interruptions: state.getInterruptions() };
}
