import type { PresenceChange, PresenceMember } from '../../shared/presence.js';
import { within } from '../async/deadline.js';
import { type Errands, errand } from '../cluster/errands.js';
import type { Report } from '../diagnostics/log-facts.js';
import { textOfHome } from '../stores/records.js';
import type { SessionRef } from '../stores/store.js';
import { Roster, type RosterListener } from './roster.js';

/** What a gateway tells another of who is in its sessions. */
interface Told {
  readonly holder: string;
  /** Whether nobody else is there at that gateway. */
  readonly whole: boolean;
  readonly sessions: readonly { readonly key: string; readonly change: PresenceChange }[];
}

const TELL = errand<Told, null>('presence');
const ASK = errand<null, Told>('present');

/** What presence works with. */
export interface PresenceOptions {
  /** How to reach the other gateways. */
  readonly errands: Errands;
  readonly heartbeatMs: number;
  readonly report: Report;
}

/** How long the others are waited for that are asked who they have, in milliseconds. */
const ASK_MS = 500;

/**
 * Who is in the sessions, at all gateways. Nothing of it is stored: each gateway tells the others of its own when that changes, and all
 * of it again with each heartbeat. One that was silent for two of them has nobody.
 */
export class PresenceBoard {
  readonly #options: PresenceOptions;
  readonly #rosters = new Map<string, Roster>();
  /** When the others were heard; monotonic milliseconds. */
  readonly #heard = new Map<string, number>();
  #beat: NodeJS.Timeout | null = null;
  #isClosed = false;
  /** All that the others have was asked for. */
  #asked: Promise<unknown> | null = null;

  constructor(options: PresenceOptions) {
    this.#options = options;
    options.errands.on(TELL, (told) => {
      this.#hear(told);
      return null;
    });
    options.errands.on(ASK, () => this.#own());
  }

  /** Who is in a session, by now. */
  members(ref: SessionRef): readonly PresenceMember[] {
    return this.#rosters.get(textOfHome(ref))?.members() ?? [];
  }

  /** The roster of a session, to be told of it or to be in it. Whoever lets go of it calls `settle`. */
  async roster(ref: SessionRef): Promise<Roster> {
    this.#start();
    // One that does not answer has none for now.
    if (this.#asked) await within(this.#asked, ASK_MS);
    return this.#rosterOf(textOfHome(ref));
  }

  /** Stops telling somebody of a session, and takes one out who was in it. */
  leave(ref: SessionRef, id: string, listener: RosterListener): void {
    const key = textOfHome(ref);
    const roster = this.#rosters.get(key);
    roster?.unlisten(listener);
    roster?.drop(id, '');
    this.#forget(key);
  }

  /** The gateway ends, and nobody is there any more. */
  close(): void {
    if (this.#beat) {
      clearInterval(this.#beat);
      this.#tellOthers({ whole: true, sessions: [] });
    }
    this.#isClosed = true;
  }

  #rosterOf(key: string): Roster {
    const roster =
      this.#rosters.get(key) ??
      new Roster((change) => {
        this.#tellOthers({ whole: false, sessions: [{ key, change }] });
        this.#forget(key);
      });
    this.#rosters.set(key, roster);
    return roster;
  }

  #forget(key: string): void {
    if (this.#rosters.get(key)?.idle) this.#rosters.delete(key);
  }

  #start(): void {
    const { errands, heartbeatMs } = this.#options;
    if (this.#beat || this.#isClosed) return;
    this.#beat = setInterval(() => this.#beatOnce(), heartbeatMs).unref();
    this.#asked = errands.askAll(ASK, null).then(
      (all) => {
        for (const told of all) if (told) this.#hear(told);
      },
      (error: unknown) => this.#options.report(error, 'asking other gateways who is in sessions'),
    );
  }

  #beatOnce(): void {
    const silent = performance.now() - 2 * this.#options.heartbeatMs;
    for (const [holder, at] of this.#heard) {
      if (at >= silent) continue;
      this.#heard.delete(holder);
      this.#hear({ holder, whole: true, sessions: [] }, false);
    }
    for (const key of this.#rosters.keys()) this.#forget(key);
    this.#tellOthers(this.#own());
  }

  #own(): Told {
    const sessions = [...this.#rosters].flatMap(([key, roster]) => {
      const members = roster.members('');
      return members.length > 0 ? [{ key, change: { members } }] : [];
    });
    return { holder: this.#options.errands.holder, whole: true, sessions };
  }

  #tellOthers({ whole, sessions }: Omit<Told, 'holder'>): void {
    const { errands, report } = this.#options;
    if (this.#isClosed) return;
    const told: Told = { holder: errands.holder, whole, sessions };
    errands.askAll(TELL, told).catch((error: unknown) => report(error, 'telling who is in sessions'));
  }

  #hear({ holder, whole, sessions }: Told, isAlive = true): void {
    if (isAlive) {
      this.#heard.set(holder, performance.now());
      this.#start();
    }
    const told = new Map(sessions.map(({ key, change }) => [key, change]));
    if (whole) {
      for (const [key, roster] of this.#rosters) roster.replace(told.get(key)?.members ?? [], holder);
    }
    for (const [key, { members, gone = [] }] of told) {
      const roster = this.#rosterOf(key);
      for (const member of members) roster.put(member, holder);
      for (const id of gone) roster.drop(id, holder);
    }
  }
}
