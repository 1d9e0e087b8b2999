import { setTimeout as delay } from 'node:timers/promises';
import { defineApp, type StepContext } from '../../server/index.js';

/** The world of an app: what it did, and whether those that stand may go on. */
export interface DeployedWorld {
  did(key: string): boolean;
  effect(key: string): void;
  isReleased(): boolean;
}

/** Whether version 3 cannot go on with a run of this message. */
export const isChanged = (text: string): boolean => Number(text.split(' ')[1]) % 2 === 0;

/** An app in three versions: 1, 2 that goes on with all of it, and 3 that has another first step in half of its runs. */
export function deployedApp(version: string, { did, effect, isReleased }: DeployedWorld) {
  return defineApp({
    version,
    ...(version !== '1' && { accepts: version === '2' ? ['1', '3'] : '*' }),
    resumable: true,
    async *run(turn) {
      const once = (name: string) =>
        turn.step(name, ({ key, interrupted }: StepContext) => {
          if (!(interrupted && did(key))) effect(key);
          return key;
        });
      yield `Taking ${turn.text}. `;
      await once(version === '3' && isChanged(turn.text) ? 'order' : 'reserve');
      if (turn.text.startsWith('park'))
        yield `Heard ${await turn.ask({ name: 'approve', payload: turn.text })}. `;
      else while (!isReleased()) await delay(100, null, { signal: turn.signal });
      await once('charge');
      yield 'Done.';
    },
  });
}
