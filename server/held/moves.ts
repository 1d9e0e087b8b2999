import { GatewayError } from '../../shared/errors.js';
import type { EventDraft, GatewayEvent } from '../../shared/events.js';
import { reduce } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import { lastThatFit } from '../log/fit.js';
import type { LogView } from '../log/log-view.js';
import { leadsThrough } from '../log/message-places.js';
import { depthOf, lastBehind, pathTo, repliesTo } from '../log/message-tree.js';
import { SNAPSHOT_MESSAGES } from '../log/snapshot.js';
import { withVersions } from '../log/versions.js';
import type { Checkpoint } from '../stores/stored.js';

/** The place of a message that does not follow the last one: behind another message, or in place of one on the current path. */
export type Place = { readonly parent: string | null } | { readonly replaces: string };

/** The new end of a conversation: a message, or the latest end of the conversation behind one. */
export type Goal = { readonly tip: string | null } | { readonly version: string };

/** The conversation changed since a move was planned, so the move must be planned again. */
export class Outdated extends Error {}

/** A move of a conversation to another message. Everything that needs the store is read before the move is appended. */
export class Move {
  readonly tip: string | null;
  readonly #log: LogView;
  readonly #by: string;
  readonly #path: readonly Message[];
  /** Ids of the stored messages that follow the tip. */
  readonly #stored: readonly string[];
  readonly #base: Checkpoint;
  readonly #moves: number;
  readonly #messageCount: number;

  private constructor(
    log: LogView,
    planned: { readonly base: Checkpoint; readonly moves: number },
    to: {
      readonly tip: string | null;
      readonly by: string;
      readonly path: readonly Message[];
      readonly stored: readonly string[];
      readonly messageCount: number;
    },
  ) {
    this.#log = log;
    this.#base = planned.base;
    this.#moves = planned.moves;
    this.tip = to.tip;
    this.#by = to.by;
    this.#path = to.path;
    this.#stored = to.stored;
    this.#messageCount = to.messageCount;
  }

  /**
   * Plans a move.
   *
   * @param find Finds the id of the new last message, or null for the beginning
   * @throws GatewayError `MESSAGE_NOT_FOUND`, and errors of `find`
   */
  static async plan(log: LogView, by: string, find: () => Promise<string | null>): Promise<Move> {
    const { base, moves } = log;
    const tip = await find();
    const path = tip === null ? [] : await pathTo(log, tip, SNAPSHOT_MESSAGES);
    if (tip !== null && path.length === 0) throw notFound(log, tip);
    const stored = await log.storedReplies(tip);
    const messageCount = await depthOf(log, tip);
    return new Move(log, { base, moves }, { tip, by, path, stored, messageCount });
  }

  /**
   * The event of the move, as it follows the ends of runs. Empty if the conversation then ends at the tip already.
   *
   * @throws Outdated
   */
  drafts(log: LogView, ends: readonly EventDraft[]): readonly EventDraft[] {
    if (log !== this.#log || log.base !== this.#base || log.moves !== this.#moves) throw new Outdated();
    const state = ends.reduce((folded, end) => reduce(folded, end as GatewayEvent), log.state);
    const { tip } = this;
    if (state.tip === tip) return [];
    const known = { state, aside: log.aside };
    const replies = repliesTo(known, tip, this.#stored);
    const messages = this.#carried(known);
    return [
      {
        type: 'history_moved',
        ts: Date.now(),
        tip,
        messageCount: this.#messageCount,
        by: this.#by,
        ...(messages.length > 0 && { messages }),
        ...(replies.length > 0 && { replies }),
      },
    ];
  }

  /** The end of the new path, as far as a reader that started from a snapshot may lack it. */
  #carried({ state, aside }: Pick<LogView, 'state' | 'aside'>): readonly Message[] {
    const { sureFrom, pageBytes } = this.#log;
    const sure = state.messages.slice(
      Math.max(
        0,
        state.messages.findLastIndex(({ id }) => id === sureFrom),
      ),
    );
    const fit = lastThatFit(sure.slice(-SNAPSHOT_MESSAGES), pageBytes).messages;
    const shown = new Set(fit.map(({ id }) => id));
    const carried = this.#path.slice(this.#path.findLastIndex(({ id }) => shown.has(id)) + 1);
    if (carried.length === 0) return carried;
    return lastThatFit(withVersions(carried, [...aside.values(), ...state.messages]), pageBytes).messages;
  }
}

/** Id of the message that a place is behind. @throws GatewayError `MESSAGE_NOT_FOUND`, `HISTORY_MOVED` */
export async function parentAt(log: LogView, place: Place): Promise<string | null> {
  if ('parent' in place) return place.parent;
  return (await shownMessage(log, place.replaces)).parentId ?? null;
}

/** Id of the message that a move leads to. @throws GatewayError `MESSAGE_NOT_FOUND` */
export async function tipAt(log: LogView, goal: Goal): Promise<string | null> {
  if ('tip' in goal) return goal.tip;
  if ((await pathTo(log, goal.version, 1)).length === 0) throw notFound(log, goal.version);
  return lastBehind(log, goal.version);
}

/** Whether the conversation already ends at the goal, or passes through it, with the answer that is being written. */
export async function isThere(log: LogView, goal: Goal): Promise<boolean> {
  const id = 'tip' in goal ? goal.tip : goal.version;
  if (id === null) return false;
  return log.state.run?.message.id === id || ('version' in goal && isShown(log, id));
}

/**
 * The message that an answer belongs to, or the message itself if it is not an answer.
 *
 * @param messageId Id of a message on the current path. @default the last one
 * @throws GatewayError `MESSAGE_NOT_FOUND`, `HISTORY_MOVED`
 */
export async function answered(log: LogView, messageId?: string): Promise<Message> {
  const { run, tip } = log.state;
  let id: string | null = tip;
  if (messageId !== undefined && messageId !== run?.message.id) id = (await shownMessage(log, messageId)).id;
  while (id !== null) {
    const path: readonly Message[] = await pathTo(log, id, SNAPSHOT_MESSAGES);
    const found = path.findLast(({ role }) => role !== 'assistant');
    if (found) return found;
    id = path[0]?.parentId ?? null;
  }
  throw new GatewayError({
    code: 'MESSAGE_NOT_FOUND',
    message: 'This conversation has no message to answer; send one first',
  });
}

async function shownMessage(log: LogView, id: string): Promise<Message> {
  const [message] = await pathTo(log, id, 1);
  if (!message) throw notFound(log, id);
  if (await isShown(log, id)) return message;
  throw new GatewayError({ code: 'HISTORY_MOVED', details: { messageId: id, tip: log.state.tip } });
}

async function isShown(log: LogView, id: string): Promise<boolean> {
  const { messages, tip } = log.state;
  if (messages.some((message) => message.id === id)) return true;
  let end = messages.length > 0 ? (messages[0]!.parentId ?? null) : tip;
  while (end !== null && log.aside.has(end)) {
    if (end === id) return true;
    end = log.aside.get(end)!.parentId ?? null;
  }
  const asked = await log.storedPlace(id);
  return end !== null && asked !== null && leadsThrough(log, await log.storedPlace(end), asked);
}

function notFound(log: LogView, messageId: string): GatewayError {
  return new GatewayError({
    code: 'MESSAGE_NOT_FOUND',
    message: `This session has no message ${JSON.stringify(messageId)}`,
    details: { messageId, tip: log.state.tip },
  });
}
