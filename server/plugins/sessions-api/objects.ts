import type { SessionState } from '../../../shared/fold.js';
import type { AppSummary, SessionSummary } from '../../../shared/operation-types.js';
import { beganAt } from '../conversation/runs.js';
import type { PluginSession } from '../plugin.js';
import { iso } from './frames.js';
import { threadId } from './ids.js';

/** The times that a session's object says beside its state. */
type SessionTimes = Pick<SessionSummary, 'createdAt' | 'updatedAt'>;

/** A session in the API's form. */
export function sessionObject(
  id: string,
  app: AppSummary,
  state: SessionState,
  { createdAt, updatedAt }: SessionTimes,
): object {
  const { title = null, metadata = {}, archived, messages } = state;
  return {
    id,
    type: 'session',
    agent: agentOf(app),
    status: statusOf(state),
    title,
    metadata: Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, textOf(value)])),
    created_at: iso(createdAt),
    updated_at: iso(updatedAt),
    archived_at: archived ? iso(updatedAt) : null,
    environment_id: 'env_gateway',
    usage: usageOf(messages),
    stats: {},
    ...{ budget: null, resources: [], vault_ids: [], outcome_evaluations: [] },
  };
}

/** The child runs of a session that are under way, in the API's form. */
export function threadObjects(id: string, { lanes = [] }: SessionState): { readonly id: string }[] {
  return lanes.map(({ runId, parentRunId, app, message }) => {
    const at = iso(message.createdAt);
    return {
      ...{ id: threadId(runId), type: 'session_thread', session_id: id, agent: agentOf({ name: app }) },
      parent_thread_id: parentRunId === undefined ? null : threadId(parentRunId),
      ...{ status: 'running', created_at: at, updated_at: at, archived_at: null },
      ...{ stats: null, usage: null, workflow_run_id: null },
    };
  });
}

/** When a session began, and when it was last used. */
export async function timesOf(session: PluginSession, { messages }: SessionState): Promise<SessionTimes> {
  const last = messages.at(-1);
  const said = messages[0]?.createdAt;
  const kept = await beganAt(session);
  const createdAt = Math.min(said ?? kept ?? 0, kept ?? said ?? 0);
  return { createdAt, updatedAt: last?.endedAt ?? last?.createdAt ?? createdAt };
}

function statusOf({ run, queue, pending, closed }: SessionState): string {
  if (closed) return 'terminated';
  const waits = run !== null && pending.some(({ runId }) => runId === run.runId);
  return (run && !waits) || queue.length > 0 ? 'running' : 'idle';
}

function agentOf({ name, description }: Pick<AppSummary, 'name' | 'description'>): object {
  const none = { system: null, multiagent: null, mcp_servers: [], skills: [], tools: [] };
  return {
    id: name,
    type: 'agent',
    name,
    description: description ?? null,
    version: 1,
    model: { id: name },
    ...none,
  };
}

function usageOf(messages: SessionState['messages']): object {
  const sum = (name: 'inputTokens' | 'outputTokens'): number =>
    messages.reduce((before, { usage }) => before + (usage?.[name] ?? 0), 0);
  return { input_tokens: sum('inputTokens'), output_tokens: sum('outputTokens') };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
