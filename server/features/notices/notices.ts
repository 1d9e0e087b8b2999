import { cut } from '../../../shared/cut.js';
import type {
  Notice,
  NoticeCount,
  NoticeKind,
  NoticeOutcome,
  NoticeState,
  NoticeStats,
  RunWebhook,
  ToldNotice,
} from '../../../shared/notices/contract.js';
import type { NotifyOptions, WebhookShape } from '../../../shared/notices/options.js';
import type { MaybePromise } from '../../async/maybe-promise.js';
import type { Report } from '../../diagnostics/log-facts.js';
import { FactTally } from '../../diagnostics/tally.js';
import { DONE, type DueKind, type DueOutcome } from '../../due/due-kind.js';
import { resultOf } from '../../log/outcome.js';
import type { EventCause } from '../../sessions/event-cause.js';
import type { RecordChange, StoredRecord } from '../../stores/records.js';
import { storeTime } from '../../stores/skew.js';
import type { Store } from '../../stores/store.js';
import type { SessionRef } from '../../stores/stored.js';
import { addressedBy } from './addressed.js';
import { BrowserTarget } from './browser-target.js';
import { type Causes, noticesOf } from './causes.js';
import { ATTEMPTS, Deliveries } from './deliveries.js';
import { HostTarget } from './host-target.js';
import { DELIVERY, type KeptDelivery, type KeptNotice, NOTICE, noticeOf, owing } from './notice-record.js';
import { noting } from './outcomes.js';
import type { Receivers } from './receivers.js';
import { runEvents } from './run-events.js';
import { RunWebhookTarget } from './run-webhook-target.js';
import { assertWebhook } from './run-webhooks.js';
import { noticeStates } from './states.js';
import { Gone, type NoticeTarget } from './target.js';
import { WebhookTarget } from './webhook-target.js';

const UNSEEN_MS = 20_000;
/** Longest text of an answer that a target is told, in characters. */
const TEXT_LENGTH = 4096;

/** A notice that is to be split. */
type Owed = StoredRecord & { readonly home: SessionRef };

/** Whether a person has read a session up to a place, or since a time. */
export type HasRead = (
  home: SessionRef,
  person: string,
  what: { readonly place: KeptNotice['place']; readonly at: number },
) => MaybePromise<boolean>;

interface NoticeParts {
  /** The notices that events of features cause. */
  causes(): Causes;
  readonly hasRead: HasRead;
  readonly store: Pick<Store, 'records' | 'changeRecords' | 'run' | 'read' | 'messages' | 'shared'>;
  readonly receivers: Receivers;
  report: Report;
}

/** Tells people and systems about events that nobody was there to see. A notice is written with its cause, and any gateway works it off. */
export class Notices {
  /** The key that browsers subscribe with; null where there are no pushes. */
  readonly publicKey: string | null;
  readonly options: NotifyOptions;
  readonly #parts: NoticeParts;
  readonly #kinds: ReadonlySet<NoticeKind>;
  readonly #unseenMs: number;
  readonly #targets: Map<string, NoticeTarget>;
  readonly #tally = new FactTally<Omit<NoticeCount, 'count'>>();
  readonly #deliveries: Deliveries;

