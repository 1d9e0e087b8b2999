import type { GatewayEvent } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import { mapPacked } from '../../shared/map-packed.js';
import { type Arrivals, aboutOf } from '../stores/about.js';
import type { AppendOptions, EventRecord } from '../stores/append.js';
import { storeTime } from '../stores/skew.js';
import type { Store } from '../stores/store.js';
import type { Activity } from '../stores/stored.js';
import { activityOf, changesRecord, isSameActivity, isUse } from './activity.js';
import type { GroupOptions } from './append-group.js';
import { arrivalsAfter, NO_ARRIVALS } from './arrivals.js';
import type { Entry } from './entry.js';
import type { LogOptions } from './log-options.js';
import type { LogView } from './log-view.js';
import { saidChanges, saidInRows } from './said.js';

/** Events that concern messages off the path. */
const CHANGING_ASIDE: ReadonlySet<string> = new Set(['history_moved', 'message_replaced']);

/** The changes of a session's record that come with events. */
type RecordParts = Pick<AppendOptions, 'activity' | 'about' | 'records' | 'said'>;

/** Works out what events change beside their log, in the same append: what lists show, what search finds, the activity, and records. */
export class Consequences {
  readonly #view: LogView;
  readonly #store: Pick<Store, 'shared' | 'search'>;
  readonly #recordsOf: LogOptions['recordsOf'];
  /** The arrivals of acknowledged events, without and with those being written. */
  #arrivals: { readonly before: Arrivals; readonly after: Arrivals };
  /** The state before the events being written, and after them. */
  #foreseen: { readonly before: SessionState; readonly after: SessionState } | null = null;

  constructor(view: LogView, store: Store, { arrivals = NO_ARRIVALS, recordsOf }: LogOptions) {
    this.#view = view;
    this.#store = store;
    this.#recordsOf = recordsOf;
    this.#arrivals = { before: arrivals, after: arrivals };
  }

  /** The arrivals including the events being written. Read it while their records are made, or as they are acknowledged. */
  get arrivals(): Arrivals {
    return this.#arrivals.after;
  }

  /** The changes that come with the next events of the log. Null for pieces of answers, which change nothing, as nearly all events do. */
  of(entries: readonly Entry[], options: GroupOptions | null): RecordParts | null {
    this.#foreseen = null;
    this.#arrive(this.#arrivals.before);
    if (options?.parked !== undefined) return { activity: this.#parked(options.parked) };
    const rows = this.#store.search && options?.messages;
    if (!entries.some(changesSession)) return rows ? { said: saidInRows(rows) } : null;
    const { activity, head, state: before } = this.#view;
    const events = mapPacked(entries, eventOf);
    const { state: after, arrivals } = arrivalsAfter(this.#arrivals.before, before, events, head + 1);
    // The view must fold these itself, because its fold has messages off the path.
    const moves = entries.some(({ record }) => CHANGING_ASIDE.has(record.type));
    const replaces = entries.some(({ record }) => record.type === 'message_replaced');
    this.#foreseen = moves ? null : { before, after };
    let { start } = activity;
    if (after.run && after.run.runId !== activity.runId)
      start = head + entries.findIndex(({ record }) => record.runId === after.run!.runId);
    const ends = entries.filter(({ record }) => record.type === 'message_end').length;
    const next = activityOf(after, start, ends > 0 ? (activity.ended ?? 0) + ends : activity.ended);
    const changedAt = storeTime(this.#store, entries.at(-1)!.record.ts);
    const counted = { ...arrivals, changedAt };
    this.#arrivals = { before: this.#arrivals.before, after: counted };
    const usedAt = entries.findLast(usesSession)?.record.ts;
    const used = usedAt === undefined ? {} : { usedAt: storeTime(this.#store, usedAt) };
    const said = !this.#store.search
      ? null
      : (options?.said ??
        (rows && !replaces ? saidInRows(rows) : saidChanges(before, after, entries.map(typeOf))));
    const records = this.#recordsOf?.({ head, events, ends: options?.ends ?? [], before, after });
    return {
      about: { arrivals: counted, ...used, ...aboutOf(after) },
      ...(!isSameActivity(activity, next) && { activity: next }),
      ...(records && records.length > 0 && { records }),
      ...(said && { said }),
    };
  }

  /** Sets the arrivals. Pieces of answers do not change them, and need no object. */
  #arrive(now: Arrivals): void {
    const { before, after } = this.#arrivals;
    if (before !== now || after !== now) this.#arrivals = { before: now, after: now };
  }

  #parked(isParked: boolean): Activity {
    const { parked: _, ...activity } = this.#view.activity;
    return isParked ? { ...activity, parked: true } : activity;
  }

  /** Called with the store's answer to these events, and whether it wrote them: they have their places then. */
  answered(entries: readonly Entry[], records: readonly EventRecord[], isWritten: boolean): void {
    const foreseen = this.#foreseen;
    this.#foreseen = null;
    const { before, after } = this.#arrivals;
    this.#arrive(isWritten ? after : before);
    if (!isWritten) return;
    const view = this.#view;
    // Only a cut can have changed the state meanwhile.
    if (foreseen && foreseen.before === view.state) view.ingestFolded(records, foreseen.after);
    else for (const { record, event } of entries) view.ingest(record, event);
  }
}

const typeOf = ({ record }: Entry): string => record.type;
const eventOf = ({ event }: Entry): GatewayEvent => event;
const usesSession = ({ record }: Entry): boolean => isUse(record.type);
const changesSession = ({ record }: Entry): boolean => changesRecord(record.type);
