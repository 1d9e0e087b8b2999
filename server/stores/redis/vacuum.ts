import { StoreError } from '../append.js';
import { type Keys, PARTITIONS } from './keys.js';
import type { Link } from './link.js';

/** The interval at which Redis is asked whether it has rewritten its file. */
const POLL_MS = 50;
/** The time within which a rewrite must begin. */
const BEGIN_MS = 5000;

const fieldOf = (info: unknown, name: string): string =>
  new RegExp(`^${name}:([^\\r\\n]*)`, 'm').exec(String(info))?.[1] ?? '';

/**
 * Has each Redis rewrite its append-only file, which still contains dropped data.
 *
 * @throws StoreError if Redis refuses the command, or failed
 */
export async function rewriteFiles(link: Link, keys: Keys, isCluster: boolean): Promise<void> {
  const nodes = await nodesOf(link, keys, isCluster);
  await Promise.all(nodes.map((key) => rewriteFile(link, key)));
}

/** A key of each process of Redis that keeps sessions. */
export async function nodesOf(link: Link, keys: Keys, isCluster: boolean): Promise<readonly string[]> {
  // In a Cluster only a key addresses a node, and each node has some of the partitions.
  const parts = Array.from({ length: isCluster ? PARTITIONS : 1 }, (_, i) => keys.partition(i).busy);
  const infos = await Promise.all(parts.map((key) => link.send(key, ['INFO', 'server'])));
  return [...new Map(parts.map((key, i) => [fieldOf(infos[i], 'run_id'), key])).values()];
}

async function rewriteFile(link: Link, key: string): Promise<void> {
  const info = (): Promise<unknown> => link.send(key, ['INFO', 'persistence']);
  if (fieldOf(await info(), 'aof_enabled') !== '1') return;
  // A rewrite in progress may have read the data before it was dropped.
  await rewritten(info);
  const startedAt = performance.now();
  while (!(await begin(link, key))) {
    if (performance.now() - startedAt > BEGIN_MS)
      throw new StoreError(
        'UNAVAILABLE',
        'Redis is always rewriting its append-only file; erase again later',
      );
    await rewritten(info);
  }
  await rewritten(info);
  if (fieldOf(await info(), 'aof_last_bgrewrite_status') !== 'ok')
    throw new StoreError('UNAVAILABLE', 'Redis could not rewrite its append-only file; its log says why');
}

/** Returns whether our rewrite was begun. If another one is in progress, it is not. */
async function begin(link: Link, key: string): Promise<boolean> {
  try {
    await link.send(key, ['BGREWRITEAOF']);
    return true;
  } catch (error) {
    if (/already in progress/i.test((error as Error).message)) return false;
    throw error;
  }
}

async function rewritten(info: () => Promise<unknown>): Promise<void> {
  for (;;) {
    const said = await info();
    const isWriting = ['aof_rewrite_in_progress', 'aof_rewrite_scheduled'].some(
      (name) => fieldOf(said, name) === '1',
    );
    if (!isWriting) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
