/** Characters that readers who catch up are given in one turn of the event loop, all together: what happens now gets its turn in between. */
const TURN_CHARS = 512 * 1024;
/** What is counted, in characters. */
const LEAST_CHARS = 16 * 1024;
/** Readers who waited that go on in a turn. */
const TURN_READERS = 8;

let spent = 0;
let isCounting = false;
const waiting: (() => void)[] = [];

/** Counts what a reader was given that is behind. A piece of an answer is nothing to wait for. */
export function spend(chars: number): void {
  if (chars < LEAST_CHARS) return;
  spent += chars;
  if (isCounting) return;
  isCounting = true;
  setImmediate(nextTurn);
}

/** Null while this turn has room for those who catch up; otherwise it resolves in one that has. */
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
