import type { ServerResponse } from 'node:http';
import { cut } from '../../../shared/cut.js';
import type { AppSummary } from '../../../shared/operation-types.js';
import type { Person } from '../../auth/types.js';
import { digestOf } from '../../ids.js';
import type { PluginRequest } from '../../transports/http/plugin-route.js';
import { leftBy, sendJson } from '../conversation/answering.js';
import { handOver } from '../conversation/asked.js';
import { keyOf } from '../conversation/conversation.js';
import { fieldError, orNull, read } from '../conversation/errors.js';
import { stateOf } from '../conversation/state.js';
import { tell } from '../conversation/told-segment.js';
import { UserNotes } from '../conversation/user-notes.js';
import type { PluginContext } from '../plugin.js';
import { listTasks } from './lists.js';
import type { A2aEvent, A2aTask } from './objects.js';
import { TaskPushes } from './push.js';
import { type A2aMessage, type A2aSend, answersIn, blocksOf, PARAMS } from './request.js';
import { A2aError, type RpcId, type RpcRequest, readRpc } from './rpc.js';
import { type FoundTask, findTask, taskDialect, taskOf } from './tasks.js';

/** The parts that the routes use. */
export interface A2aRoutesOptions {
  readonly onBusy: 'queue' | 'interrupt' | 'reject';
}

/** A call of a method. */
interface A2aCall {
  readonly app: string;
  readonly person: Person;
  readonly call: PluginRequest;
  readonly rpc: RpcRequest;
}

/** The methods of agents. */
export class A2aRoutes {
  readonly #context: PluginContext;
  readonly #options: A2aRoutesOptions;
  /** The tasks that messages have answered, by the ids of the messages. */
  readonly #answered: UserNotes<string>;
  readonly pushes: TaskPushes;
  readonly #ids = new WeakMap<ServerResponse, RpcId>();

  constructor(context: PluginContext, options: A2aRoutesOptions) {
    this.#context = context;
    this.#options = options;
    this.#answered = new UserNotes(context, 'answered');
    this.pushes = new TaskPushes(context);
  }

  /** The id that an error of a response must have. */
  idOf(response: ServerResponse): RpcId {
    return this.#ids.get(response) ?? null;
  }

  /** Serves one request. @throws GatewayError before the answer has begun */
  async serve(call: PluginRequest, { name: app }: AppSummary): Promise<void> {
    const { request, response } = call;
    const person = await call.authenticate();
    const rpc = readRpc(await call.body());
    this.#ids.set(response, rpc.id);
    const version = request.headers['a2a-version'];
    if (version !== undefined && !/^1(?:\.\d+)*$/.test(String(version)))
      throw new A2aError('VERSION_NOT_SUPPORTED', 'The gateway speaks version 1.0 of the protocol');
    await this.#perform({ app, person, call, rpc });
  }

