import type { AgUiEvent } from '../../../shared/ag-ui/events.js';
import { composeId, partsOfId } from '../../../shared/composed-id.js';
import { GatewayError } from '../../../shared/errors.js';
import { initialState } from '../../../shared/fold.js';
import type { Person } from '../../auth/types.js';
import { nameIn } from '../conversation/app-names.js';
import type { ConversationOptions } from '../conversation/options.js';
import type { DoorOutlet, ToldSegment } from '../conversation/told-segment.js';
import { UserNotes } from '../conversation/user-notes.js';
import type { PluginContext, PluginSession } from '../plugin.js';
import { AgUiPost, type Posted } from './post.js';
import type { AgUiRequest } from './request.js';
import { type ReaderMode, tellEvents, tellRun } from './segment.js';

/** TanStack AI names no version of the protocol, but understands this one. */
export const TANSTACK = { version: '1.0', waitsToRun: true } as const;

/** A note on a client's run, for a reopened page or a returning socket client, which know only its id. */
interface Noted {
  readonly sessionId: string;
  /** The told part of a run; absent if known events were told. */
  readonly run?: Pick<ToldSegment, 'runId' | 'told'>;
  readonly events?: readonly AgUiEvent[];
}

/** The outcome of a client's request. */
export interface PostedRun {
  readonly session: PluginSession;
  readonly posted: Posted;
}

/** Options of posting a run. */
export interface PostOptions {
  readonly app: string;
  /** The caller's own idempotency key. */
  readonly key?: string | undefined;
  /** Whether the client already has a part of the answer, so that nothing is begun. @default false */
  readonly resumes?: boolean;
  /** Whether the client may come back with only the id of its run. */
  readonly isNoted: boolean;
}

/** The runs of clients, by their own ids. */
export class AgUiRuns {
  readonly #context: PluginContext;
  readonly #options: ConversationOptions;
  readonly #notes: UserNotes<Noted>;

  constructor(context: PluginContext, options: ConversationOptions) {
    this.#context = context;
    this.#options = options;
    this.#notes = new UserNotes(context, 'run');
  }

  /** Performs a client's request. @throws GatewayError */
  async post(
    person: Person,
    request: AgUiRequest,
    { app, key, resumes = false, isNoted }: PostOptions,
  ): Promise<PostedRun> {
    const session = this.#context.session(`${app}:${request.threadId}`, person);
    const posted = await new AgUiPost(session, request, { options: this.#options, key, resumes }).post();
    // Before the client learns of the run.
    if (isNoted && !resumes) {
      const run = 'runId' in posted && { runId: posted.runId, told: posted.told };
      const noted = {
        sessionId: session.id,
        ...(run ? { run } : { events: posted as readonly AgUiEvent[] }),
      };
      await this.#notes.put(person, request.runId, noted);
    }
    return { session, posted };
  }

  /** Tells the outcome of a request. */
  tell(outlet: DoorOutlet, { session, posted }: PostedRun, reading: ReaderMode): Promise<void> {
    if (!('runId' in posted)) return tellEvents(outlet, posted, reading);
    const leaving = this.#options.onLeave === 'abort' ? posted.runId : undefined;
    return tellRun(outlet, session, posted, { report: this.#context.report, reading, leaving });
  }

  /**
   * Tells a run by its client's id. A page that had nothing of it gets the whole run, with answers from elsewhere. A client that names an
   * event gets the events behind it.
   *
   * @throws GatewayError `RUN_NOT_FOUND`
   */
  async join(
    outlet: DoorOutlet,
    person: Person,
    { id, isWhole }: { readonly id: string; readonly isWhole: boolean },
    reading: ReaderMode,
  ): Promise<void> {
    const found = await this.#found(id, person);
    if (!found) throw new GatewayError({ code: 'RUN_NOT_FOUND' });
    const { session, run, events } = found;
    if (!run) return tellEvents(outlet, events ?? [], reading);
    const { cursor } = await session.run(run.runId).status();
    const threadId = nameIn(session.id);
    const told = isWhole ? 'whole' : run.told;
    const names = { threadId, runId: id, ...TANSTACK };
    const place = { ...run, told, cursor, session: initialState, folds: false };
    await tellRun(outlet, session, { ...place, names, given: [] }, { report: this.#context.report, reading });
  }

  async #found(
    id: string,
    person: Person,
  ): Promise<(Omit<Noted, 'sessionId'> & { readonly session: PluginSession }) | null> {
    // A client's own id may look like one of ours.
    const noted = await this.#notes.get(person, id);
    if (noted) return { ...noted, session: this.#context.session(noted.sessionId, person) };
    const [sessionId = '', runId, ...more] = partsOfId(id) ?? [];
    if (runId === undefined || more.length > 0) return null;
    return { session: this.#context.session(sessionId, person), run: { runId, told: 'whole' } };
  }
}

/** The id of a run for a client that has not begun it. */
export function ownRunId({ id }: PluginSession, runId: string): string {
  return composeId(id, runId);
}
