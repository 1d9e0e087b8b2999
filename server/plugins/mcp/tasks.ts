import * as z from 'zod';
import { composeId, partsOfId } from '../../../shared/composed-id.js';
import type { RunInfo } from '../../../shared/operation-types.js';
import type { ToolOutput } from '../../apps/tool.js';
import { handOver } from '../conversation/asked.js';
import { codeOf, orNull } from '../conversation/errors.js';
import { reading } from '../conversation/reading.js';
import { isKept, stateOf } from '../conversation/state.js';
import type { PluginContext, PluginSession } from '../plugin.js';
import type { RoundRequest } from './asked-calls.js';
import type { McpCaller } from './caller.js';
import type { ParsedOptions, TaskOptions } from './options.js';
import { type McpQuestion, type QuestionMode, readAnswer } from './question.js';
import type { CallToolResult, McpSdk, McpServer, ServerContext } from './sdk.js';
import {
  type CreatedTask,
  createdTask,
  type DetailedTask,
  knowsTasks,
  type TaskInputRequest,
  taskOf,
  UNDECLARED,
} from './task-objects.js';
import { McpTaskReader, TASK_TOOL } from './task-reader.js';

/** The parts of the door that tasks use. */
export interface TaskDoor {
  caller(context: ServerContext): McpCaller;
  asking(server: McpServer): QuestionMode | null;
  request(question: McpQuestion, asks: QuestionMode, caller: McpCaller): TaskInputRequest['params'];
  result(name: string, output: ToolOutput): CallToolResult;
  failure(error: unknown): Error;
}

/** A caller of tasks, and how its client asks. */
interface TaskCaller {
  readonly caller: McpCaller;
  readonly asks: QuestionMode | null;
}

interface CallOfTask {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
}

/** A task that was found. */
interface McpTask {
  readonly taskId: string;
  readonly session: PluginSession;
  readonly read: McpTaskReader;
}

const named = { params: z.object({ taskId: z.string() }) };

/** Calls that outlive their requests: the extension of MCP by that name. A task is a run of the caller's session that calls one tool. */
export class Tasks {
  readonly #sdk: McpSdk;
  readonly #context: PluginContext;
  readonly #sessionId: string;
  readonly #options: TaskOptions;
  readonly #door: TaskDoor;
  /** One function for each call that waits, which ends the patience with it. */
  readonly #waiting = new Set<() => void>();
  #isDraining = false;

  constructor(
    sdk: McpSdk,
    context: PluginContext,
    { sessionId, tasks }: Pick<ParsedOptions, 'sessionId'> & { readonly tasks: TaskOptions },
    door: TaskDoor,
  ) {
    this.#sdk = sdk;
    this.#context = context;
    this.#sessionId = sessionId;
    this.#options = tasks;
    this.#door = door;
  }

  /** Whether a call may become a task. */
  takes(server: McpServer, { name }: CallOfTask, { mcpReq }: ServerContext): boolean {
    const { tools } = this.#options;
    // A client that comes back with an answer goes on with a call that is none.
    if (mcpReq.requestState() !== undefined || !knowsTasks(server.getClientCapabilities())) return false;
    return tools === null || tools.includes(name);
  }

