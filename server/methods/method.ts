import type { StandardSchemaV1 } from '@standard-schema/spec';
import type {
  CallerParams,
  CallerReturn,
  HandlerParams,
  HandlerReturn,
  Method,
  MethodContext,
} from '../../shared/method.js';

/** How a method is declared. All but the handler is optional. */
export interface MethodDefinition<Schema, ResultSchema, Params, Return> {
  readonly description?: string;
  /** Validates parameters: callers send its input side, the handler receives its output side. */
  readonly schema?: Schema;
  /** Validates the result, or each item of a streaming method. Generated clients type results from it. */
  readonly result?: ResultSchema;
  /** Roles that may call; holding any one suffices. Checked before `schema` and `guard`. */
  readonly roles?: readonly string[];
  /** Only `true` lets the call through. Any other result, an error, and no result within 5 s deny it. */
  readonly guard?: (
    context: MethodContext,
    params: HandlerParams<Schema, Params>,
  ) => boolean | Promise<boolean>;
  /**
   * Milliseconds that the handler may take, instead of the gateway's `limits.methodMs`. For a streaming method: milliseconds that the whole
   * stream may last, unlimited by default.
   */
  readonly timeoutMs?: number;
  /** States that the handler returns an async iterable. Async generator functions are recognized without it. */
  readonly stream?: boolean;
  readonly handler: (params: HandlerParams<Schema, Params>, context: MethodContext) => Return;
}

/**
 * Declares a method with a schema, roles, a guard or a description. A bare async function needs no wrapper.
 *
 * @example
 * ```ts
 * const archive = method({
 *   description: 'Archives what is older than a day',
 *   roles: ['admin'],
 *   schema: z.object({ before: z.iso.date() }),
 *   handler: async ({ before }) => ({ archived: Number(await db.archive(before)) }),
 * });
 * ```
 */
export function method<
  Schema extends StandardSchemaV1 | undefined = undefined,
  ResultSchema extends StandardSchemaV1 | undefined = undefined,
  Params = void,
  Return extends HandlerReturn<ResultSchema> = HandlerReturn<ResultSchema>,
>(
  definition: MethodDefinition<Schema, ResultSchema, Params, Return>,
): Method<CallerParams<Schema, Params>, CallerReturn<ResultSchema, Return>> {
  return { ...definition, '~kind': 'method' } as Method<never, never>;
}
