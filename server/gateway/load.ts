import type { ParsedConfig } from '../config/parse.js';
import { OverloadLog } from '../lifecycle/overload-log.js';
import { HeapRoom } from '../limits/heap-room.js';
import { LoopDelay } from '../limits/loop-delay.js';

/** The parts that tell when a gateway has more to do than it can. */
export interface Load {
  readonly load: LoopDelay;
  readonly heap: HeapRoom;
  readonly overload: OverloadLog;
}

export function createLoad({ limits, logger, id }: ParsedConfig): Load {
  const overload = new OverloadLog(logger, id);
  const admits = (): void => overload.admits();
  const load = new LoopDelay(limits.loopDelayMs, {
    refuses: (delayMs) =>
      overload.refuses(`the event loop is ${Math.round(delayMs)} ms late (limits.loopDelayMs)`, delayMs),
    admits,
  });
  const heap = new HeapRoom(limits.heapShare, {
    refuses: (used) =>
      overload.refuses(`${Math.round(used * 100)}% of the heap is used (limits.heapShare)`, load.delayMs),
    admits,
  });
  return { load, heap, overload };
}
