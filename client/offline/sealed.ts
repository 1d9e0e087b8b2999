import type { Disk } from './disk.js';
import type { PersistOptions } from './persistence.js';

/** A disk with encrypted values. */
export function sealed(disk: Disk, encryption: PersistOptions['encryption']): Disk {
  if (!encryption) return disk;
  return {
    ...disk,
    get: async (key) => {
      const value = await disk.get(key);
      if (value == null) return undefined;
      try {
        return await encryption.open(value);
      } catch {
        // The value was sealed under a key that is gone.
        await disk.delete(key);
        return undefined;
      }
    },
    set: async (key, value, durability) => disk.set(key, await encryption.seal(value), durability),
  };
}
