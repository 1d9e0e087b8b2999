import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '../../async/deadline.js';
import { Batched } from '../batched.js';
import { decodeEvents } from '../event-text.js';
import type { Member, Membership } from '../shared-store.js';
import { StoreClock } from '../skew.js';
import { fromColumn, toColumn } from '../text-column.js';
import type { PostgresDatabase } from './database.js';
import { storeFailed } from './faults.js';
import { Listener } from './listener.js';
import { packed, unpacked } from './text.js';
import { PostgresWatches } from './watches.js';

/** The wait for this node's own notification when the store is opened, in milliseconds. */
const HEAR_MS = 10_000;
/** The wait until every gateway knows the followers, in milliseconds. */
const SETTLE_MS = 1000;
/** The wait between attempts to renew the lease, or to register followers, in milliseconds. */
const AGAIN_MS = 200;
/** The longest time between two renewals of the lease, each of which notifies this node too, in milliseconds. */
const BEAT_MS = 5000;
/** The least silence after which the listener counts as broken, in milliseconds. */
const SILENT_MS = 3000;

/** The state of a lease at its renewal: gone, run out, or still valid. */
type NodeLease = 'gone' | 'late' | 'in time';

interface NodeMail {
  readonly holder: string;
  readonly message: string;
}

/** An open store among those that share a database: its lease, its members, its notifications and its watches. */
export class Node {
  readonly id = randomBytes(9).toString('hex');
  readonly watches = new PostgresWatches(() => this.#say());
  readonly clock = new StoreClock();
  readonly #database: PostgresDatabase;
  readonly #leaseMs: number;
  readonly #beatMs: number;
  readonly #listener: Listener;
  readonly #members = new Map<string, Member>();
  /** Callbacks for sessions that another holder takes, by the keys of sessions. */
  readonly #holders = new Map<string, () => void>();
  readonly #tells: Batched<NodeMail, boolean>;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;
  /** Whether this node's own lease may have run out since the last renewal. */
  #wasAway = false;
  /** Unanswered beats in a row. */
  #missed = 0;
  /** The time from which others may be judged: their leases may all have run out while the server was away. Monotonic milliseconds. */
  #judgesFrom = 0;
  /** Until then, members that have not left count as alive, whatever their leases say. Monotonic milliseconds. */
  #trustsUntil = 0;
  #beating = false;
  #soon: NodeJS.Timeout | undefined;
  #saying: Promise<void> | null = null;
  /** Whether everything must be registered anew. */
  #all = false;
  #reading: Promise<unknown> | null = null;
  #heardOwn: (() => void) | null = null;

  constructor(database: PostgresDatabase, leaseMs: number) {
    this.#database = database;
    this.#leaseMs = leaseMs;
    this.#beatMs = Math.min(BEAT_MS, leaseMs / 3);
    const channel = `asg_${this.id}`;
    this.#listener = new Listener({
      database,
      channel,
      untakenMs: Math.ceil(2 * leaseMs),
      heard: (payload) => this.#heard(payload),
      again: () => {
        this.#say(true);
        this.#readMail();
      },
    });
    this.#tells = new Batched((mails) => this.#tell(mails));
  }

  /** @throws GatewayError `STORE_FAILED` if notifications do not arrive */
  async open(): Promise<void> {
    await this.#listener.open();
    await this.#register();
    this.#trustsUntil = performance.now() + this.#leaseMs;
    const heard = new Promise<void>((resolve) => {
      this.#heardOwn = resolve;
    });
    await this.#beat();
    if (!(await within(heard, HEAR_MS)))
      throw storeFailed(
        'deaf',
        'does not send notifications here: a pooler in transaction mode loses them; give postgresStore a listenUrl past it',
      );
    this.#timer = setInterval(() => {
      this.#missed += 1;
      // Counts unanswered beats and no time: a process that stood still has not tried.
      if (this.#missed === this.#mayMiss + 1) for (const { away } of this.#members.values()) away();
      void this.#beatSoundly();
    }, this.#beatMs).unref();
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer) clearInterval(this.#timer);
    clearTimeout(this.#soon);
    await this.#saying;
    if (this.#timer) await this.#database.call('unregister', this.id).catch(() => {});
    await this.#listener.close();
  }

  /** Sets the callback for another holder's taking of a session. */
  holds(key: string, taken: (() => void) | undefined): void {
    const before = this.#holders.get(key);
    if (taken) this.#holders.set(key, taken);
    else this.#holders.delete(key);
    if (before) setImmediate(before);
  }

  letGo(key: string): void {
    this.#holders.delete(key);
  }

  async join(member: Member): Promise<Membership> {
    const { holder } = member;
    const before = this.#saying;
    // Set before the call, since this node may register everything again meanwhile.
    this.#members.set(holder, member);
    try {
      await this.#database.call('join_member', this.id, toColumn(holder));
    } catch (error) {
      const meanwhile = before ?? this.#saying;
      this.#members.delete(holder);
      // The call may have been done all the same.
      this.#say(true);
      // A registration in progress may have this member too. It is none once the error is known.
      await this.#saidAfter(meanwhile);
      throw error;
    }
    await this.#saidAfter(before);
    return {
      members: async () => {
        const query = `SELECT m.holder, l.holder IS NOT NULL AS lives, $S.now_ms() AS now
          FROM $S.member m LEFT JOIN $S.living($1) l ON l.holder = m.holder`;
        const rows = await this.#database.ask(query, this.#leaseMs);
        this.saw(rows[0]?.now);
        return rows.filter(({ lives }) => lives || this.mayLive(true)).map((row) => fromColumn(row.holder));
      },
      tell: (to, message) => this.#tells.do({ holder: toColumn(to), message: packed(message) }),
      leave: async () => {
        const before = this.#saying;
        this.#members.delete(holder);
        // If this fails, the node registers everything again without this member; or its lease runs out.
        await this.#database.call('leave_member', toColumn(holder)).catch(() => this.#say(true));
        await this.#saidAfter(before);
      },
    };
  }

  /**
   * Whether a member with a lapsed lease may still live. Judged when the server's reply is here, since the reply may have waited for the
   * server to come back. A promoted standby knows old leases, as of its last replication.
   *
   * @param known Whether the member has not left, as far as the server knows
   */
  mayLive(known: boolean): boolean {
    const now = performance.now();
    return now < this.#judgesFrom || (known && now < this.#trustsUntil);
  }

  /** Notes a time that the server told. All leases may have run out at once if its clock was set, so nobody is judged before they are renewed. */
  saw(time: number | undefined): void {
    if (time !== undefined && this.clock.isSet(time, this.#leaseMs / 2))
      this.#judgesFrom = performance.now() + this.#leaseMs;
  }

  /** Resolves once every gateway knows the watches of this node, or after a limit. */
  async settled(): Promise<void> {
    if (this.#saying) await within(this.#saying, SETTLE_MS);
  }

  async #tell(mails: readonly NodeMail[]): Promise<readonly boolean[]> {
    const holders = mails.map(({ holder }) => holder);
    const messages = mails.map(({ message }) => message);
    const [row] = await this.#database.write('SELECT $S.tell($1, $2) AS told', holders, messages);
    return row!.told;
  }

  /** Registers the watched sessions, all anew if the server may have forgotten them. New ones are woken once every gateway knows them. */
  #say(all = false): void {
    this.#all ||= all;
    this.#saying ??= this.#sayIt();
  }

  async #sayIt(): Promise<void> {
    await new Promise(setImmediate);
    while (!this.#closed) {
      const all = this.#all;
      this.#all = false;
      const { begun, ended } = this.watches.changes();
      if (!all && begun.length + ended.length === 0) break;
      const keys = all ? this.watches.keys : begun;
      try {
        if (all) this.#renewed(await this.#register());
        else await this.#database.call('follow', this.id, begun, ended);
        // Appends that were in progress may have missed the new followers.
        if (keys.length > 0) await this.#database.call('settle', keys);
        for (const key of keys) this.watches.wake(key);
      } catch {
        this.#all = true;
        await sleep(AGAIN_MS);
      }
    }
    this.#saying = null;
  }

  /** Registers everything again if a registration was in progress: it may arrive last, and has the former members. */
  async #saidAfter(before: Promise<void> | null): Promise<void> {
    if (!before) return;
    this.#say(true);
    await this.settled();
  }

  #register(): Promise<NodeLease> {
    const holders = [...this.#members.keys()].map(toColumn);
    return this.#database.live('register', [this.id, this.#leaseMs, holders, this.watches.keys]);
  }

  async #beat(): Promise<void> {
    const asked = performance.now();
    const { now } = this.clock;
    // The server forgets nobody where its clock was set meanwhile.
    const until = now === null || this.mayLive(true) ? 0 : Math.round(now + this.#leaseMs);
    const answer = await this.#database.live<string>(
      'beat',
      [this.id, this.#leaseMs, until],
      '$1, $2, $S.now_ms() < $3',
    );
    this.#database.live('ring', [this.id]).catch(() => {});
    const space = answer.lastIndexOf(' ');
    const time = Number(answer.slice(space + 1));
    this.saw(time);
    this.clock.told(time, asked);
    const lease = answer.slice(0, space) as NodeLease;
    if (lease === 'gone') this.#say(true);
    else this.#renewed(lease);
  }

  /** The number of unanswered beats after which the lease has run out. */
  get #mayMiss(): number {
    return Math.ceil(this.#leaseMs / this.#beatMs);
  }

  #renewed(lease: NodeLease): void {
    // Also if the server received every beat, and only its replies were lost.
    const wasSaidAway = this.#missed > this.#mayMiss;
    this.#missed = 0;
    const isLate = lease !== 'in time' || wasSaidAway;
    if (this.#wasAway || isLate) this.#judgesFrom = performance.now() + this.#leaseMs;
    this.#wasAway = false;
    if (isLate) for (const { lapsed } of this.#members.values()) lapsed();
  }

  async #beatSoundly(): Promise<void> {
    if (this.#beating) return;
    this.#beating = true;
    try {
      await this.#beat();
    } catch {
      this.#wasAway = true;
      // Sooner than the next beat, since others may judge this node by then.
      clearTimeout(this.#soon);
      if (!this.#closed) this.#soon = setTimeout(() => void this.#beatSoundly(), AGAIN_MS).unref();
    }
    this.#beating = false;
    this.#listener.suspect(Math.max(SILENT_MS, 3 * this.#beatMs));
  }

  #heard(payload: string): void {
    const rest = payload.slice(1);
    switch (payload[0]) {
      case 'w':
        return this.watches.wake(rest);
      case 'b':
        return this.#wake(rest);
      case 't':
        return this.#holders.get(rest)?.();
      case 'r':
        return this.#readMail(Number(rest));
      case 'm':
        return this.#receive(rest);
      default:
        this.#heardOwn?.();
    }
  }

  /** Wakes followers with the news: key, epoch and first place of a batch, and its events. */
  #wake(text: string): void {
    const end = text.indexOf('\n');
    const [key = '', epoch = '', first] = text.slice(0, end).split(' ');
    this.watches.wake(key, { epoch, events: decodeEvents(text.slice(end + 1), Number(first)) });
  }

  #receive(mail: string): void {
    const end = mail.indexOf('\n');
    const deliver = (): void => this.#deliver(mail.slice(0, end), mail.slice(end + 1));
    // Not before earlier mail that must still be fetched.
    if (this.#reading) this.#inTurn(deliver);
    else deliver();
  }

  #deliver(holder: string, message: string): void {
    this.#members.get(fromColumn(holder))?.hear(unpacked(message));
  }

  /** @param id Id of one mail. Without it all mail is read, since some may never have been announced. */
  #readMail(id: number | null = null): void {
    this.#inTurn(async () => {
      const query =
        'DELETE FROM $S.mail WHERE node = $1 AND ($2::bigint IS NULL OR id = $2) RETURNING id, holder, data';
      const rows = await this.#database.write(query, this.id, id);
      for (const { holder, data } of rows.sort((a, b) => a.id - b.id)) this.#deliver(holder, data);
    });
  }

  #inTurn(work: () => unknown): void {
    // Lost mail is asked for again.
    const reading = (this.#reading ?? Promise.resolve()).then(work).catch(() => {});
    this.#reading = reading;
    void reading.then(() => {
      if (this.#reading === reading) this.#reading = null;
    });
  }
}
