import * as z from 'zod';
import { toResponse } from '../../../shared/asked-calls.js';
import { type GatewayError, isGatewayError } from '../../../shared/errors.js';
import type { Person } from '../../auth/types.js';
import { codeOf } from '../conversation/errors.js';
import type { ConversationOptions } from '../conversation/options.js';
import { inClientTerms } from './errors.js';
import { seqOf } from './events.js';
import { readStart } from './input.js';
import { answerOf } from './interrupts.js';
import { begin } from './starting.js';
import type { Thread, Threads } from './threads.js';

/** A command of a client. */
export type Command = z.infer<typeof commandSchema>;

const commandSchema = z.looseObject({
  id: z.number().int().nonnegative(),
  method: z.string(),
  params: z.unknown(),
});

const entry = z.looseObject({ interrupt_id: z.string(), response: z.unknown() });
const respondSchema = z.looseObject({
  interrupt_id: z.string().optional(),
  response: z.unknown().optional(),
  responses: z.array(entry).min(1).optional(),
  update: z.unknown().optional(),
  goto: z.unknown().optional(),
});

/** The response to a command. */
export interface CommandAnswer {
  readonly type: 'success' | 'error';
  readonly id: number | null;
  readonly [name: string]: unknown;
}

/** An error with one of the protocol's codes. */
class Refusal extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

const CODES: Readonly<Record<string, string>> = {
  INVALID_REQUEST: 'invalid_argument',
  INVALID_PARAMS: 'invalid_argument',
  MESSAGE_NOT_FOUND: 'no_such_checkpoint',
  CALL_NOT_FOUND: 'no_such_interrupt',
  ALREADY_ANSWERED: 'no_such_interrupt',
  ACCESS_DENIED: 'permission_denied',
  GUARD_DENIED: 'permission_denied',
  APP_NOT_FOUND: 'invalid_argument',
  RUN_NOT_FOUND: 'no_such_run',
};

/** Reads a command; null if the body is malformed. */
export function readCommand(body: unknown): Command | null {
  return commandSchema.safeParse(body).data ?? null;
}

/** Commands about graphs, which are not served. Subscriptions work only on a WebSocket. */
const UNSERVED = ['input.inject', 'agent.getTree', 'state.get', 'state.listCheckpoints', 'state.fork'];

/** The commands of a thread. */
export class Commands {
  readonly #threads: Threads;
  readonly #options: ConversationOptions;

  constructor(threads: Threads, options: ConversationOptions) {
    this.#threads = threads;
    this.#options = options;
  }

  /** Performs a command. A refusal is a response; a failure of the gateway is thrown. @throws GatewayError */
  async run(person: Person, threadId: string, body: unknown): Promise<CommandAnswer> {
    const command = readCommand(body);
    if (!command) {
      const message = 'A command is an object of id, method and params';
      return { type: 'error', id: null, error: 'invalid_argument', message };
    }
    const { id, method, params } = command;
    try {
      const { result, seq } = await this.#do(person, threadId, method, params);
      return { type: 'success', id, result, meta: { applied_through_seq: seq } };
    } catch (error) {
      const refused = refusalOf(error);
      if (!refused) throw error;
      return { type: 'error', id, ...refused };
    }
  }

  #do(person: Person, threadId: string, method: string, params: unknown): Promise<CommandResult> {
    if (method === 'run.start') return this.#start(person, threadId, params);
    if (method === 'input.respond') return this.#respond(person, threadId, params);
    if (UNSERVED.includes(method) || method.startsWith('subscription.'))
      throw new Refusal('not_supported', `This gateway does not serve ${method}`);
    throw new Refusal('unknown_command', `There is no command ${method}`);
  }

  async #start(person: Person, threadId: string, params: unknown): Promise<CommandResult> {
    const start = readStart(params);
    const thread = await this.#threads.forRun(person, threadId, start.app);
    assertApp(thread, start.app);
    const session = thread?.session ?? this.#threads.open(person, threadId, start.app);
    const { runId, cursor } = await begin(session, thread, start, this.#options);
    return { result: { run_id: runId }, seq: seqOf(cursor) };
  }

  async #respond(person: Person, threadId: string, params: unknown): Promise<CommandResult> {
    const parsed = respondSchema.safeParse(params);
    if (!parsed.success) throw new Refusal('invalid_argument', 'An answer has interrupt_id and response');
    const { interrupt_id, response, responses, update, goto } = parsed.data;
    if (update != null || goto != null)
      throw new Refusal('not_supported', 'An answer changes nothing else: send no update and no goto');
    const given = responses ?? (interrupt_id === undefined ? [] : [{ interrupt_id, response }]);
    if (given.length === 0) throw new Refusal('invalid_argument', 'An answer names its interrupt_id');
    const thread = await this.#threads.find(person, threadId);
    if (!thread) throw new Refusal('no_such_interrupt', 'There is no such thread');
    const seq = seqOf(thread.state.cursor);
    await respond(
      thread,
      given.map((each) => [each.interrupt_id, each.response]),
    );
    return { result: {}, seq };
  }
}

interface CommandResult {
  readonly result: object;
  readonly seq: number;
}

/** Answers questions, all of one request at once. @throws GatewayError `CALL_NOT_FOUND` before any is answered */
export async function respond(
  { session, state }: Thread,
  answers: readonly (readonly [string, unknown])[],
): Promise<void> {
  const due = answers.map(([callId, response]) => {
    const question = state.pending.find((pending) => pending.callId === callId);
    if (!question) throw new Refusal('no_such_interrupt', `Nothing waits for an answer to ${callId}`);
    return { callId, response: toResponse(answerOf(question, response)) };
  });
  await Promise.all(due.map(({ callId, response }) => session.respond(callId, response)));
}

/** Refuses to change the app of a thread. */
export function assertApp(thread: Thread | null, app: string | undefined): void {
  if (thread && app !== undefined && app !== thread.app)
    throw new Refusal('invalid_argument', `The thread ${thread.id} is one of ${thread.app}`);
}

/** The error of a request; null if the gateway is at fault. */
export function refusalOf(error: unknown): { readonly error: string; readonly message: string } | null {
  if (error instanceof Refusal) return { error: error.code, message: error.message };
  if (!isGatewayError(error) || codeOf(error) === 'UNAUTHENTICATED' || error.status >= 500) return null;
  // The status of the response tells callers of rate limits, since clients then wait and repeat.
  if (error.status === 429) return null;
  return {
    error: CODES[error.code] ?? 'unknown_error',
    message: inClientTerms(error as GatewayError).message,
  };
}
