const LOOK_MS = 500;

/**
 * Calls back once when the process that started this one has ended. A signal for `npm start` reaches the shell in between, which dies
 * of it and passes nothing on.
 */
export function onOrphaned(ended: () => void): void {
  const parent = process.ppid;
  const looking = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(looking);
    ended();
  }, LOOK_MS).unref();
}
