import { LogView } from '../log/log-view.js';
import { pathTo } from '../log/message-tree.js';
import type { Store } from '../stores/store.js';
import { type CopiedEnd, type CopyCounts, CopyTally } from './lines.js';
import { copyLines } from './read-store.js';

/** The contents of a store in numbers, and its faults. */
export interface VerifiedStore extends CopyCounts {
  /** A sentence for each session whose parts do not fit together. */
  readonly faults: readonly string[];
}

/**
 * Reads all that a store keeps, and folds each conversation.
 *
 * @param store An open store that nobody writes to
 * @throws GatewayError `INVALID_REQUEST` for a store that can't tell its scopes; `STORE_FAILED` for a log that lacks events
 */
export async function verifyStore(store: Store): Promise<VerifiedStore> {
  const tally = new CopyTally();
  const faults: string[] = [];
  let next = 0;
  for await (const line of copyLines(store)) {
    tally.add(line);
    if ('log' in line) next = line.log.after + 1;
    if ('events' in line)
      for (const { seq } of line.events) {
        if (seq !== next) faults.push(`event ${next} is missing before ${seq}`);
        next = seq + 1;
      }
    if (!('end' in line)) continue;
    const fault = await faultOf(store, line.end);
    const { scope, app, name, epoch } = line.end.ref;
    if (fault !== null) faults.push(`${app}:${name} of ${scope} (${epoch}): ${fault}`);
  }
  return { ...tally.counts, faults };
}

async function faultOf(store: Store, { ref, about }: CopiedEnd): Promise<string | null> {
  const head = await store.head(ref, ref.epoch);
  if (!head) return 'its log is gone';
  const view = new LogView(store, ref, head);
  const { tip, messageCount } = await view.folded();
  const path = tip === null ? [] : await pathTo(view, tip, Number.POSITIVE_INFINITY);
  if (path.length !== messageCount) return `${path.length} of ${messageCount} messages are there`;
  if (about && about.messageCount !== messageCount)
    return `its list entry counts ${about.messageCount} messages, and it has ${messageCount}`;
  return null;
}
