/** Time that background work may take of one turn of the event loop, in milliseconds. */
const BUDGET_MS = 5;

const waiting: (() => void)[] = [];
let isUnderWay = false;

/**
 * Resolves in a later turn of the event loop in which background work has time left, for one caller after the other. Ask before each piece of work that
 * may be one of many: all callers of this process share the time of a turn.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (isUnderWay) return;
    isUnderWay = true;
    setImmediate(work);
  });
}

async function work(): Promise<void> {
  const end = performance.now() + BUDGET_MS;
  for (let next = waiting.shift(); next; next = performance.now() < end ? waiting.shift() : undefined) {
    next();
    // The caller works before this continues, and may ask again.
    await null;
  }
  isUnderWay = waiting.length > 0;
  if (isUnderWay) setImmediate(work);
}
