/** The longest delay of a Node timer. A longer one would fire at once. */
export const MAX_DELAY_MS = 2 ** 31 - 1;

/** Calls back after `ms` milliseconds, unless cancelled. Never calls if `ms` is undefined or infinite. */
export function startDeadline(ms: number | undefined, onTimeout: () => void): () => void {
  if (ms === undefined || ms === Number.POSITIVE_INFINITY) return () => {};
  const timer = setTimeout(onTimeout, Math.min(ms, MAX_DELAY_MS));
  return () => clearTimeout(timer);
}

/** Calls back every `ms` milliseconds until cleared, without keeping the process alive. Never calls if `ms` is infinite. */
export function every(ms: number, work: () => void): NodeJS.Timeout | undefined {
  return ms === Number.POSITIVE_INFINITY ? undefined : setInterval(work, ms).unref();
}

/** Settles as `work` does, or rejects with the error of `onTimeout`, whichever comes first. Drops a later outcome. */
export function settleWithin<Value>(
  work: PromiseLike<Value>,
  ms: number | undefined,
  onTimeout: () => { readonly error: unknown; readonly after?: () => void },
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const cancel = startDeadline(ms, () => {
      const { error, after } = onTimeout();
      reject(error);
      after?.();
    });
    work.then(
      (value) => {
        cancel();
        resolve(value);
      },
      (error: unknown) => {
        cancel();
        reject(error);
      },
    );
  });
}

/** Waits for work to settle, at most `ms` milliseconds. @returns Whether it has. Rejects if the work does */
export async function within(work: Promise<unknown>, ms: number | undefined): Promise<boolean> {
  let cancel = (): void => {};
  const late = new Promise<false>((resolve) => {
    cancel = startDeadline(ms, () => resolve(false));
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    cancel();
  }
}
