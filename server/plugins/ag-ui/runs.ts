import type { AgUiEvent } from '../../../shared/ag-ui/events.js';
import { GatewayError } from '../../../shared/errors.js';
import { initialState } from '../../../shared/fold.js';
import type { Identity } from '../../auth/types.js';
import type { ConversationOptions } from '../conversation/options.js';
import type { Outlet, Telling } from '../conversation/telling.js';
import { UserNotes } from '../conversation/user-notes.js';
import type { PluginContext, PluginSession } from '../plugin.js';
import { type Posted, Posting } from './posting.js';
import type { AgUiRequest } from './request.js';
import { type Reading, tellEvents, tellRun } from './telling.js';

/** Between a session and its run in the id that a client is told of a run which it has not begun. */
const BETWEEN = '~';

/** TanStack AI names no version of the protocol: it understands this. */
export const TANSTACK = { version: '1.0', waitsToRun: true } as const;

/** What is kept of a client's run: a page that was opened again, or a socket's client that comes back, knows its id alone. */
interface Noted {
  readonly sessionId: string;
  /** What it was told of; nothing where that were events that were known. */
  readonly run?: Pick<Telling, 'runId' | 'told'>;
  readonly events?: readonly AgUiEvent[];
}

/** What a client's request has come to. */
export interface PostedRun {
  readonly session: PluginSession;
  readonly posted: Posted;
}

/** How a run is posted. */
export interface PostOptions {
  readonly app: string;
  /** The caller's own idempotency key. */
  readonly key?: string | undefined;
  /** Whether the client has a part of the answer already, so that nothing is begun. @default false */
  readonly resumes?: boolean;
  /** Whether its client may come back by the id of its run alone. */
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

  /** Does what a client asks for. @throws GatewayError */
  async post(
    identity: Identity,
    request: AgUiRequest,
    { app, key, resumes = false, isNoted }: PostOptions,
  ): Promise<PostedRun> {
    const session = this.#context.session(`${app}:${request.threadId}`, identity);
    const posted = await new Posting(session, request, { options: this.#options, key, resumes }).post();
    // Before its client is told of it.
    if (isNoted && !resumes) {
      const run = 'runId' in posted && { runId: posted.runId, told: posted.told };
      const noted = {
        sessionId: session.id,
        ...(run ? { run } : { events: posted as readonly AgUiEvent[] }),
      };
      await this.#notes.put(identity, request.runId, noted);
    }
    return { session, posted };
  }

  /** Tells of what was posted. */
  tell(outlet: Outlet, { session, posted }: PostedRun, reading: Reading): Promise<void> {
    if (!('runId' in posted)) return tellEvents(outlet, posted, reading);
    return tellRun(outlet, session, posted, { report: this.#context.report, reading });
  }

  /**
   * Tells a run by its client's id: the whole run to a page that had nothing of it, also what was answered elsewhere; or what comes behind
   * an event of what was posted.
   *
   * @throws GatewayError `RUN_NOT_FOUND`
   */
  async join(
    outlet: Outlet,
    identity: Identity,
    { id, isWhole }: { readonly id: string; readonly isWhole: boolean },
    reading: Reading,
  ): Promise<void> {
    const found = await this.#found(id, identity);
    if (!found) throw new GatewayError({ code: 'RUN_NOT_FOUND' });
    const { session, run, events } = found;
    if (!run) return tellEvents(outlet, events ?? [], reading);
    const { cursor } = await session.run(run.runId).status();
    const threadId = session.id.slice(session.id.indexOf(':') + 1);
    const told = isWhole ? 'whole' : run.told;
    const names = { threadId, runId: id, ...TANSTACK };
    const place = { ...run, told, cursor, session: initialState, folds: false };
    await tellRun(outlet, session, { ...place, names, given: [] }, { report: this.#context.report, reading });
  }

  async #found(
    id: string,
    identity: Identity,
  ): Promise<(Omit<Noted, 'sessionId'> & { readonly session: PluginSession }) | null> {
    const [sessionId = '', runId] = id.split(BETWEEN);
    if (runId !== undefined)
      return { session: this.#context.session(sessionId, identity), run: { runId, told: 'whole' } };
    const noted = await this.#notes.get(identity, id);
    return noted ? { ...noted, session: this.#context.session(noted.sessionId, identity) } : null;
  }
}

/** The id of a run for a client that has not begun it. */
export function ownRunId({ id }: PluginSession, runId: string): string {
  return `${id}${BETWEEN}${runId}`;
}
