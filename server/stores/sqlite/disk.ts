import { closeSync, fdatasync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { StoreError } from '../append.js';
import type { SqliteDatabase } from './driver.js';

const sync = promisify(fdatasync);

/** Frames of the write-ahead log after which its pages are moved into the file: 4 MB. Moving them takes the event loop a few milliseconds. */
const FRAMES = 1000;
/** Bounds of the number of commits between two moves. Commits differ in size, which only a move tells. */
const COMMITS = { first: 100, least: 10, most: 5000 };
/** Length of the header of a write-ahead log, in bytes. Without it nothing of the log is read. */
const HEADER = 32;
const DONE = Promise.resolve();

/**
 * Has what SQLite wrote put on the disk, by threads, so that the event loop goes on. SQLite itself syncs nothing then, and moves no page of its
 * write-ahead log into the file. Both are done here, in the order that a loss of power asks for:
 *
 * 1. The log is synced, and nothing is committed meanwhile, so that no page is in the file that is not in the log.
 * 2. Its pages are written into the file.
 * 3. The file is synced, before the next commit overwrites the log from its beginning.
 * 4. The log's header is erased and synced, so that a log that is overwritten in part is not taken for the former one.
 */
export class DiskSync {
  readonly #file: number;
  readonly #log: number;
  readonly #move;
  /** Commits so far, and how many of them are on the disk. */
  #commits = 0;
  #synced = 0;
  #running: Promise<void> = DONE;
  #next: Promise<void> | null = null;
  #moving: Promise<void> | null = null;
  /** The rest of a move whose pages are in the file. */
  #left: 'sync file' | 'sync log' | null = null;
  #commitsLeft = COMMITS.first;
  /** Commits at the last move. */
  #movedAt = 0;
  #failure: StoreError | null = null;
  #isOpen = true;

  /** @param path The database file, whose write-ahead log must exist. */
  constructor(db: SqliteDatabase, path: string) {
    this.#file = openSync(path, 'r+');
    this.#log = openSync(`${path}-wal`, 'r+');
    db.exec('PRAGMA wal_autocheckpoint = 0');
    this.#move = db.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  }

  /** Whether a commit may be made now without holding up the event loop. */
  get isFree(): boolean {
    return this.#moving === null;
  }

  /** Resolves when a commit may be made without holding up the event loop. */
  async free(): Promise<void> {
    while (this.#moving) await this.#moving;
  }

  /**
   * Call it before a transaction. If one cannot wait for `free`, the rest of the move is done now.
   *
   * @throws StoreError `UNKNOWN` after a sync has failed
   */
  ready(): void {
    if (this.#failure) throw this.#failure;
    if (!this.#left) return;
    try {
      if (this.#left === 'sync file') {
        fdatasyncSync(this.#file);
        this.#eraseHeader();
      }
      fdatasyncSync(this.#log);
    } catch (error) {
      throw this.#fail(error);
    }
    this.#left = null;
  }

  /** Call it after a commit. */
  committed(): void {
    this.#commits += 1;
    this.#commitsLeft -= 1;
    if (this.#commitsLeft > 0 || this.#moving) return;
    this.#moving = this.#moveAll()
      // Commits are safe in the log, and the next move tries again.
      .catch(() => {})
      .finally(() => {
        this.#moving = null;
      });
  }

  /**
   * Resolves once everything that was committed by now is on the disk.
   *
   * @throws StoreError `UNKNOWN`: it may be lost with the power, and nothing is taken any more
   */
  synced(): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    if (this.#synced === this.#commits) return DONE;
    // A sync that is under way may miss what was committed since it began.
    this.#next ??= this.#running.then(() => {
      this.#next = null;
      const upTo = this.#commits;
      this.#running = this.#sync(this.#log).then(() => {
        this.#synced = upTo;
      });
      return this.#running;
    });
    return this.#next;
  }

  async #sync(file: number): Promise<void> {
    try {
      await sync(file);
    } catch (error) {
      // The end has synced everything, and closed the file.
      if (this.#isOpen || this.#failure) throw this.#fail(error);
    }
  }

  /** After a failed sync the system may hold pages for written that are not, so that another sync would say nothing. */
  #fail(error: unknown): StoreError {
    this.#failure ??= new StoreError(
      'UNKNOWN',
      'The disk could not be synced, so the last writes may be lost: stop, look at the disk, and start again',
      { cause: error },
    );
    return this.#failure;
  }

  async #moveAll(): Promise<void> {
    // Work that does not wait may commit between two syncs.
    do await this.synced();
    while (this.#synced < this.#commits);
    if (!this.#isOpen) return;
    this.#commitsLeft = COMMITS.first;
    const commits = this.#commits;
    const { log, checkpointed } = this.#move.get()!;
    const frames = log as number;
    // The log goes on behind pages that could not be moved, and nothing of it is overwritten.
    if (frames <= 0 || checkpointed !== frames) return;
    this.#commitsLeft = this.#commitsFor(frames, commits);
    this.#left = 'sync file';
    await this.#sync(this.#file);
    if (this.#left !== 'sync file') return;
    this.#eraseHeader();
    this.#left = 'sync log';
    await this.#sync(this.#log);
    this.#left = null;
  }

  /** The commits that will fill the log again, if they are as large as those that filled it. */
  #commitsFor(frames: number, commits: number): number {
    const each = (commits - this.#movedAt) / frames;
    this.#movedAt = commits;
    return Math.max(COMMITS.least, Math.min(COMMITS.most, Math.round(FRAMES * each)));
  }

  #eraseHeader(): void {
    writeSync(this.#log, new Uint8Array(HEADER), 0, HEADER, 0);
  }

  /** Syncs everything now. SQLite alone has the files from then on. @throws StoreError `UNKNOWN` */
  end(): void {
    this.ready();
    try {
      fdatasyncSync(this.#log);
    } catch (error) {
      throw this.#fail(error);
    } finally {
      this.#isOpen = false;
    }
    this.#synced = this.#commits;
  }

  /** Closes the files, after SQLite has closed them: closing one lets go of all locks on it. */
  close(): void {
    for (const file of [this.#file, this.#log]) closeSync(file);
  }
}
