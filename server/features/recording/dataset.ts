import type { BaseUser } from '../../../shared/contract.js';
import type {
  ChildAnswer,
  ContentBlock,
  Message,
  Reaction,
  StopReason,
  Usage,
} from '../../../shared/messages.js';
import { textOf } from '../../../shared/messages.js';
import type { ResultOf, SessionSummary } from '../../../shared/operation-types.js';
import { pick } from '../../../shared/pick.js';
import type { Variants } from '../../../shared/variants/contract.js';
import type { SessionsOptions, WhoseSessions } from '../../host/execute-options.js';

/** A call of a tool. */
interface DatasetTool {
  readonly name: string;
  readonly input: unknown;
  readonly output?: unknown;
  readonly isError?: boolean;
}

/** A run under that of an answer. */
interface DatasetChild
  extends Pick<
    ChildAnswer,
    'runId' | 'app' | 'name' | 'parentRunId' | 'stopReason' | 'usage' | 'totalUsage'
  > {
  readonly input: string;
  readonly output: string;
  readonly tools: readonly DatasetTool[];
}

/** One answer with the conversation before it: a line of a dataset. */
export interface DatasetEntry {
  readonly sessionId: string;
  /** Id of the answer. */
  readonly messageId: string;
  readonly runId?: string | undefined;
  readonly app?: string | undefined;
  /** The text of the message, and of the answer. */
  readonly input: string;
  readonly output: string;
  /** The conversation before `input`, oldest first. */
  readonly history: readonly { readonly role: string; readonly text: string }[];
  readonly tools: readonly DatasetTool[];
  readonly stopReason?: StopReason | undefined;
  /** Used by the run itself, and with the runs under it if they used anything. */
  readonly usage?: Usage | undefined;
  readonly totalUsage?: Usage | undefined;
  /** The ended runs under it. */
  readonly children: readonly DatasetChild[];
  /** The variants of its session (`turn.variant`) by the end of the answer. */
  readonly variants?: Variants | undefined;
  /** People's reactions to the answer; metadata of the answer (`turn.annotate`) and of the session (`update`). */
  readonly feedback: {
    readonly reactions?: readonly Reaction[];
    readonly message?: unknown;
    readonly session?: unknown;
  };
  readonly createdAt: number;
}

/** The sessions of a dataset. */
export interface DatasetOptions {
  readonly user?: BaseUser | undefined;
  /** A scope, in place of a user. */
  readonly scope?: string | undefined;
  /** Picks sessions by their summaries. @default all */
  readonly sessions?: ((session: SessionSummary) => boolean) | undefined;
}

/** The parts of a gateway that a dataset is read from. */
export interface DatasetSource {
  sessions(options: SessionsOptions): Promise<ResultOf<'sessions'>>;
  export(key: string, options: WhoseSessions): AsyncIterable<string>;
}

/**
 * The answers of a user's sessions as lines of JSON, for evaluation tools. Includes archived sessions. There is no access check.
 *
 * @example
 * ```ts
 * for await (const line of exportDataset(gateway, { user: { id: 'ada' } })) process.stdout.write(line);
 * ```
 */
export async function* exportDataset(
  gateway: DatasetSource,
  { sessions: picks = () => true, user, scope }: DatasetOptions = {},
): AsyncGenerator<string, void, void> {
  const whose = { ...(user && { user }), ...(scope !== undefined && { scope }) };
  for (const archived of [false, true]) {
    for (let before: string | undefined; ; ) {
      const page = await gateway.sessions({ ...whose, archived, ...(before !== undefined && { before }) });
      for (const session of page.sessions) {
        if (!picks(session)) continue;
        const messages: Message[] = [];
        for await (const line of gateway.export(session.sessionId, whose))
          messages.push(JSON.parse(line) as Message);
        for (const entry of entriesOf(session, messages)) yield `${JSON.stringify(entry)}\n`;
      }
      if (page.cursor === null) break;
      before = page.cursor;
    }
  }
}

function* entriesOf(
  { sessionId, metadata }: SessionSummary,
  messages: readonly Message[],
): Generator<DatasetEntry> {
  for (const [at, message] of messages.entries()) {
    if (message.role !== 'assistant') continue;
    const asked = messages.slice(0, at).findLastIndex(({ role }) => role === 'user');
    const {
      id: messageId,
      runId,
      app,
      stopReason,
      usage,
      totalUsage,
      variants,
      createdAt,
      content,
    } = message;
    const { reactions, children = [] } = message;
    yield {
      ...{ sessionId, messageId, runId, app },
      input: asked < 0 ? '' : textOf(messages[asked]!),
      output: textOf(message),
      history: messages.slice(0, Math.max(0, asked)).map((each) => ({ role: each.role, text: textOf(each) })),
      tools: toolsOf(content),
      ...{ stopReason, usage, totalUsage, variants, children: children.map(childOf) },
      feedback: {
        ...(reactions && { reactions }),
        ...(message.metadata && { message: message.metadata }),
        ...(metadata !== undefined && { session: metadata }),
      },
      createdAt,
    };
  }
}

function childOf({ asked, message, ...child }: ChildAnswer): DatasetChild {
  return {
    ...pick(child, 'runId', 'app', 'name', 'parentRunId', 'stopReason', 'usage', 'totalUsage'),
    ...{ input: textOf(asked), output: textOf(message), tools: toolsOf(message.content) },
  };
}

function toolsOf(content: readonly ContentBlock[]): DatasetEntry['tools'] {
  return content.flatMap((block) => {
    if (block.type !== 'tool_use') return [];
    const result = content.find((other) => other.type === 'tool_result' && other.callId === block.callId);
    const ended =
      result?.type === 'tool_result' ? { output: result.output, isError: result.isError === true } : {};
    return [{ name: block.name, input: block.input, ...ended }];
  });
}
