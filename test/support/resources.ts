type Close = () => unknown;

const open: Close[] = [];
const shared: Close[] = [];

/** Has something closed after the running test, last opened first. */
export function closeLater<T>(resource: T, close: (resource: T) => unknown): T {
  open.push(() => close(resource));
  return resource;
}

export async function closeAll(): Promise<void> {
  for (const close of open.splice(0).reverse()) await close();
}

/** Has something closed that many tests use, after the last of them. */
export function closeAtLast<T>(resource: T, close: (resource: T) => unknown): T {
  shared.push(() => close(resource));
  return resource;
}

export async function closeShared(): Promise<void> {
  for (const close of shared.splice(0).reverse()) await close();
}
