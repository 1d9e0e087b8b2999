import type { IncomingMessage } from 'node:http';
import * as z from 'zod';
import type { UserContext } from '../../../shared/contract.js';
import { GatewayError } from '../../../shared/errors.js';
import { PROTOCOL_VERSION } from '../../../shared/version.js';
import type { MaybePromise } from '../../async/maybe-promise.js';
import type { ToolDescription } from '../plugin.js';

/**
 * Chooses the tools that a client sees and may call, from those that `include` and `exclude` left. Only names count: changed descriptions
 * and added tools have no effect. A throw, or no answer in 5 s, refuses the client.
 */
export type McpToolFilter = (
  tools: readonly ToolDescription[],
  request: IncomingMessage,
  caller: { readonly user: UserContext },
) => MaybePromise<readonly Pick<ToolDescription, 'name'>[]>;

/** The address of a page of the host where a person answers a confirmation. */
export type McpConfirmUrl = (
  question: { readonly callId: string; readonly name: string; readonly input: unknown },
  caller: { readonly user: UserContext },
) => string;

/** Limits of the plugin; `Infinity` for none. */
export interface McpLimits {
  /** Milliseconds after which an idle client session ends. @default 30 min */
  readonly idleMs: number;
  /** Open client sessions of one user. @default 200 */
  readonly sessionsPerUser: number;
  /** Open client sessions of all users. @default 5000 */
  readonly sessions: number;
  /** Messages kept of a client session, for resumed streams. @default 256 */
  readonly replayMessages: number;
  /** Size of these messages, in characters. The last one is kept whatever its size. @default 1 Mi */
  readonly replaySize: number;
  /** Milliseconds within which a client of revision 2026-07-28 must come back with the answer to a confirmation. @default 10 min */
  readonly answerMs: number;
  /** Confirmations of one user that may wait for such a client. @default 100 */
  readonly questionsPerUser: number;
}

/** The place at which users of MCP clients sign in. */
export interface McpSignIn {
  /** The endpoint's public address, which ends with its `path`. Tokens should be for it: name it as `audience` in `auth` too. */
  readonly resource: string;
  /** The issuers whose tokens `auth` takes. */
  readonly authorizationServers: readonly string[];
  /** The scopes that a token must have, in its claims `scope` or `scp`. @default none */
  readonly scopes?: readonly string[] | undefined;
}

/** The calls that become tasks of clients that know these (`io.modelcontextprotocol/tasks`). */
export interface McpTasks {
  /** Milliseconds after which a call becomes a task; with 0, every call is one. One that asks a person becomes one as it asks. @default 5000 */
  readonly afterMs?: number | undefined;
  /** How often clients should ask for a task, in milliseconds. @default 2000 */
  readonly pollMs?: number | undefined;
  /** Names of the tools whose calls may become tasks. @default all */
  readonly tools?: readonly string[] | undefined;
}

/** Options of `mcpServerPlugin`. */
export interface McpServerPluginOptions {
  /** Session key. Its app has the tools, and calls run in the caller's own session of that name. */
  readonly sessionId: string;
  /** Path of the endpoint below the gateway's mount. @default '/mcp' */
  readonly path?: string | undefined;
  /** Names of the exposed tools; an empty list exposes none. @default all */
  readonly include?: readonly string[] | undefined;
  /** Names of tools that are not exposed. @default none */
  readonly exclude?: readonly string[] | undefined;
  /** Called when a client session begins, and for each request that lists or calls tools. */
  readonly toolFilter?: McpToolFilter | undefined;
  /**
   * Address of a page where a person answers a confirmation, for clients that open addresses (elicitation by URL). The page follows the
   * signed-in caller's session and answers with `respond`. It is preferred to forms, whose answers only the client vouches for.
   *
   * @default forms
   */
  readonly confirmUrl?: McpConfirmUrl | undefined;
  /** The server's name and version for clients. @default `agent-session-gateway` and its protocol version */
  readonly serverInfo?:
    | { readonly name: string; readonly version: string; readonly title?: string }
    | undefined;
  /** Instructions for the client's model on how to use the tools. */
  readonly instructions?: string | undefined;
  /** Tells clients without a token where to get one. @default they need one from elsewhere */
  readonly signIn?: McpSignIn | undefined;
  /** Which calls become tasks, and outlive their requests. `false`: none. Clients that do not know tasks have none. @default all */
  readonly tasks?: McpTasks | false | undefined;
  readonly limits?: Partial<McpLimits> | undefined;
}

