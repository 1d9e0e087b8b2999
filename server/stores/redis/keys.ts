import { type RecordHome, textOfHome } from '../records.js';
import type { SessionRef } from '../stored.js';

/** Number of partitions of the sessions. All keys of one partition are in one slot of a Redis Cluster. Fixed for the life of the data. */
export const PARTITIONS = 256;

/** Keys of one session, and those of its part. */
export interface SessionKeys extends PartitionKeys {
  /** The session's identity as a member of indexes: JSON, so that it has no line breaks. */
  readonly sid: string;
  readonly partition: number;
  readonly meta: string;
  /** Open runs by their ids. */
  readonly open: string;
  /** Runs that ended. */
  readonly ended: string;
  /** Ids of runs by the keys they were sent under. */
  readonly byKey: string;
  readonly steps: string;
  /** Closed logs by their epochs. */
  readonly closed: string;
  /** The channel of its news. */
  readonly news: string;
  readonly records: string;
}

/** Keys of one log. */
export interface LogKeys {
  readonly events: string;
  readonly checkpoint: string;
  readonly rows: string;
  /** A message that follows each message. */
  readonly replies: string;
}

/** Keys that the sessions of one part share. */
export interface PartitionKeys {
  /** Ended runs, by time. */
  readonly runs: string;
  /** Closed logs, by time. */
  readonly logs: string;
  /** The holder of each session that is not finished. */
  readonly unfinished: string;
  /** The number of unfinished sessions of each holder. */
  readonly busy: string;
  /** The holder of each session that is held. */
  readonly held: string;
  /** Due records, by time. */
  readonly due: string;
}

/** Keys of the records of one session or scope. */
export interface HomeKeys {
  /** Its name. */
  readonly home: string;
  /** The session's fields; of no use for a scope. */
  readonly meta: string;
  readonly partition: number;
  /** Its records by their names. */
  readonly records: string;
  /** Due records of its partition, by time. */
  readonly due: string;
}

/** The name of a session within its scope. */
export const memberOf = ({ app, name }: SessionRef): string => JSON.stringify([app, name]);

export function refOfMember(scope: string, member: string): SessionRef {
  const [app, name] = JSON.parse(member) as [string, string];
  return { scope, app, name };
}

export function refOfSid(sid: string): SessionRef {
  const [scope, app, name] = JSON.parse(sid) as [string, string, string];
  return { scope, app, name };
}

/** The two names of a member of an index. The first one has no line breaks. */
export function pairOf(member: string): readonly [string, string] {
  const line = member.indexOf('\n');
  return [member.slice(0, line), member.slice(line + 1)];
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/** The keys that a store uses. Keys that one script uses together share a part in braces, which puts them into one slot. */
export class Keys {
  readonly prefix: string;
  // A writer appends under one and the same ref object.
  readonly #known = new WeakMap<SessionRef, SessionKeys>();

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  session(ref: SessionRef): SessionKeys {
    let keys = this.#known.get(ref);
    if (!keys) {
      const sid = textOfHome(ref);
      const partition = hashOf(sid) % PARTITIONS;
      const key = (letter: string): string => `${this.prefix}:{${partition}}:${letter}:${sid}`;
      keys = {
        sid,
        partition,
        meta: key('m'),
        open: key('r'),
        ended: key('d'),
        byKey: key('k'),
        steps: key('t'),
        closed: key('l'),
        news: key('w'),
        records: key('a'),
        ...this.partition(partition),
      };
      this.#known.set(ref, keys);
    }
    return keys;
  }

  home(home: RecordHome): HomeKeys {
    if (home.app !== undefined) {
      const { sid, partition, records, due, meta } = this.session(home);
      return { home: sid, partition, records, due, meta };
    }
    const text = textOfHome(home);
    const partition = hashOf(text) % PARTITIONS;
    const records = `${this.prefix}:{${partition}}:a:${text}`;
    return { home: text, partition, records, due: this.partition(partition).due, meta: records };
  }

  /** Homes that have a record of an owner, or had one when this was last read. */
  owner(kind: string, owner: string): string {
    return `${this.prefix}:u:${JSON.stringify([kind, owner])}`;
  }

  /** The key of a log's events alone. */
  stream({ sid, partition }: SessionKeys, epoch: string): string {
    return `${this.prefix}:{${partition}}:e:${sid}:${epoch}`;
  }

  log(session: SessionKeys, epoch: string): LogKeys {
    const { sid, partition } = session;
    const key = (letter: string): string => `${this.prefix}:{${partition}}:${letter}:${sid}:${epoch}`;
    return { events: this.stream(session, epoch), checkpoint: key('c'), rows: key('x'), replies: key('y') };
  }

  /** All keys of logs of a session. */
  logs(session: SessionKeys, epochs: readonly string[]): string[] {
    return epochs.flatMap((epoch) => Object.values(this.log(session, epoch)) as string[]);
  }

  partition(partition: number): PartitionKeys {
    const key = (letter: string): string => `${this.prefix}:{${partition}}:${letter}`;
    return {
      runs: key('rx'),
      logs: key('lx'),
      unfinished: key('o'),
      busy: key('oc'),
      held: key('h'),
      due: key('a'),
    };
  }

  /** Open sessions of a scope, or of all, by their last use. JSON has no half of a surrogate pair, by which a Cluster and its client would find different slots. */
  list(scope: string | null): string {
    return `${this.prefix}:s:${JSON.stringify(scope)}`;
  }

  /** All sessions of a scope of which any data is kept. */
  kept(scope: string): string {
    return `${this.prefix}:q:${JSON.stringify(scope)}`;
  }

  /** The channel of messages to a member. */
  mail(holder: string): string {
    return `${this.prefix}:mail:${holder}`;
  }

  get format(): string {
    return `${this.prefix}:format`;
  }

  get nodes(): string {
    return `${this.prefix}:nodes`;
  }

  /**
   * Partitions, by the time when a record of theirs is due. It is updated after them, so a partition may have less than it says, and
   * briefly more.
   */
  get due(): string {
    return `${this.prefix}:due`;
  }

  get checked(): string {
    return `${this.prefix}:checked`;
  }

  get expiring(): string {
    return `${this.prefix}:expiring`;
  }
}
