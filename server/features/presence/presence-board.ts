import type { PresenceChange, PresenceMember } from '../../../shared/presence/contract.js';
import { within } from '../../async/deadline.js';
import { type Errands, errand } from '../../cluster/errands.js';
import type { Report } from '../../diagnostics/log-facts.js';
import { textOfHome } from '../../stores/records.js';
import type { SessionRef } from '../../stores/stored.js';
import { Roster, type RosterListener } from './roster.js';

/** A message to other gateways about the people in the sender's sessions. */
interface PresenceMail {
  readonly holder: string;
  /** Whether the message has everybody at that gateway. */
  readonly whole: boolean;
  readonly sessions: readonly { readonly key: string; readonly change: PresenceChange }[];
}

const TELL = errand<PresenceMail, null>('presence');
const ASK = errand<null, PresenceMail>('present');

/** Settings of presence. */
export interface PresenceOptions {
  readonly heartbeatMs: number;
  readonly report: Report;
}

/** Time to wait for the other gateways' answers about their members, in milliseconds. */
const ASK_MS = 500;

/**
 * The people in each session, at all gateways. Nothing is stored: each gateway tells the others of its own members on every change, and of
 * all of them with each heartbeat. A gateway that is silent for two heartbeats counts as empty.
 */
export class PresenceBoard {
  readonly #options: PresenceOptions;
  readonly #rosters = new Map<string, Roster>();
  /** Time of the last message from each other gateway; monotonic milliseconds. */
  readonly #heard = new Map<string, number>();
  #beat: NodeJS.Timeout | null = null;
  #isClosed = false;
  /** The request for the members of all other gateways, once made. */
  #asked: Promise<unknown> | null = null;

  /** Reaches the other gateways. */
  #errands!: Errands;

  constructor(options: PresenceOptions) {
    this.#options = options;
  }

  /** Joins the other gateways, before anybody asks. */
  join(errands: Errands): void {
    this.#errands = errands;
    errands.on(TELL, (told) => {
      this.#hear(told);
      return null;
    });
    errands.on(ASK, () => this.#own());
  }

  /** The present members of a session. */
  members(ref: SessionRef): readonly PresenceMember[] {
    return this.#rosters.get(textOfHome(ref))?.members() ?? [];
  }

  /** The roster of a session, for a listener or a member. Call `leave` when done. */
  async roster(ref: SessionRef): Promise<Roster> {
    this.#start();
    // A gateway that does not answer in time counts as empty for now.
    if (this.#asked) await within(this.#asked, ASK_MS);
    return this.#rosterOf(textOfHome(ref));
  }

  /** Stops a listener of a session, and removes its member. */
  leave(ref: SessionRef, id: string, listener: RosterListener): void {
    const key = textOfHome(ref);
    const roster = this.#rosters.get(key);
    roster?.unlisten(listener);
    roster?.drop(id, '');
    this.#forget(key);
  }

  /** Tells the other gateways that nobody is here any more, as this one ends. */
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
    const { heartbeatMs } = this.#options;
    if (this.#beat || this.#isClosed) return;
    this.#beat = setInterval(() => this.#beatOnce(), heartbeatMs).unref();
    this.#asked = this.#errands.askAll(ASK, null).then(
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

  #own(): PresenceMail {
    const sessions = [...this.#rosters].flatMap(([key, roster]) => {
      const members = roster.members('');
      return members.length > 0 ? [{ key, change: { members } }] : [];
    });
    return { holder: this.#errands.holder, whole: true, sessions };
  }

  #tellOthers({ whole, sessions }: Omit<PresenceMail, 'holder'>): void {
    const errands = this.#errands;
    if (this.#isClosed) return;
    const told: PresenceMail = { holder: errands.holder, whole, sessions };
    errands
      .askAll(TELL, told)
      .catch((error: unknown) => this.#options.report(error, 'telling who is in sessions'));
  }

  #hear({ holder, whole, sessions }: PresenceMail, isAlive = true): void {
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