  async #perform(called: A2aCall): Promise<void> {
    const { rpc, call, app, person } = called;
    const { method, params } = rpc;
    const answer = (result: unknown): void => sendJson(call.response, { jsonrpc: '2.0', id: rpc.id, result });
    const find = (id: string): Promise<FoundTask> => findTask(this.#context, { app, id, person });
    switch (method) {
      case 'SendMessage':
        return answer({ task: await this.#send(called) });
      case 'SendStreamingMessage': {
        const asked = read(PARAMS.send, params, 'params');
        return this.#stream(called, await this.#begin(called, asked), true);
      }
      case 'GetTask': {
        const { id, historyLength } = read(PARAMS.task, params, 'params');
        return answer(withHistory(await taskOf(await find(id)), historyLength));
      }
      case 'ListTasks':
        return answer(await listTasks(this.#context, { app, person }, read(PARAMS.list, params, 'params')));
      case 'CancelTask':
        return answer(await this.#cancel(await find(read(PARAMS.task, params, 'params').id)));
      case 'SubscribeToTask': {
        const found = await find(read(PARAMS.task, params, 'params').id);
        if (found.info.state === 'ended')
          throw new A2aError('UNSUPPORTED_OPERATION', 'The task is over: get it');
        return this.#stream(called, found, false);
      }
      case 'GetExtendedAgentCard':
        throw new A2aError('UNSUPPORTED_OPERATION', 'There is no other card than the public one');
      default: {
        const result = await this.pushes.serve(method, params, find);
        if (result !== undefined) return answer(result);
        throw new A2aError('METHOD_NOT_FOUND', `There is no method ${JSON.stringify(cut(method, 64))}`);
      }
    }
  }

  async #send(called: A2aCall): Promise<A2aTask> {
    const asked = read(PARAMS.send, called.rpc.params, 'params');
    const found = await this.#begin(called, asked);
    const { configuration } = asked;
    const signal = leftBy(called.call.response);
    const until = configuration?.returnImmediately ? 'head' : 'over';
    return withHistory(await taskOf(found, { until, signal }), configuration?.historyLength);
  }

  /** Begins a task, or has one go on. The same message again leads to the same task. */
  async #begin(called: A2aCall, { message, configuration }: A2aSend): Promise<FoundTask> {
    const config = configuration?.taskPushNotificationConfig;
    const webhook = config && this.pushes.webhookOf(config);
    const found = await this.#begun(called, message);
    if (webhook) await found.session.runWebhooks(found.info.runId, { add: webhook });
    return found;
  }

  async #begun({ app, person }: A2aCall, message: A2aMessage): Promise<FoundTask> {
    const { messageId, taskId: id, contextId: named, metadata } = message;
    if (id) return this.#answer({ app, person, id }, message);
    // Without a context the message's own id names it, so that a second try comes to the same.
    const contextId = named || `ctx-${cut(digestOf(`${person.key}\n${messageId}`), 32)}`;
    const session = this.#context.session(`${app}:${contextId}`, person);
    const input = { id: messageId, content: blocksOf(message), ...(metadata && { metadata }) };
    const { onBusy } = this.#options;
    const sent = await session.send(input, { onBusy, idempotencyKey: keyOf(messageId) }).accepted;
    return { contextId, session, info: await session.run(sent.runId).status() };
  }

  async #answer(
    { app, person, id }: { readonly app: string; readonly person: Person; readonly id: string },
    message: A2aMessage,
  ): Promise<FoundTask> {
    const { messageId, contextId } = message;
    const found = await findTask(this.#context, { app, id, person });
    if (contextId && contextId !== found.contextId)
      throw fieldError('message.contextId', 'is not the context of the task');
    const { run, pending = [] } = (await stateOf(found.session)) ?? {};
    // Behind the look at the questions: the same message again must not answer the next one.
    if ((await this.#answered.get(person, messageId)) === id) return found;
    if (found.info.state === 'ended')
      throw new A2aError('UNSUPPORTED_OPERATION', 'The task is over: send to its context alone');
    const open = run?.runId === found.info.runId ? pending : [];
    if (open.length === 0)
      throw new A2aError('UNSUPPORTED_OPERATION', 'The task asks nothing: send to its context alone');
    const answers = answersIn(message, open);
    await this.#answered.put(person, messageId, id);
    for (const [callId, answer] of answers) await handOver(found.session, callId, answer);
    return found;
  }

  async #stream(
    { call: { response }, rpc: { id } }: A2aCall,
    found: FoundTask,
    pauses: boolean,
  ): Promise<void> {
    const frame = (result: A2aEvent): string => `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`;
    const { report } = this.#context;
    const from = found.info.cursor;
    await tell({ response }, found.session, taskDialect(found, { frame, pauses }), { from, report });
  }

  async #cancel(found: FoundTask): Promise<A2aTask> {
    const { session, info } = found;
    const { runId, state } = info;
    const isStopped =
      state !== 'ended' && (await orNull(() => session.abort({ runId, reason: 'cancelled' })));
    if (!isStopped) throw new A2aError('TASK_NOT_CANCELABLE', 'The task is over');
    await session.run(runId).result;
    return taskOf(found);
  }
}

/** A task with so much of its history. */
export function withHistory({ history, ...task }: A2aTask, length: number | null | undefined): A2aTask {
  return length === 0 || !history ? task : { ...task, history };
}
