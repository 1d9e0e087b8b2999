import { randomUUID } from 'node:crypto';
import type { AppEvent, AppResult, Turn } from '../../apps/application.js';
import { type App, defineApp } from '../../apps/define-app.js';
import { versionsOf } from '../../apps/versions.js';
import { againAfterFault } from '../again-after-fault.js';
import { type ShownBlock, shownOf } from '../anthropic-blocks.js';
import { checkFolder } from '../check-folder.js';
import { givenTo } from '../given.js';
import { withFiles } from '../inline-files.js';
import { toldBefore } from '../told-before.js';
import { type ClaudeNote, ClaudeRun, type Former } from './claude-run.js';
import { type ClaudeAgentAppOptions, type ClaudeBounds, checkSdkOptions, claudeBounds } from './options.js';
import { loadQuery, type QueryClaude } from './sdk.js';

export type { ClaudeAgentAppOptions };

/**
 * An app that answers with an agent of the Claude Agent SDK: one process a run. Its requests for permission are questions to the person. Needs the package
 * `@anthropic-ai/claude-agent-sdk`.
 *
 * @throws GatewayError `INVALID_PARAMS` that names the option
 *
 * @example
 * ```ts
 * const app = claudeAgentApp({ cwd: '/srv/work', env: { HOME: '/srv/agent' } });
 * const gateway = createGateway({ app });
 * ```
 */
export function claudeAgentApp(options: ClaudeAgentAppOptions): App<Readonly<Record<never, never>>> {
  const bounds = claudeBounds(options);
  const { description = 'Answers with Claude', onDisconnect, resumable, onFault } = options;
  let query: Promise<QueryClaude> | undefined;
  return defineApp({
    description,
    ...(onDisconnect && { onDisconnect }),
    ...(resumable && { resumable }),
    ...versionsOf(options),
    async *run(turn: Turn) {
      // An agent's work is more than a rehearsal may do.
      if (turn.rehearsing) return {};
      query ??= options.query ? Promise.resolve(options.query) : loadQuery();
      const loaded = await query;
      return yield* againAfterFault(turn, onFault, () => converse(turn, loaded, options, bounds));
    },
  });
}

async function* converse(
  turn: Turn,
  query: QueryClaude,
  { cwd, env = {}, options }: ClaudeAgentAppOptions,
  bounds: ClaudeBounds,
): AsyncGenerator<string | AppEvent, AppResult> {
  await turn.allowed();
  const [message] = await withFiles(turn, [turn.message]);
  const given = {
    cwd: checkFolder(await givenTo(turn, cwd)),
    env: { ...(await givenTo(turn, env)) },
  };
  const begin = async (former: Former | null, session?: string): Promise<ClaudeRun> => {
    const settings = checkSdkOptions(await givenTo(turn, options));
    const told = former ? null : toldBefore(turn.history);
    const before: ShownBlock[] = told === null ? [] : [{ type: 'text', text: told }];
    const prompt = [...before, ...shownOf(message!.content)];
    return new ClaudeRun(turn, query, {
      ...{ bounds, former, session, prompt },
      settings: { ...settings, ...given },
    });
  };
  const { formers, session } = await sessionsOf(turn);
  for (const [at, former] of formers.entries()) {
    const run = await begin(former, at === 0 ? session : undefined);
    try {
      return yield* run.answer();
    } catch (error) {
      // It may have forgotten the session.
      if (run.hasBegun || turn.signal.aborted) throw error;
    }
  }
  return yield* (await begin(null, formers.length === 0 ? session : undefined)).answer();
}

/** The sessions that a run may go on from, best first, and the id of its own, unless it had one before a restart. */
async function sessionsOf(turn: Turn): Promise<{ formers: Former[]; session?: string }> {
  let isNew = false;
  const session = await turn.step('session', () => {
    isNew = true;
    return randomUUID();
  });
  const last = turn.history.findLast(({ role }) => role === 'assistant');
  const noted = last?.metadata?.claude as ClaudeNote | undefined;
  const isOurs = noted?.epoch === turn.session.epoch && turn.trigger?.type !== 'child';
  const formers = isOurs ? [noted] : [];
  if (isNew) return { formers, session };
  return { formers: [{ session, spent: formers[0]?.spent ?? {} }, ...formers] };
}
