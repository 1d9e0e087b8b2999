import type { EventEmitter } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { loadPeer } from '../../runtime/optional-peer.js';
import type { ShownBlock } from '../anthropic-blocks.js';

// The package is described here as far as it is used, because its own dependencies are programs of 200 MB for each system.

/** A message to the agent. */
export interface ClaudePrompt {
  readonly type: 'user';
  readonly message: { role: 'user'; content: ShownBlock[] };
  readonly parent_tool_use_id: null;
}

/** The person's answer to a request for permission. */
export type ClaudePermission =
  | { behavior: 'allow'; updatedInput: Record<string, unknown> }
  | { behavior: 'deny'; message: string };

/** A call that the agent asks a permission for. */
export interface ClaudeRequest {
  readonly toolUseID: string;
  readonly title?: string;
}

/** A program, as the package wants it started. */
export interface ClaudeSpawn {
  readonly command: string;
  readonly args: string[];
  readonly cwd?: string;
  readonly env: { [name: string]: string | undefined };
  readonly signal: AbortSignal;
}

/** A program that was started. */
export interface ClaudeChild extends Pick<EventEmitter, 'on' | 'once' | 'off'> {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly killed: boolean;
  readonly exitCode: number | null;
  readonly signalCode: NodeJS.Signals | null;
  kill(signal: NodeJS.Signals): boolean;
}

/** The options that the app sets. */
export interface ClaudeSettings {
  cwd: string;
  env: Record<string, string>;
  abortController: AbortController;
  includePartialMessages: true;
  canUseTool(name: string, input: Record<string, unknown>, request: ClaudeRequest): Promise<ClaudePermission>;
  spawnClaudeCodeProcess(asked: ClaudeSpawn): ClaudeChild;
  resume?: string;
  forkSession?: boolean;
  sessionId?: string;
}

/** The messages of the agent. Each comes from a foreign process, so it is read with care. */
export interface ClaudeQuery extends AsyncIterable<unknown> {
  interrupt(): Promise<unknown>;
}

/** The function `query` of the package `@anthropic-ai/claude-agent-sdk`. */
export type QueryClaude = (asked: {
  prompt: AsyncIterable<ClaudePrompt>;
  options: ClaudeSettings;
}) => ClaudeQuery;

/**
 * Loads the package.
 *
 * @throws GatewayError `INTERNAL` naming the package, if it is not installed
 */
export const loadQuery = async (): Promise<QueryClaude> => {
  const { query } = await loadPeer(
    '@anthropic-ai/claude-agent-sdk',
    'claudeAgentApp',
    // The compiler looks for no types of a text that may be any.
    () => import('@anthropic-ai/claude-agent-sdk' as string) as Promise<{ readonly query: QueryClaude }>,
  );
  return query;
};
