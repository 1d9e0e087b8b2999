import type { ContentBlock, PendingQuestion, StopReason, ToolProgress } from 'agent-session-gateway/client';
import { Json } from '../ui/json.js';
import { Attachment } from './attachment.js';
import { Markdown } from './markdown.js';

type ToolUse = Extract<ContentBlock, { type: 'tool_use' }>;
type ToolResult = Extract<ContentBlock, { type: 'tool_result' }>;

/** Lines as they were written, also without a stylesheet. */
const LINES = { whiteSpace: 'pre-wrap' } as const;

/** The content of a message, block by block. A tool's result is shown with its call. */
export function Blocks({
  content,
  progress = {},
  pending = [],
  stopReason,
  plain = false,
}: {
  readonly content: readonly ContentBlock[];
  readonly progress?: Readonly<Record<string, ToolProgress>> | undefined;
  /** Questions to a person: a tool among them waits, and does not run. */
  readonly pending?: readonly PendingQuestion[] | undefined;
  /** How the message ended: its tools do not run any more. */
  readonly stopReason?: StopReason | undefined;
  /** Whether text is shown without Markdown. */
  readonly plain?: boolean;
}) {
  const results = new Map(
    content.flatMap((block) => (block?.type === 'tool_result' ? [[block.callId, block] as const] : [])),
  );
  const called = new Set(content.map((block) => (block?.type === 'tool_use' ? block.callId : '')));
  return content.map((block, at) => {
    const key = `${block?.type} ${at}`;
    switch (block?.type) {
      case 'text':
        return plain ? (
          <p key={key} style={LINES} dir="auto">
            {block.text}
          </p>
        ) : (
          <Markdown key={key} text={block.text} />
        );
      case 'reasoning':
        return (
          <details key={key} className="fold">
            <summary>Reasoning</summary>
            <Markdown text={block.text} />
          </details>
        );
      case 'tool_use':
        return (
          <ToolCall
            key={key}
            call={block}
            result={results.get(block.callId)}
            progress={progress[block.callId]}
            waits={pending.some(({ callId }) => callId === block.callId)}
            stopReason={stopReason}
          />
        );
      case 'tool_result':
        return called.has(block.callId) ? null : <ToolCall key={key} result={block} />;
      case 'image':
      case 'file':
      case 'audio':
        return <Attachment key={key} block={block} />;
      case 'data':
        return (
          <details key={key} className="fold">
            <summary>
              Data <code>{block.name}</code>
            </summary>
            <Json value={block.value} label={`Data ${block.name}`} />
          </details>
        );
      case 'resource':
        return isOfWeb(block.uri) && block.text === undefined ? (
          <p key={key} className="source">
            <a href={block.uri} target="_blank" rel="noopener noreferrer">
              {block.uri.replace(/^https?:\/\/(?:www\.)?/, '')}
            </a>
          </p>
        ) : (
          <details key={key} className="fold">
            <summary>
              Resource <code>{block.uri}</code>
            </summary>
            <Json value={block.text ?? block} label={`Resource ${block.uri}`} />
          </details>
        );
      default:
        return null;
    }
  });
}

function ToolCall({
  call,
  result,
  progress,
  waits = false,
  stopReason,
}: {
  readonly call?: ToolUse;
  readonly result?: ToolResult | undefined;
  readonly progress?: ToolProgress | undefined;
  readonly waits?: boolean;
  readonly stopReason?: StopReason | undefined;
}) {
  const name = call?.name ?? result?.name ?? '';
  const state = result ? (result.isError ? 'failed' : 'done') : stateOf(waits, stopReason);
  return (
    <details className={`fold tool ${state}`}>
      <summary>
        <span className="dot" aria-hidden="true" />
        Tool <code>{name}</code> <span className="state">{WORDS[state]}</span>
        {progress && state === 'running' && <Progress {...progress} />}
      </summary>
      {call && (
        <>
          <h3>Input</h3>
          <Json value={call.input} label={`Input of ${name}`} />
        </>
      )}
      {result && (
        <>
          <h3>{result.isError ? 'Error' : 'Output'}</h3>
          <Json value={result.output} label={`Output of ${name}`} />
        </>
      )}
    </details>
  );
}

const isOfWeb = (uri: string): boolean => /^https?:\/\//i.test(uri);

const WORDS = {
  done: 'done',
  failed: 'failed',
  running: 'running',
  waiting: 'waits for you',
  called: 'waits for the caller',
  left: 'left unfinished',
};

/** The state of a tool without a result. */
function stateOf(waits: boolean, stopReason: StopReason | undefined): keyof typeof WORDS {
  if (waits) return 'waiting';
  if (stopReason === 'tool_use') return 'called';
  return stopReason === undefined ? 'running' : 'left';
}

function Progress({ value, total, message }: ToolProgress) {
  return (
    <span className="progress">
      <progress value={value} max={total} aria-label={message ?? 'Progress'} />{' '}
      {message ?? `${value}${total ? ` of ${total}` : ''}`}
    </span>
  );
}
