import type { z } from 'zod';
import type { Person } from '../../auth/types.js';
import { nameIn } from '../conversation/app-names.js';
import { fieldError, orNull } from '../conversation/errors.js';
import { pageBehind } from '../conversation/pages.js';
import { runsIn } from '../conversation/runs.js';
import { stateOf } from '../conversation/state.js';
import type { PluginContext } from '../plugin.js';
import type { A2aTask } from './objects.js';
import type { PARAMS } from './request.js';
import { findTask, taskOf } from './tasks.js';
import { taskId } from './writer.js';

/** The number of contexts, last used, whose tasks are listed if none is named. */
const CONTEXTS = 20;
const PAGE = 50;

/** Lists tasks, last changed first. @throws GatewayError */
export async function listTasks(
  context: PluginContext,
  by: { readonly app: string; readonly person: Person },
  asked: z.infer<typeof PARAMS.list>,
): Promise<object> {
  const { contextId, status, statusTimestampAfter: after, includeArtifacts, pageToken } = asked;
  const all: A2aTask[] = [];
  for (const each of contextId ? [contextId] : await contextsOf(context, by))
    all.push(...(await tasksIn(context, by, each)));
  const wanted = all
    .filter((task) => !status || task.status.state === status)
    .filter((task) => !after || Date.parse(task.status.timestamp) >= Date.parse(after))
    .sort((a, b) => (a.status.timestamp < b.status.timestamp ? 1 : -1));
  const page = pageBehind(wanted, { after: pageToken || null, limit: asked.pageSize || PAGE });
  if (!page) throw fieldError('params.pageToken', 'is no page of this list');
  const tasks = page.data.map(({ artifacts, history, ...task }) => ({
    ...task,
    ...(includeArtifacts && { artifacts }),
    ...(asked.historyLength !== 0 && { history }),
  }));
  const nextPageToken = page.hasMore ? tasks.at(-1)!.id : '';
  return { tasks, nextPageToken, pageSize: tasks.length, totalSize: wanted.length };
}

async function contextsOf(context: PluginContext, { app, person }: Parameters<typeof listTasks>[1]) {
  const { sessions } = await context.sessions(person, { app, limit: CONTEXTS });
  return sessions.map(({ sessionId }) => nameIn(sessionId));
}

/** The tasks of a context that its state has. One of a message that a fork has copied is not known. */
async function tasksIn(context: PluginContext, by: Parameters<typeof listTasks>[1], contextId: string) {
  const state = await orNull(() => stateOf(context.session(`${by.app}:${contextId}`, by.person)));
  if (!state) return [];
  const tasks: A2aTask[] = [];
  for (const runId of runsIn(state)) {
    const id = taskId(contextId, runId);
    const task = await orNull(async () => taskOf(await findTask(context, { ...by, id })));
    if (task) tasks.push(task);
  }
  return tasks;
}
