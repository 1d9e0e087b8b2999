import * as z from 'zod';
import { GatewayError } from '../../../shared/errors.js';
import { compactionId, parseCompactionId } from '../../../shared/responses/ids.js';
import { toResponseUsage } from '../../../shared/responses/usage.js';
import type { Person } from '../../auth/types.js';
import { fieldError } from '../conversation/errors.js';
import { stateOf } from '../conversation/state.js';
import { readBody } from '../openai/problem.js';
import type { PluginContext, PluginSession } from '../plugin.js';
import { endOf, type Finder, lastRun, previousNotFound } from './finding.js';
import { toMessages } from './input.js';
import { newSessionName } from './places.js';
import type { ResponseRequest } from './request.js';
import { type InputItem, itemsSchema } from './request-schema.js';

const compactSchema = z.looseObject({
  model: z.string().min(1).nullish(),
  input: z.union([z.string(), itemsSchema]).nullish(),
  previous_response_id: z.string().min(1).max(1024).nullish(),
});

/** A request to compact a conversation. */
export interface CompactRequest {
  readonly model: string | undefined;
  readonly items: readonly InputItem[];
  readonly previousResponse: string | undefined;
}

/** Reads the body of a request. @throws GatewayError `INVALID_REQUEST` naming the field */
export function readCompactRequest(given: unknown): CompactRequest {
  const { model, input, previous_response_id: previous } = readBody(compactSchema, given);
  const items = typeof input === 'string' ? [{ role: 'user' as const, content: input }] : (input ?? []);
  if (previous == null && items.length === 0)
    throw fieldError('input', 'there is nothing to compact', 'invalid_value');
  return { model: model ?? undefined, items, previousResponse: previous ?? undefined };
}

/** A request that goes on behind a compaction of ours: without the items up to that. Null for any other. */
export function behindCompaction(
  request: ResponseRequest,
): { readonly request: ResponseRequest; readonly place: CompactedPlace } | null {
  const { items, previousResponse, conversation } = request;
  if (previousResponse !== undefined || conversation !== undefined) return null;
  const at = items.findLastIndex((item) => item.type === 'compaction');
  const place = at < 0 ? null : placeOf(items[at]!);
  return place && { request: { ...request, items: items.slice(at + 1) }, place };
}

/** The end of a conversation that was compacted. */
export type CompactedPlace = NonNullable<ReturnType<typeof parseCompactionId>>;

const placeOf = (item: InputItem): CompactedPlace | null => {
  const { encrypted_content: content } = item as { readonly encrypted_content?: unknown };
  return typeof content === 'string' ? parseCompactionId(content) : null;
};

/** Has conversations summarized, of a response or as a request has them. */
export class Compactor {
  readonly #context: PluginContext;
  readonly #finder: Finder;

  constructor(context: PluginContext, finder: Finder) {
    this.#context = context;
    this.#finder = finder;
  }

  /** @returns the body of the answer. @throws GatewayError */
  async compact(request: CompactRequest, app: string, person: Person): Promise<object> {
    const session = await this.#session(request, app, person);
    const { runId } = await session.compact({ keep: 0 });
    const { stopReason, error, usage } = await session.run(runId).result;
    if (stopReason !== 'end')
      throw new GatewayError({
        code: 'UPSTREAM_FAILED',
        message: error?.message ?? `The summary ended by ${stopReason}`,
      });
    const tip = (await stateOf(session))?.tip ?? '';
    const id = compactionId({ sessionId: session.id, tip });
    return {
      ...{ id, object: 'response.compaction', created_at: Math.floor(Date.now() / 1000) },
      // The name of the conversation stands for its summary, which the app is given.
      output: [{ id, type: 'compaction', encrypted_content: id }],
      usage: toResponseUsage(usage, [], []),
    };
  }

  /** A session that ends with the last item to compact. */
  async #session(
    { items, previousResponse }: CompactRequest,
    app: string,
    person: Person,
  ): Promise<PluginSession> {
    const messages = await toMessages(items, (id, path) => this.#finder.item(id, path, person));
    const session = (): PluginSession =>
      this.#context.session(`${app}:${newSessionName(true, undefined)}`, person);
    if (previousResponse === undefined) {
      const begun = session();
      await begun.import(messages);
      return begun;
    }
    const found = await this.#finder.response(previousResponse, person);
    if (!found) throw previousNotFound(previousResponse);
    if ((await found.session.status()).app !== app)
      throw fieldError('model', 'the previous response is one of another model', 'invalid_value');
    const end = await endOf(found);
    if (end === null)
      throw fieldError('previous_response_id', 'this response is not over yet', 'invalid_value');
    if (messages.length > 0)
      throw fieldError('input', 'cannot be used with previous_response_id', 'invalid_value');
    if (lastRun(await stateOf(found.session)) === found.name.runId) return found.session;
    const branch = session();
    await found.session.fork(branch.id, { at: end });
    return branch;
  }
}
