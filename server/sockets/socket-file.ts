import cluster from 'node:cluster';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  renameSync,
  type Stats,
  statSync,
  unlinkSync,
} from 'node:fs';
import { connect, type Server } from 'node:net';
import { dirname } from 'node:path';
import { GatewayError } from '../../shared/errors.js';

/** Longest path that every system accepts, less the name that the socket has while it is made. */
const MAX_PATH_BYTES = 96;
/** Stale files to remove before giving up, because another process must be creating them. */
const TRIES = 5;
const STICKY = 0o1000;

/**
 * The file of a Unix socket. It is made under another name and then linked to its own. So it can never be reached with the wrong mode, and
 * Node, which removes the path that it has bound, never removes a file of another process.
 */
export class SocketFile {
  readonly path: string;
  /** Whether other users can make files beside it, and so serve clients under its name while no gateway runs. */
  readonly isShared: boolean;
  readonly #made: string;
  readonly #option: string;
  #mine: Stats | null = null;

  /**
   * @param option Name of the option with the path, for errors.
   * @throws GatewayError `INVALID_REQUEST` for a path that is too long, or a directory that others can enter
   */
  constructor(path: string, option = 'socketPath') {
    this.#option = option;
    if (Buffer.byteLength(path) > MAX_PATH_BYTES)
      throw this.#refused(`a path is limited to ${MAX_PATH_BYTES} bytes`);
    const directory = dirname(path);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const { mode, uid } = statSync(directory);
    const own = uid === process.getuid?.();
    // In a sticky directory, such as /tmp, other users cannot replace the file, but can take its name while no gateway runs.
    this.isShared = (mode & STICKY) !== 0 && (own || uid === 0) && (mode & 0o077) !== 0;
    if (!this.isShared && (!own || (mode & 0o077) !== 0)) {
      throw this.#refused(`the directory ${directory} must belong to this user alone (chmod 700)`);
    }
    this.path = path;
    // Workers of a cluster use the same name, so they share one socket on which all of them listen.
    const name = cluster.isWorker ? process.ppid.toString(36) : randomBytes(3).toString('hex');
    // Node takes `.781` for a port, and drops the directory for workers where it is the present one.
    this.#made = `${directory}/.s${name}`;
  }

  /** Binds a server to the socket. @throws GatewayError `ADDRESS_IN_USE` if a live server or another file has its name */
  async bind(server: Server): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#made, () => {
        server.off('error', reject);
        resolve();
      });
    });
    if (this.#isPlaced()) return;
    for (let tries = 0; tries < TRIES; tries++) {
      if (this.#place()) {
        this.#mine = lstatSync(this.path);
        return;
      }
      await this.#clear();
    }
    throw this.#inUse('another process keeps taking it');
  }

  /** Whether another worker has already given the shared socket its name. */
  #isPlaced(): boolean {
    const [made, placed] = [statOf(this.#made), statOf(this.path)];
    const isIt = cluster.isWorker && placed !== null && (made === null || made.ino === placed.ino);
    if (isIt) this.#mine = placed;
    return isIt;
  }

  /** Removes the file, unless another process has replaced it. */
  remove(): void {
    try {
      const mine = this.#mine;
      const { ino, dev } = lstatSync(this.path);
      // The inode number of a bound socket's file is not reused.
      if (mine?.ino === ino && mine.dev === dev) unlinkSync(this.path);
    } catch {
      // Another process has removed the file already.
    }
  }

  /** Gives the socket its name. False if another file has the name. */
  #place(): boolean {
    try {
      chmodSync(this.#made, 0o600);
      linkSync(this.#made, this.path);
      unlinkSync(this.#made);
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST' || code === 'ENOENT') return this.#isPlaced();
      // Some file systems cannot link sockets.
      if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EOPNOTSUPP') throw error;
      if (statOf(this.path)) return false;
      renameSync(this.#made, this.path);
      return true;
    }
  }

  /** Removes a socket of the same user on which no process listens any more. */
  async #clear(): Promise<void> {
    const found = statOf(this.path);
    if (!found) return;
    if (!found.isSocket()) throw this.#inUse('there is a file that is not a socket');
    if (found.uid !== process.getuid?.()) throw this.#inUse('the socket there belongs to another user');
    if (await isLive(this.path)) throw this.#inUse('another gateway listens there');
    const now = statOf(this.path);
    const same = now?.ino === found.ino && now.dev === found.dev && now.ctimeMs === found.ctimeMs;
    if (same) unlinkSync(this.path);
  }

  #refused(why: string): GatewayError {
    const details = [{ path: this.#option, message: why }];
    return new GatewayError({ code: 'INVALID_REQUEST', message: `${this.#option}: ${why}`, details });
  }

  #inUse(why: string): GatewayError {
    const details = [{ path: this.#option, message: why }];
    return new GatewayError({
      code: 'ADDRESS_IN_USE',
      message: `${this.#option} ${this.path}: ${why}`,
      details,
    });
  }
}

function statOf(path: string): Stats | null {
  return lstatSync(path, { throwIfNoEntry: false }) ?? null;
}

function isLive(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    // Any other error, for example a full queue, shows that a process listens.
    socket.once('error', ({ code }: NodeJS.ErrnoException) =>
      resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT'),
    );
  });
}