/** The options with their defaults. */
export interface ParsedOptions {
  readonly sessionId: string;
  readonly path: string;
  readonly include: readonly string[] | undefined;
  readonly exclude: readonly string[];
  readonly toolFilter: McpToolFilter | undefined;
  readonly confirmUrl: McpConfirmUrl | undefined;
  readonly serverInfo: { readonly name: string; readonly version: string; readonly title?: string };
  readonly instructions: string | undefined;
  readonly signIn: McpSignIn | undefined;
  /** Null if there are none. */
  readonly tasks: TaskOptions | null;
  readonly limits: McpLimits;
}

/** The options of tasks with their defaults. */
export interface TaskOptions {
  readonly afterMs: number;
  readonly pollMs: number;
  /** Null for all. */
  readonly tools: readonly string[] | null;
}

const DEFAULT_LIMITS: McpLimits = {
  idleMs: 30 * 60_000,
  sessionsPerUser: 200,
  sessions: 5000,
  replayMessages: 256,
  replaySize: 1024 * 1024,
  answerMs: 10 * 60_000,
  questionsPerUser: 100,
};

// Zod's own number type refuses Infinity, which switches a limit off.
const amount = z
  .custom<number>((value) => typeof value === 'number' && value > 0, 'must be a number above 0')
  .optional();
const names = z.array(z.string()).optional();

const address = z
  .string()
  .refine(
    (text) => /^https?:\/\/[^\s"#?]+$/.test(text) && URL.canParse(text),
    'must be an address without a query',
  );

const schema = z.strictObject({
  sessionId: z.string().min(1),
  path: z
    .string()
    .regex(/^(?:\/[A-Za-z0-9_.-]+)+$/, 'must be a path such as /mcp')
    .optional(),
  include: names,
  exclude: names,
  toolFilter: z.custom((value) => typeof value === 'function', 'must be a function').optional(),
  confirmUrl: z.custom((value) => typeof value === 'function', 'must be a function').optional(),
  serverInfo: z
    .strictObject({ name: z.string().min(1), version: z.string().min(1), title: z.string().optional() })
    .optional(),
  instructions: z.string().optional(),
  signIn: z
    .strictObject({
      resource: address,
      authorizationServers: z.array(address).min(1),
      scopes: z
        .array(z.string().regex(/^[!#-[\]-~]+$/, 'must be a scope, without spaces and quotes'))
        .optional(),
    })
    .optional(),
  tasks: z
    .union([
      z.literal(false),
      z.strictObject({
        afterMs: z.number().min(0).optional(),
        pollMs: z.number().int().min(1).optional(),
        tools: names,
      }),
    ])
    .optional(),
  limits: z
    .strictObject({
      idleMs: amount,
      sessionsPerUser: amount,
      sessions: amount,
      replayMessages: amount,
      replaySize: amount,
      answerMs: amount,
      questionsPerUser: amount,
    })
    .optional(),
});

const tasksOf = ({ afterMs = 5000, pollMs = 2000, tools }: McpTasks = {}): TaskOptions => ({
  ...{ afterMs, pollMs, tools: tools ?? null },
});

/** @throws GatewayError `INVALID_REQUEST` naming each wrong field */
export function parseOptions(options: McpServerPluginOptions): ParsedOptions {
  const outcome = schema.safeParse(options);
  if (!outcome.success) {
    const details = outcome.error.issues.map(({ path, message }) => ({
      path: path.map(String).join('.'),
      message,
    }));
    const told = details.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join('; ');
    throw new GatewayError({ code: 'INVALID_REQUEST', message: `mcpServerPlugin: ${told}`, details });
  }
  const {
    sessionId,
    path = '/mcp',
    include,
    exclude = [],
    toolFilter,
    confirmUrl,
    instructions,
    signIn,
  } = options;
  if (signIn && !signIn.resource.endsWith(path))
    throw new GatewayError({
      code: 'INVALID_REQUEST',
      message: `mcpServerPlugin: signIn.resource: must end with ${path}`,
    });
  const given = Object.entries(options.limits ?? {}).filter(([, value]) => value !== undefined);
  return {
    sessionId,
    path,
    include,
    exclude,
    toolFilter,
    confirmUrl,
    serverInfo: options.serverInfo ?? { name: 'agent-session-gateway', version: String(PROTOCOL_VERSION) },
    instructions,
    signIn,
    tasks: options.tasks === false ? null : tasksOf(options.tasks),
    limits: { ...DEFAULT_LIMITS, ...Object.fromEntries(given) },
  };
}