  constructor(options: NotifyOptions, parts: NoticeParts) {
    const { store, report } = parts;
    const { on = ['run_ended', 'input_required', 'message_retracted'], unseenMs = UNSEEN_MS, push } = options;
    this.options = options;
    this.#parts = parts;
    this.#kinds = new Set(on);
    this.#unseenMs = unseenMs;
    this.publicKey = push?.publicKey ?? null;
    this.#targets = new Map(targetsOf(options, store).map((target) => [target.name, target]));
    const tell = (home: SessionRef, kept: KeptNotice, content: boolean) => this.#tell(home, kept, content);
    const events = (home: SessionRef, { notice: { runId = '' } }: KeptNotice) =>
      runEvents(store, home, runId);
    this.#deliveries = new Deliveries({
      ...{ store, targets: this.#targets, tell, events, report },
      count: (kept, outcome) => this.#count(kept, outcome),
    });
  }

  /** The number of deliveries under way, and the count of each outcome so far. */
  get stats(): NoticeStats['notices'] {
    return { sending: this.#deliveries.sending, outcomes: this.#tally.counts };
  }

  /** The kinds of due work: notices and their deliveries. */
  get kinds(): Readonly<Record<string, DueKind>> {
    return {
      [NOTICE]: {
        ...ATTEMPTS,
        wanted: ({ home }) => home.app !== undefined || { drop: 'it belongs to no session' },
        do: (record, { now }) => this.#expand(record as Owed, now),
        failed: async (record, changes, { dead }) => {
          const written = await this.#parts.store.changeRecords(record.home, changes, { mayRepeat: true });
          if (written && dead) this.#count(noticeOf(record), 'dead');
          return written;
        },
      },
      [DELIVERY]: this.#deliveries,
    };
  }

  /** Writes the requests to callers' addresses in the form of a plugin. @returns The check of an address; null if the host allows none */
  form(form: string, shape: WebhookShape): ((webhook: RunWebhook) => void) | null {
    const { options } = this;
    if (!options.runWebhooks) return null;
    const target = new RunWebhookTarget({ form, shape }, options, this.#parts.store);
    this.#targets.set(target.name, target);
    return (webhook) => assertWebhook(webhook, options);
  }

  /** Tells receivers at once of what happened before they were there. */
  async tell(home: SessionRef, receivers: readonly Omit<KeptDelivery, 'owedAt'>[]): Promise<void> {
    const { store } = this.#parts;
    const owedAt = storeTime(store);
    const owed = receivers.map((kept) => ({ ...kept, owedAt }));
    const { changes } = await this.#deliveries.owe(home, owed, owedAt);
    if (changes.length > 0) await store.changeRecords(home, changes, { mayRepeat: true });
  }

  /** The states of a person's notices of a session, the newest first. */
  states(home: SessionRef, isOwn: (to: string) => boolean): Promise<readonly NoticeState[]> {
    const nameOf = (target: string): string | undefined => this.#targets.get(target)?.givenName;
    return noticeStates(this.#parts.store, home, { isOwn, nameOf });
  }

  close(): void {
    for (const target of this.#targets.values()) target.close?.();
  }

  #count({ notice: { kind }, target }: KeptNotice & Partial<KeptDelivery>, outcome: NoticeOutcome): void {
    this.#tally.count({ kind, ...(target !== undefined && { target }), outcome });
  }

  /** The record changes that events bring, for the same append. */
  of(cause: EventCause): readonly RecordChange[] {
    return noticesOf(cause, {
      ...{ unseenMs: this.#unseenMs, causes: this.#parts.causes() },
      later: (kind) => (this.#kinds.has(kind) ? this.#targetsOf(kind) : null),
      atOnce: (kind) => this.#targetsOf(kind, true),
    });
  }

  /**
   * Adds a host's own notice for a person of a session. Adding an id again does nothing while the first notice is not told.
   *
   * @returns Whether it was added
   */
  async add(home: SessionRef, notice: Notice, to: string): Promise<boolean> {
    const dueAt = storeTime(this.#parts.store, notice.at) + this.#unseenMs;
    const kept = { notice, to, targets: this.#targetsOf(notice.kind) };
    return this.#parts.store.changeRecords(home, [owing(kept, dueAt, 0)]);
  }

  /**
   * Drops a notice that was seen; otherwise splits it into one delivery per target, because a failing target must not repeat the others. @throws if its
   * deliveries changed meanwhile
   */
  async #expand(record: Owed, now: number): Promise<DueOutcome> {
    const { home, kind, id, token } = record;
    const { targets, atOnce, attempts: _, failed: __, retriedAt: ___, ...kept } = noticeOf(record);
    // A hand-off asks other people than the session's reader.
    const { notice, to, place } = kept;
    const seen = { place, at: notice.at };
    const { always = atOnce || notice.kind === 'hand_off' } = kept;
    const isSeen = !always && (await this.#parts.hasRead(home, to, seen));
    const owed = isSeen ? [] : await this.#owedOf(home, kept, { targets, owedAt: now });
    const { store } = this.#parts;
    const { changes: deliveries, waiting } = await this.#deliveries.owe(home, owed, now);
    const changes = [{ kind, id, token }, ...deliveries];
    if (isSeen) changes.push(await noting(store, home, { kept, outcome: 'seen', at: now }));
    if (!(await store.changeRecords(home, changes, { mayRepeat: true })))
      throw new Error('its deliveries changed meanwhile');
    if (isSeen) this.#count(kept, 'seen');
    await this.#deliveries.waitFor(home, waiting, now);
    return DONE;
  }

  #targetsOf(kind: NoticeKind, soon = false): readonly string[] {
    return [...this.#targets.values()]
      .filter((target) => (target.atOnce ?? false) === soon && target.wants(kind))
      .map(({ name }) => name);
  }

  /** One delivery for each receiver. */
  async #owedOf(
    home: SessionRef,
    kept: KeptNotice,
    { targets, owedAt }: { readonly targets: readonly string[]; readonly owedAt: number },
  ): Promise<readonly KeptDelivery[]> {
    const owed: KeptDelivery[] = [];
    for (const target of targets)
      for (const each of await addressedBy(this.#parts.store, { home, kept, target }))
        owed.push({ ...each, target, owedAt });
    return owed;
  }

  /** The notice as its receiver is told it. @throws Gone if the receiver may not read the session any more */
  async #tell(home: SessionRef, kept: KeptNotice, content: boolean): Promise<ToldNotice> {
    const { notice, text: said } = kept;
    const { app, kind, runId } = notice;
    const sessionId = await this.#parts.receivers.nameOf(home, kept);
    if (sessionId === null) throw new Gone('The receiver may not read the session any more');
    const url = this.options.url?.({ sessionId, app });
    let text = content ? said : undefined;
    if (content && kind === 'run_ended' && runId !== undefined) text = await this.#textOf(home, runId);
    return { ...notice, sessionId, ...(url !== undefined && { url }), ...(text !== undefined && { text }) };
  }

  /** The text of a run's answer, while the answer is kept. */
  async #textOf(home: SessionRef, runId: string): Promise<string | undefined> {
    const { store } = this.#parts;
    const record = await store.run(home, { runId });
    const result = record && (await resultOf(store, home, record));
    const text = result?.message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    return text && cut(text, TEXT_LENGTH);
  }
}

function targetsOf(options: NotifyOptions, store: NoticeParts['store']): readonly NoticeTarget[] {
  const { webhooks = [], push, deliver, allowPrivate = false } = options;
  const list = Array.isArray(webhooks) ? webhooks : [webhooks];
  return [
    ...list.map((each) => new WebhookTarget(each, allowPrivate)),
    ...(push ? [new BrowserTarget(push, store, allowPrivate)] : []),
    ...(deliver ? [new HostTarget(deliver)] : []),
  ];
}
