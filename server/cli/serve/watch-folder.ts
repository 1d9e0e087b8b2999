import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { basename, join } from 'node:path';

/** What a change of matters: sources, JSON and environment files. */
const SOURCES = /(?:\.(?:[cm]?[jt]sx?|json)|^\.env(?:\.\w+)?)$/;
const IGNORED = new Set(['node_modules', 'dist', 'build', 'coverage', 'data']);
/** Editors write a file in several steps, and save several files at once. */
const SETTLE_MS = 100;
/** More folders than a project has; a home directory has more. */
const MOST_FOLDERS = 2000;

/**
 * Watches the sources below a folder. Folders are watched, not files, so that a file that is replaced, as many editors do, is still seen.
 *
 * @param isNeeded Keeps a folder that would be ignored, because what is served lies in it.
 * @param changed Called with the name of a file once things have settled.
 * @returns what stops it
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
      // It is gone again, or is not ours to read.
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
