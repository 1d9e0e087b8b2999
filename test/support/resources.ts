type Close = () => unknown;

const open: Close[] = [];
const shared: Close[] = [];

/** Has something closed after the running test, last opened first. */
export function closeLater<T>(resource: T, close: (resource: T) => unknown): T {
  open.push(() => close(resource));
  return resource;
}

export const closeAll = (): Promise<void> => closeEach(open);

/** Closes them all, also where one of them fails: what is left open disturbs whatever comes after it. */
async function closeEach(list: Close[]): Promise<void> {
  const failures: unknown[] = [];
  for (const close of list.splice(0).reverse()) {
    try {
      await close();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** Has something closed that many tests use, after the last of them. */
export function closeAtLast<T>(resource: T, close: (resource: T) => unknown): T {
  shared.push(() => close(resource));
  return resource;
}

export const closeShared = (): Promise<void> => closeEach(shared);
