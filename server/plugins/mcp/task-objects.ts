import type { ToolResultBlock } from '../../../shared/messages.js';
import { pick } from '../../../shared/pick.js';
import { failureOf } from '../../../shared/run-failure.js';
import type { ToolOutput } from '../../apps/tool.js';
import { madeOutput, plainOutput } from '../../apps/tool-output.js';
import { isPlainObject } from '../../schema/schema.js';
import type { CallToolResult, ClientCapabilities, ElicitParams, UrlElicitParams } from './sdk.js';
import type { McpTaskReader, TaskEnd } from './task-reader.js';

/** Name of the extension. */
export const TASKS = 'io.modelcontextprotocol/tasks';
/** How long a run is surely known after its end. */
const KEPT_MS = 24 * 60 * 60_000;
const INTERNAL_ERROR = -32603;

/** A request to the person of a client, in a task. */
export interface TaskInputRequest {
  readonly method: 'elicitation/create';
  readonly params: ElicitParams | UrlElicitParams;
}

/** An error of JSON-RPC. */
export interface TaskError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** The fields that each task has. */
interface TaskFields {
  readonly taskId: string;
  readonly statusMessage?: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly ttlMs: number | null;
  readonly pollIntervalMs: number;
}

/** The status of a task, and what belongs to it. */
export type McpTaskStatus =
  | { readonly status: 'working' | 'cancelled' }
  | { readonly status: 'input_required'; readonly inputRequests: Readonly<Record<string, TaskInputRequest>> }
  | { readonly status: 'completed'; readonly result: CallToolResult }
  | { readonly status: 'failed'; readonly error: TaskError };

/** A task as `tasks/get` tells it. */
export type DetailedTask = TaskFields & McpTaskStatus;

/** The answer to a call that became a task. */
export type CreatedTask = TaskFields & {
  readonly resultType: 'task';
  readonly status: DetailedTask['status'];
};

/** Whether a client has declared on its request that it knows tasks. */
export function knowsTasks(capabilities: ClientCapabilities | undefined): boolean {
  return isPlainObject(capabilities?.extensions?.[TASKS]);
}

/** The error of a request about tasks whose client has not declared that it knows them. */
export const UNDECLARED = { requiredCapabilities: { extensions: { [TASKS]: {} } } };

/** Whether a client wants to hear of tasks and has not declared that it knows them. None is told of any: they are asked for. */
export function hearsUndeclared(body: unknown): boolean {
  const { method, params } = (body ?? {}) as { readonly method?: unknown; readonly params?: unknown };
  if (method !== 'subscriptions/listen' || !isPlainObject(params)) return false;
  const { notifications, _meta: meta } = params;
  if (!isPlainObject(notifications) || notifications.taskIds === undefined) return false;
  const declared = isPlainObject(meta) ? meta['io.modelcontextprotocol/clientCapabilities'] : undefined;
  return !knowsTasks(isPlainObject(declared) ? declared : undefined);
}

/** The parts of a task that its log does not have. */
interface TaskDetails {
  readonly taskId: string;
  readonly pollMs: number;
  /** The requests that the client can put to its person. */
  readonly inputRequests: Readonly<Record<string, TaskInputRequest>>;
  result(output: ToolOutput): CallToolResult;
}

/** Tells a task. */
export function taskOf(read: McpTaskReader, telling: TaskDetails): DetailedTask {
  const { beganAt, changedAt, end } = read;
  const status = statusOf(read, telling);
  const said = saidOf(read, status);
  return {
    taskId: telling.taskId,
    ...(said !== undefined && { statusMessage: said }),
    createdAt: new Date(beganAt).toISOString(),
    lastUpdatedAt: new Date(changedAt).toISOString(),
    // A task that is under way is kept for as long as it takes.
    ttlMs: end ? Math.max(0, changedAt - beganAt) + KEPT_MS : null,
    pollIntervalMs: telling.pollMs,
    ...status,
  };
}

/** Tells that a call became a task. */
export function createdTask(task: DetailedTask): CreatedTask {
  const told = pick(
    task,
    'taskId',
    'status',
    'statusMessage',
    'createdAt',
    'lastUpdatedAt',
    'ttlMs',
    'pollIntervalMs',
  );
  return { resultType: 'task', ...told };
}

function statusOf(read: McpTaskReader, { inputRequests, result }: TaskDetails): McpTaskStatus {
  const { end } = read;
  if (end) {
    const { result: block } = read;
    if (end.stopReason === 'end' && block) return { status: 'completed', result: result(outputIn(block)) };
    const error = errorOf(end);
    return error ? { status: 'failed', error } : { status: 'cancelled' };
  }
  if (Object.keys(inputRequests).length > 0) return { status: 'input_required', inputRequests };
  return { status: 'working' };
}

/** The error of a run that has no result; null if somebody ended it. */
function errorOf({ stopReason, error }: TaskEnd): TaskError | null {
  const failure = failureOf(stopReason, error);
  if (failure) return { code: INTERNAL_ERROR, message: failure.message, data: { code: failure.code } };
  if (stopReason === 'moderated')
    return { code: INTERNAL_ERROR, message: 'The call was refused', data: { code: 'MODERATED' } };
  return null;
}

function saidOf(read: McpTaskReader, status: McpTaskStatus): string | undefined {
  if (status.status === 'failed') return status.error.message;
  if (status.status === 'input_required') return 'A person has to agree';
  if (status.status !== 'working') return undefined;
  return read.asks ? 'A person is asked in the session of this server' : read.progress;
}

/** The output of a tool, from the form in which the log has it. */
function outputIn({ output, isError }: ToolResultBlock): ToolOutput {
  if (isError) return { content: [{ type: 'text', text: String(output) }], isError };
  return madeOutput(output) ?? plainOutput(output);
}
