import { cut } from '../../../shared/cut.js';
import type { EventOf } from '../../../shared/events.js';
import type { RunWebhook } from '../../../shared/notices/contract.js';
import type { WebhookShape } from '../../../shared/notices/options.js';
import { digestOf } from '../../ids.js';
import { nameIn } from '../conversation/app-names.js';
import { fieldError, read } from '../conversation/errors.js';
import { pageBehind } from '../conversation/pages.js';
import type { PluginContext } from '../plugin.js';
import { PARAMS, type PushConfig } from './request.js';
import { A2aError } from './rpc.js';
import { type FoundTask, TaskStream } from './tasks.js';
import { ASKING } from './writer.js';

const [TOKEN, PAGE] = ['x-a2a-notification-token', 50];

/** Makes the request that tells of a task: a status update, as a stream has it. */
const shape: WebhookShape = async ({ id, kind, sessionId, runId, stopReason, at }, events) => {
  if (runId === undefined) return null;
  const stream = new TaskStream({ contextId: nameIn(sessionId), info: { runId } }, true);
  for await (const event of events()) stream.take(event);
  stream.head();
  const { writer } = stream;
  // Its events are not kept any more.
  if (kind === 'run_ended' && !stream.over)
    writer.take({ type: 'message_end', runId, stopReason, ts: at } as EventOf<'message_end'>, true);
  const { id: taskId, contextId, status } = writer.task;
  // Somebody has answered meanwhile.
  if (kind === 'input_required' && status.state !== ASKING) return null;
  return { id, mediaType: 'application/a2a+json', body: { statusUpdate: { taskId, contextId, status } } };
};

/** Push notifications of tasks: webhooks of their runs. */
export class TaskPushes {
  readonly #check: ((webhook: RunWebhook) => void) | null;

  constructor(context: PluginContext) {
    this.#check = context.runWebhooks(shape);
  }

  /** Whether the host allows them. */
  get offered(): boolean {
    return this.#check !== null;
  }

  /** The webhook that a configuration asks for. The same configuration is the same webhook. @throws A2aError; GatewayError naming the field */
  webhookOf({ id, url, token, authentication }: PushConfig): RunWebhook {
    const authorization =
      authentication?.credentials && `${authentication.scheme} ${authentication.credentials}`;
    const headers = { ...(token && { [TOKEN]: token }), ...(authorization && { authorization }) };
    const webhook = { id: id || `push-${cut(digestOf(url), 22)}`, url, headers };
    this.#offer()(webhook);
    return webhook;
  }

  #offer(): (webhook: RunWebhook) => void {
    if (this.#check) return this.#check;
    throw new A2aError('PUSH_NOTIFICATION_NOT_SUPPORTED', 'The host allows no addresses of callers');
  }

  /** Serves a method on the configurations of a task. @returns Undefined if it is another method @throws A2aError; GatewayError */
  async serve(
    method: string,
    params: unknown,
    find: (id: string) => Promise<FoundTask>,
  ): Promise<object | null | undefined> {
    const verb = /^(Create|Get|List|Delete)TaskPushNotificationConfigs?$/.exec(method)?.[1];
    if (verb === undefined) return undefined;
    this.#offer();
    if (verb === 'Create') {
      const config = read(PARAMS.createPush, params, 'params');
      const add = this.webhookOf(config);
      const { session, info } = await find(config.taskId);
      await session.runWebhooks(info.runId, { add });
      return toConfig(config.taskId, add);
    }
    if (verb === 'List') {
      const { taskId, pageToken, pageSize } = read(PARAMS.listPush, params, 'params');
      const { session, info } = await find(taskId);
      const all = await session.runWebhooks(info.runId);
      const page = pageBehind(all, { after: pageToken || null, limit: pageSize || PAGE });
      if (!page) throw fieldError('params.pageToken', 'is no page of this list');
      const configs = page.data.map((each) => toConfig(taskId, each));
      return { configs, nextPageToken: page.hasMore ? configs.at(-1)!.id : '' };
    }
    const { taskId, id } = read(PARAMS.push, params, 'params');
    const { session, info } = await find(taskId);
    if (verb === 'Delete') {
      await session.runWebhooks(info.runId, { remove: id });
      return null;
    }
    const found = (await session.runWebhooks(info.runId)).find((each) => each.id === id);
    if (found) return toConfig(taskId, found);
    throw new A2aError('TASK_NOT_FOUND', 'The task has no such configuration');
  }
}

/** A configuration as its author reads it again: without secrets. */
function toConfig(taskId: string, { id, url, headers = {} }: RunWebhook) {
  const [scheme] = headers.authorization?.split(' ') ?? [];
  return { taskId, id, url, ...(scheme !== undefined && { authentication: { scheme } }) };
}
