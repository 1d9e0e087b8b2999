/** A store of texts by key. Its errors are reported and stop nothing. */
export interface Disk {
  get(key: string): Promise<string | null | undefined>;
  /** @param durability `strict` also survives a loss of power, if the device offers that */
  set(key: string, value: string, durability?: 'strict'): Promise<void>;
  delete(key: string): Promise<void>;
  keys(): Promise<readonly string[]>;
}

/** A storage as browsers and React Native have it: `localStorage`, `AsyncStorage`, MMKV with an adapter. */
export interface StorageLike {
  getItem(key: string): string | null | undefined | Promise<string | null | undefined>;
  setItem(key: string, value: string): unknown;
  removeItem(key: string): unknown;
  /** `AsyncStorage` has this; others have `key` and `length`. */
  getAllKeys?(): readonly string[] | Promise<readonly string[]>;
  key?(index: number): string | null;
  readonly length?: number;
}

/** A storage as a disk, whose keys begin with a prefix. */
export function storageDisk(storage: StorageLike, prefix: string): Disk {
  const all = async (): Promise<readonly string[]> =>
    (await storage.getAllKeys?.()) ??
    Array.from({ length: storage.length ?? 0 }, (_, at) => storage.key?.(at) ?? '');
  return {
    get: async (key) => storage.getItem(prefix + key),
    set: async (key, value) => void (await storage.setItem(prefix + key, value)),
    delete: async (key) => void (await storage.removeItem(prefix + key)),
    keys: async () =>
      (await all()).filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length)),
  };
}

const STORE = 'kept';

/** A database of the browser's as a disk. */
export function indexedDbDisk(name: string): Disk {
  let opened: Promise<IDBDatabase> | undefined;
  const open = (): Promise<IDBDatabase> =>
    new Promise((resolve, reject) => {
      const request = indexedDB.open(name, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(STORE);
      request.onsuccess = () => {
        // The user, or the browser for want of room, may delete the database without waiting for this page.
        request.result.onversionchange = () => {
          request.result.close();
          opened = undefined;
        };
        request.result.onclose = () => {
          opened = undefined;
        };
        resolve(request.result);
      };
      request.onerror = () => reject(request.error);
    });
  /** Resolves when the browser has stored it, even if the page crashes; with `strict`, even if the machine does. */
  const run = async <T>(
    mode: IDBTransactionMode,
    work: (store: IDBObjectStore) => IDBRequest<T>,
    durability: IDBTransactionDurability = 'relaxed',
  ): Promise<T> => {
    opened ??= open();
    const database = await opened.catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, mode, { durability });
      const request = work(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
    });
  };
  return {
    get: (key) => run<string | undefined>('readonly', (store) => store.get(key)),
    set: async (key, value, durability) =>
      void (await run('readwrite', (store) => store.put(value, key), durability)),
    delete: async (key) => void (await run('readwrite', (store) => store.delete(key))),
    keys: async () => (await run('readonly', (store) => store.getAllKeys())).map(String),
  };
}
