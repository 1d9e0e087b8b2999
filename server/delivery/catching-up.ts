/** Characters for all lagging readers together in one turn of the event loop. New events are delivered in between. */
const TURN_CHARS = 512 * 1024;
/** Smallest page that counts, in characters. */
const LEAST_CHARS = 16 * 1024;
/** Number of waiting readers that continue in one turn. */
const TURN_READERS = 8;

let spent = 0;
let isCounting = false;
const waiting: (() => void)[] = [];

/** Counts a page that a lagging reader was given. Pieces of answers are too small to count. */
export function spend(chars: number): void {
  if (chars < LEAST_CHARS) return;
  spent += chars;
  if (isCounting) return;
  isCounting = true;
  setImmediate(nextTurn);
}

/** Null if this turn has room for lagging readers. Otherwise resolves in a turn that has. */
export function room(): Promise<void> | null {
  if (spent < TURN_CHARS) return null;
  return new Promise((resolve) => waiting.push(resolve));
}

function nextTurn(): void {
  spent = 0;
  isCounting = waiting.length > 0;
  if (isCounting) setImmediate(nextTurn);
  for (const goOn of waiting.splice(0, TURN_READERS)) goOn();
}
