import { fieldError } from '../../../shared/errors.js';
import type { OnDisconnect } from '../../apps/application.js';
import type { Versioned } from '../../apps/versions.js';
import type { OnFault } from '../again-after-fault.js';
import { checkFolder } from '../check-folder.js';
import type { Given } from '../given.js';
import type { QueryClaude } from './sdk.js';

/** Options of an app that answers with an agent of the Claude Agent SDK. */
export interface ClaudeAgentAppOptions extends Versioned {
  /** The folder that the agent works in: an absolute path, the same for all runs of a session. Tell sessions apart by `session.epoch`. */
  readonly cwd: Given<string>;
  /**
   * The environment of the agent's program, to which the SDK adds its own name and version. Nothing of this process's own is added. The program keeps its
   * sessions below `HOME`, or in `CLAUDE_CONFIG_DIR`. @default none
   */
  readonly env?: Given<Readonly<Record<string, string>>>;
  /**
   * Options of the SDK's `query`, such as `model`, `systemPrompt`, `allowedTools`, `mcpServers`. Servers within this process need a function, since each serves
   * one run. @default `settingSources: []`, `verbatimPrompts: true`: no file of settings is read, and the text of a person is no command
   */
  readonly options?: Given<Readonly<Record<string, unknown>>>;
  /** The function `query` of the SDK. @default that of the package `@anthropic-ai/claude-agent-sdk` */
  readonly query?: QueryClaude;
  /** @default 'Answers with Claude' */
  readonly description?: string;
  /** @default 'continue' */
  readonly onDisconnect?: OnDisconnect;
  /**
   * Whether a run resumes after a restart of the gateway: the agent's session is taken up as far as it was kept, and the message is asked again. Work for it may
   * be done twice.
   *
   * @default false
   */
  readonly resumable?: boolean;
  /**
   * The policy for a program that dies, or an answer that fails. `end`: the run ends as `error`. `again`: what was said is taken back, and another program is asked, at
   * most three times a run. Work of the agent may be done twice.
   *
   * @default 'end'
   */
  readonly onFault?: OnFault;
  /** Milliseconds that the program may take until its first word. @default 30_000 */
  readonly startMs?: number;
  /** Milliseconds that the program may take to end behind its answer, or when a run is aborted, before it is killed. @default 5_000 */
  readonly graceMs?: number;
  /** Longest message of the program, in bytes. @default 16 MiB */
  readonly messageBytes?: number;
}

/** The numbers among the options. */
export interface ClaudeBounds {
  readonly startMs: number;
  readonly graceMs: number;
  readonly messageBytes: number;
}

const DEFAULTS: ClaudeBounds = { startMs: 30_000, graceMs: 5_000, messageBytes: 16 * 1024 * 1024 };
const MOST = 2 ** 31 - 1;
/** Options of the SDK that are the app's. */
const OWN = [
  ...['abortController', 'canUseTool', 'continue', 'cwd', 'env', 'forkSession', 'includePartialMessages'],
  ...['permissionPromptToolName', 'persistSession', 'resume', 'resumeSessionAt', 'sessionId'],
  'spawnClaudeCodeProcess',
];

/** The bounds of an app. @throws GatewayError `INVALID_PARAMS` that names the option */
export function claudeBounds(options: ClaudeAgentAppOptions): ClaudeBounds {
  const { cwd, options: given, onFault = 'end' } = options;
  if (typeof cwd !== 'function') checkFolder(cwd);
  if (typeof given !== 'function') checkSdkOptions(given);
  if (onFault !== 'end' && onFault !== 'again') throw fieldError('onFault', "must be 'end' or 'again'");
  const bounds = Object.entries(DEFAULTS).map(([name, value]) => {
    const bound = options[name as keyof ClaudeBounds] ?? value;
    if (!Number.isInteger(bound) || bound < 1 || bound > MOST)
      throw fieldError(name, `must be a whole number from 1 to ${MOST}`);
    return [name, bound];
  });
  return Object.fromEntries(bounds) as ClaudeBounds;
}

/** Options of the SDK, of which none is the app's. @throws GatewayError `INVALID_PARAMS` that names the option */
export function checkSdkOptions(given: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const own = OWN.find((name) => name in given);
  if (own !== undefined) throw fieldError(`options.${own}`, 'is set by the app');
  return { settingSources: [], verbatimPrompts: true, ...given };
}
