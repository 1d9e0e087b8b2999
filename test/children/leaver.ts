import { type Application, defineApp, type Turn } from '../../server/index.js';
import { textOf } from '../../shared/messages.js';

/** An app that leaves a child behind, and says what began each of its runs. */
export function leaver(child: (turn: Turn) => unknown): Application {
  return defineApp({
    resumable: true,
    run: async (turn: Turn) => {
      const { trigger } = turn;
      if (trigger?.type === 'child') return `heard ${trigger.id} ${trigger.stopReason}: ${turn.text}`;
      turn.spawn('work', { message: 'work', id: 'work', detached: true, wakes: true, run: child as never });
      return 'left';
    },
  });
}

/** Whether an event is the end of such a run. */
export const isHeard = ({ event, data }: { readonly event: string; readonly data: any }): boolean =>
  event === 'message_end' && /^heard/.test(textOf(data.message));