  /** Has a server answer the requests of the extension. */
  serve(server: McpServer): void {
    server.setRequestHandler('tasks/get', named, ({ taskId }, context) =>
      this.#answer(server, context, async (by) => {
        const found = await this.#find(taskId, by.caller);
        const task = this.#told(found, by);
        // A result within a task has the mark of its kind as well, which the SDK puts on results alone.
        return task.status === 'completed'
          ? { ...task, result: { resultType: 'complete', ...task.result } }
          : { ...task };
      }),
    );
    server.setRequestHandler('tasks/update', named, ({ taskId }, context) =>
      this.#answer(server, context, async (by) => {
        await this.#update(await this.#find(taskId, by.caller), context, by);
        return {};
      }),
    );
    server.setRequestHandler('tasks/cancel', named, ({ taskId }, context) =>
      this.#answer(server, context, async ({ caller }) => {
        const { session, read } = await this.#find(taskId, caller);
        if (!read.end) await session.run(read.runId).abort('cancelled');
        return {};
      }),
    );
  }

  async #answer<Result>(
    server: McpServer,
    context: ServerContext,
    work: (by: TaskCaller) => Promise<Result>,
  ): Promise<Result> {
    if (!knowsTasks(server.getClientCapabilities()))
      throw new this.#sdk.server.MissingRequiredClientCapabilityError(UNDECLARED);
    try {
      return await work({ caller: this.#door.caller(context), asks: this.#door.asking(server) });
    } catch (error) {
      throw this.#door.failure(error);
    }
  }

  /**
   * Begins a call, and waits for it for a while. It becomes a task if it takes longer, or asks.
   *
   * @throws GatewayError the reason why it was not begun
   * @throws ProtocolError the error of a call that failed meanwhile
   */
  async begin(
    { name, arguments: input = {} }: CallOfTask,
    { key, signal, progress, ...by }: TaskCaller & RoundRequest & { readonly key: string | undefined },
  ): Promise<CallToolResult | CreatedTask> {
    const session = this.#context.session(this.#sessionId, by.caller.person);
    const metadata = { [TASK_TOOL]: name };
    const { runId, cursor, repeated } = await session.beginCall(name, input, { key, metadata });
    const read = new McpTaskReader(runId, progress);
    const found = { taskId: composeId(session.id, runId), session, read };
    // One that began before may be over, and its events gone.
    const info = repeated ? await session.run(runId).status() : { cursor };
    await this.#wait(found, info, signal);
    // Patience may be over before anything was read.
    if (read.beganAt === 0) await this.#learn(found, info);
    // Nobody would ever learn of the task. A call with a key is asked for again.
    if (signal.aborted && key === undefined && !read.end) await session.run(runId).abort('cancelled');
    const task = this.#told(found, by);
    if (this.#options.afterMs > 0) {
      if (task.status === 'completed') return task.result;
      if (task.status === 'failed') throw this.#failed(task.error);
    }
    return createdTask(task);
  }

  /** Waits for a call until it is over or asks, its client has left, or patience is over. */
  async #wait(found: McpTask, info: Pick<RunInfo, 'cursor' | 'result'>, left: AbortSignal): Promise<void> {
    const { afterMs } = this.#options;
    if (afterMs === 0) return;
    const patience = new AbortController();
    const lose = (): void => patience.abort();
    const timer = setTimeout(lose, Math.min(afterMs, 2 ** 31 - 1));
    if (left.aborted || this.#isDraining) lose();
    left.addEventListener('abort', lose);
    this.#waiting.add(lose);
    try {
      await this.#learn(found, { ...info, until: 'over', signal: patience.signal });
    } catch (error) {
      if (!patience.signal.aborted) throw error;
    } finally {
      clearTimeout(timer);
      left.removeEventListener('abort', lose);
      this.#waiting.delete(lose);
    }
  }

  /** Answers the calls that wait here: their tasks are known to the gateways after this one. */
  drain(): void {
    this.#isDraining = true;
    for (const lose of this.#waiting) lose();
  }

  #failed({ code, message, data }: { code: number; message: string; data?: unknown }): Error {
    return new this.#sdk.server.ProtocolError(code, message, data);
  }

  /** @throws ProtocolError if the caller has no such task */
  async #find(taskId: string, { person, view }: McpCaller): Promise<McpTask> {
    const [sessionId, runId = '', ...more] = partsOfId(taskId) ?? [];
    const found = await orNull(async () => {
      const session = this.#context.session(this.#sessionId, person);
      if (sessionId !== session.id || more.length > 0) return null;
      const info = await session.run(runId).status();
      const read = new McpTaskReader(runId);
      await this.#learn({ session, read }, info);
      return { taskId, session, read };
    });
    // A caller who may no longer use the tool has lost its tasks too.
    if (found?.read.tool !== undefined && view.has(found.read.tool)) return found;
    const { ProtocolError, ProtocolErrorCode } = this.#sdk.server;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Task not found');
  }

  /** Reads a run, as far as it has come or until its caller can go on. */
  async #learn(
    { session, read }: Omit<McpTask, 'taskId'>,
    {
      cursor,
      result,
      until = 'head',
      signal,
    }: Pick<RunInfo, 'cursor' | 'result'> & {
      readonly until?: 'head' | 'over';
      readonly signal?: AbortSignal;
    },
  ): Promise<void> {
    if (result) return this.#recall(session, read, { cursor, result });
    if (await isKept(session, cursor)) {
      const options = { from: cursor, ...(signal && { signal }) };
      await session.stream(reading(read, until), options).over;
      return;
    }
    const state = await stateOf(session);
    if (state) read.join(state);
  }

  /** Reads a run that has ended: its events say when it did, if they are kept. */
  async #recall(
    session: PluginSession,
    read: McpTaskReader,
    {
      cursor,
      result,
    }: Required<Pick<RunInfo, 'cursor'>> & { readonly result: NonNullable<RunInfo['result']> },
  ): Promise<void> {
    try {
      if (await isKept(session, cursor)) await session.stream(reading(read), { from: cursor }).over;
    } catch (error) {
      if (codeOf(error) !== 'CURSOR_GONE' && codeOf(error) !== 'SESSION_NOT_FOUND') throw error;
    }
    if (!read.end) read.recall(result);
  }

  #told({ taskId, read }: McpTask, { caller, asks }: TaskCaller): DetailedTask {
    const inputRequests: Record<string, TaskInputRequest> = {};
    // A client that can ask nobody must not be asked to.
    if (asks)
      for (const [callId, question] of read.questions)
        inputRequests[callId] = {
          method: 'elicitation/create',
          params: this.#door.request(question, asks, caller),
        };
    return taskOf(read, {
      taskId,
      pollMs: this.#options.pollMs,
      inputRequests,
      result: (output) => this.#door.result(read.tool ?? '', output),
    });
  }

  /** Hands over the answers to open questions. All others are left out, as the protocol says. */
  async #update({ session, read }: McpTask, { mcpReq }: ServerContext, { asks }: TaskCaller): Promise<void> {
    const { inputResponses } = mcpReq;
    const { ProtocolError, ProtocolErrorCode } = this.#sdk.server;
    const wrong = (what: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, what);
    if (inputResponses === undefined) throw wrong('inputResponses is missing');
    const { droppedInputResponseKeys = [] } = mcpReq;
    const answers = [...read.questions.keys()].flatMap((callId) => {
      if (droppedInputResponseKeys.includes(callId)) throw wrong(`inputResponses.${callId} is no answer`);
      if (!asks || !Object.hasOwn(inputResponses, callId)) return [];
      const said = readAnswer(inputResponses[callId], asks);
      if (!said) throw wrong(`inputResponses.${callId} is no answer`);
      // A person who opens the address has not answered yet.
      return said === 'elsewhere' ? [] : [{ callId, said }];
    });
    for (const { callId, said } of answers)
      await handOver(session, callId, { kind: 'confirmation', ...said });
  }
}
