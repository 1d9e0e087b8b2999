import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { basename, join } from 'node:path';

/** Files whose changes count: sources, JSON and environment files. */
const SOURCES = /(?:\.(?:[cm]?[jt]sx?|json)|^\.env(?:\.\w+)?)$/;
const IGNORED = new Set(['node_modules', 'dist', 'build', 'coverage', 'data']);
/** Quiet time before a change is reported, in milliseconds. Editors write a file in several steps, and several files at once. */
const SETTLE_MS = 100;
/** Most folders that are watched: more than a project has, fewer than a home directory. */
const MOST_FOLDERS = 2000;

/**
 * Watches the sources below a folder. Watches folders instead of files, because many editors replace a file.
 *
 * @param isNeeded Keeps a folder that would be ignored, because the served file is in it.
 * @param changed Called with the name of a changed file after the quiet time.
 * @returns a function that stops the watch
 */
export function watchFolder(
  root: string,
  isNeeded: (folder: string) => boolean,
  changed: (file: string) => void,
): () => void {
  const watchers = new Map<string, FSWatcher>();
  let settling: NodeJS.Timeout | undefined;

  const notice = (folder: string, name: string) => {
    const path = join(folder, name);
    if (SOURCES.test(name)) {
      clearTimeout(settling);
      settling = setTimeout(() => changed(path), SETTLE_MS);
    } else if (isFolder(path)) add(path);
    else forget(path);
  };
  const forget = (folder: string) => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  const add = (folder: string) => {
    const name = basename(folder);
    const isIgnored = folder !== root && (name.startsWith('.') || IGNORED.has(name)) && !isNeeded(folder);
    if (isIgnored || watchers.has(folder) || watchers.size >= MOST_FOLDERS) return;
    try {
      const watcher = watch(folder, (_event, file) => file !== null && notice(folder, file));
      watchers.set(
        folder,
        watcher.on('error', () => forget(folder)),
      );
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        if (entry.isDirectory()) add(join(folder, entry.name));
      }
    } catch {
      // The folder is gone again, or not readable.
    }
  };
  add(root);
  return () => {
    clearTimeout(settling);
    for (const watcher of watchers.values()) watcher.close();
  };
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
