import type { StandardSchemaV1 } from '@standard-schema/spec';
import * as z from 'zod';
import type { UserContext } from '../../shared/contract.js';
import { GatewayError } from '../../shared/errors.js';
import type { ContentBlock } from '../../shared/messages.js';
import { contentBlockInputSchema } from '../../shared/schemas/messages.js';
import { isPlainObject, type JsonSchema, type NoRawShape } from '../schema/schema.js';
import { issuesOf } from '../schema/validate.js';
import type { ToolSession } from './application.js';
import type { Confirm } from './confirm-policy.js';

/** The context of a tool's call. */
export interface ToolContext {
  readonly signal: AbortSignal;
  readonly user: UserContext | null;
  readonly session: ToolSession;
  readonly callId: string;
  /** Reports progress. Reports in one turn of the event loop are merged into the last. */
  progress(value: number, total?: number, message?: string): void;
}

const MAX_FAULTS = 8;
const blocksSchema = z.object({ content: z.array(contentBlockInputSchema) });

const RESULT = Symbol.for('agent-session-gateway.tool-result');

/** A tool's result with its own content blocks. */
export interface ToolOutput<Structured = unknown> {
  readonly content: readonly ContentBlock[];
  readonly structured?: Structured;
  readonly isError?: boolean;
}

/**
 * Wraps a result that is more than text or JSON: images, resources, an error that is not thrown.
 *
 * @throws GatewayError `INVALID_REQUEST` naming the block and its wrong field, as in `content.0.mimeType: unknown field`
 *
 * @example
 * ```ts
 * const chart = tool({
 *   schema: z.object({ of: z.string() }),
 *   handler: async ({ of }) =>
 *     toolResult({ content: [{ type: 'image', mediaType: 'image/png', data: await db.chart(of) }] }),
 * });
 * ```
 */
export function toolResult<Structured = unknown>(output: ToolOutput<Structured>): ToolOutput<Structured> {
  const content = readBlocks(output.content);
  return Object.defineProperty({ ...output, content }, RESULT, { value: true });
}

/** Check here: otherwise a reader of the result would be the first to notice a misspelt field, in the words of another protocol. */
function readBlocks(content: unknown): readonly ContentBlock[] {
  // Remove undefined fields, as JSON does.
  const blocks: unknown = Array.isArray(content) ? content.map(withoutUndefined) : content;
  const { error, data } = blocksSchema.safeParse({ content: blocks });
  if (data) return data.content;
  const details = issuesOf(error).slice(0, MAX_FAULTS);
  const faults = details.map(({ path, message }) => `${path}: ${message}`).join('; ');
  throw new GatewayError({ code: 'INVALID_REQUEST', message: `toolResult: ${faults}`, details });
}

function withoutUndefined(block: unknown): unknown {
  if (!isPlainObject(block)) return block;
  return Object.fromEntries(Object.entries(block).filter(([, value]) => value !== undefined));
}

/** Whether `toolResult` made a value, also in another copy of this package. */
export function isToolResult(value: unknown): value is ToolOutput {
  return typeof value === 'object' && value !== null && RESULT in value;
}

/** The effects of a tool on the world, as its author states them. MCP clients use them to decide whether to ask their user. */
export interface ToolHints {
  /** The tool changes nothing. */
  readonly readOnly?: boolean;
  /** The tool may destroy data. */
  readonly destructive?: boolean;
  /** A repeated call changes nothing more. */
  readonly idempotent?: boolean;
  /** The tool reaches systems other than the app's own. */
  readonly openWorld?: boolean;
}

/** A tool of an app. `~types` exists for the type checker only. */
export interface Tool<Input, Output> {
  readonly '~types'?: { readonly input: Input; readonly output: Output };
  readonly description?: string;
  readonly title?: string;
  readonly hints?: ToolHints;
  readonly schema?: StandardSchemaV1 | JsonSchema;
  readonly runsOn: 'server' | 'client';
  readonly confirm: Confirm | ((input: any, context: ToolContext) => Confirm | Promise<Confirm>);
  /** Shown to the person with the request for confirmation, if `confirm` has no `message`. */
  readonly confirmMessage?: string | ((input: any) => string);
  readonly handler?: (input: any, context: ToolContext) => unknown;
}

/** The tools of an app, by name. */
export type ToolSet = Readonly<Record<string, Tool<any, any>>>;

type CallerInput<Schema> = Schema extends StandardSchemaV1 ? StandardSchemaV1.InferInput<Schema> : unknown;
type HandlerInput<Schema> = Schema extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Schema> : any;

interface ToolBase<Schema> {
  readonly description?: string;
  /** Title that clients show in place of the name. */
  readonly title?: string;
  readonly hints?: ToolHints;
  /** Validates the input: a Standard Schema or a plain JSON Schema object. */
  readonly schema?: Schema;
  /** Whether the person, or people by a policy, must consent before the handler runs. @default false */
  readonly confirm?:
    | Confirm
    | ((input: HandlerInput<Schema>, context: ToolContext) => Confirm | Promise<Confirm>);
  readonly confirmMessage?: string | ((input: HandlerInput<Schema>) => string);
}

interface ServerTool<Schema, Output> extends ToolBase<Schema> {
  readonly runsOn?: 'server';
  readonly handler: (input: HandlerInput<Schema>, context: ToolContext) => Output;
}

interface ClientSideTool<Schema> extends ToolBase<Schema> {
  /** The user's client answers the call with `respond`. */
  readonly runsOn: 'client';
  readonly handler?: never;
}

/**
 * Declares a tool. A handler returns text, any JSON or `toolResult(...)`; a thrown error becomes an error result with a safe message.
 *
 * @example
 * ```ts
 * const lookup = tool({
 *   description: 'Find a customer by name',
 *   schema: z.object({ name: z.string() }),
 *   confirm: ({ name }) => name === 'everybody',
 *   handler: ({ name }) => ({ name, plan: 'pro' }),
 * });
 * ```
 */
export function tool<Schema extends StandardSchemaV1 | JsonSchema | undefined = undefined, Output = unknown>(
  definition: (ServerTool<Schema, Output> | ClientSideTool<Schema>) & NoRawShape<Schema>,
): Tool<CallerInput<Schema>, Awaited<Output>> {
  return { runsOn: 'server', confirm: false, ...definition } as Tool<CallerInput<Schema>, Awaited<Output>>;
}
