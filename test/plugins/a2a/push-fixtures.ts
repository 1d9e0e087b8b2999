import type { TaskPushNotificationConfig } from '@a2a-js/sdk';
import { defineApp, type NotifyOptions } from '../../../server/index.js';
import type { Received } from '../../notices/receiver.js';
import { says } from './fixtures.js';

export const STATES = { asks: 'TASK_STATE_INPUT_REQUIRED', done: 'TASK_STATE_COMPLETED' };

/** Says something, or asks first if it is told to. */
export const app = defineApp({
  resumable: true,
  async *run(turn) {
    if (turn.text === 'ask') yield `${await turn.ask({ name: 'answer' })}`;
    else if (turn.text === 'child')
      yield (
        await turn.spawn('asker', {
          message: 'x',
          id: 'c1',
          async *run(own) {
            yield `${await own.ask({ name: 'answer' })}`;
          },
        }).result
      ).text;
    else if (turn.text === 'wait')
      await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
    else yield 'done';
  },
});
export const OPEN: NotifyOptions = { runWebhooks: {}, allowPrivate: true };

export const config = (
  url: string,
  more: Partial<TaskPushNotificationConfig> = {},
): TaskPushNotificationConfig => ({
  ...{ tenant: '', id: '', taskId: '', url, token: '', authentication: undefined },
  ...more,
});

/** A message whose task is told to an address. */
export const toldTo = (
  text: string,
  taskPushNotificationConfig: TaskPushNotificationConfig,
  more: object = {},
) => ({
  ...says(text, more),
  configuration: {
    ...{ acceptedOutputModes: [], returnImmediately: true, historyLength: undefined },
    taskPushNotificationConfig,
  },
});

export const update = ({ body }: Received): any => (body as any).statusUpdate;
export const stateOf = (received: Received): string => update(received).status.state;
export const said = (all: readonly Received[]): string[] => all.map(stateOf);
