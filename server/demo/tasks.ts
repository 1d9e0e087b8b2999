import * as z from 'zod';
import { GatewayError, getContext, method } from '../index.js';

/** A task of the demo's list. */
export interface Task {
  readonly id: number;
  readonly title: string;
  /** ISO 8601. */
  readonly createdAt: string;
}

const MAX_TASKS = 1000;

/** The demo's custom methods: a list of tasks per user, in memory, which an admin can clear. */
export function createTaskMethods() {
  const lists = new Map<string, Task[]>();
  let lastId = 0;

  const own = (): Task[] => {
    const { id } = getContext().user!;
    const list = lists.get(id) ?? [];
    lists.set(id, list);
    return list;
  };

  return {
    tasks: {
      create: method({
        description: 'Adds a task to your list',
        schema: z.object({ title: z.string().min(1).max(200) }),
        handler: async ({ title }) => {
          const list = own();
          if (list.length >= MAX_TASKS) {
            throw new GatewayError({
              code: 'TOO_MANY_TASKS',
              status: 409,
              message: `A list holds ${MAX_TASKS} tasks`,
            });
          }
          lastId += 1;
          const task: Task = { id: lastId, title, createdAt: new Date().toISOString() };
          list.push(task);
          return task;
        },
      }),
      list: method({
        description: 'Your tasks, oldest first',
        handler: async () => [...own()],
      }),
      admin: {
        archive: method({
          description: "Drops everybody's tasks made before a day (UTC)",
          roles: ['admin'],
          schema: z.object({ before: z.iso.date() }),
          handler: async ({ before }) => {
            let archived = 0;
            for (const [id, list] of lists) {
              const kept = list.filter(({ createdAt }) => createdAt >= before);
              archived += list.length - kept.length;
              lists.set(id, kept);
            }
            return { archived };
          },
        }),
      },
    },
  };
}
