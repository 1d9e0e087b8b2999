import type {
  AssistantModelMessage,
  FilePart,
  ModelMessage,
  TextPart,
  ToolModelMessage,
  UserModelMessage,
} from 'ai';
import { type ContentBlock, textOf } from '../../../shared/messages.js';
import { parseUrl } from '../../../shared/parse-url.js';
import { type StoppedMessage, tellOfCuts } from '../../chat-format/cut-answers.js';
import { NO_RESULT, type Results, resultsIn, withoutProviderCalls } from '../../chat-format/rounds.js';
import { toModelOutput } from './tool-output.js';

/** The parts of messages that a model receives. */
export interface ToModelMessagesOptions {
  /** Whether earlier reasoning is included. @default true */
  readonly reasoning?: boolean;
}

type AssistantPart = Exclude<AssistantModelMessage['content'], string>[number];
type UserPart = Exclude<UserModelMessage['content'], string>[number];

/**
 * Converts messages of a session to messages of the AI SDK. An answer with tool calls becomes as many assistant and tool messages as it had
 * steps. A call that was never answered gets an error as its result, because models refuse a conversation without one. Data blocks are for
 * people and left out. After a truncated answer, the user's next message says so.
 */
export function toModelMessages(
  all: readonly StoppedMessage[],
  { reasoning = true }: ToModelMessagesOptions = {},
): ModelMessage[] {
  const messages = withoutProviderCalls(tellOfCuts(all));
  const results = resultsIn(messages);
  return messages.flatMap((message): ModelMessage[] => {
    switch (message.role) {
      case 'system': {
        const content = textOf(message);
        return content === '' ? [] : [{ role: 'system', content }];
      }
      case 'user': {
        const content = message.content.flatMap(toUserPart);
        return content.length === 0 ? [] : [{ role: 'user', content }];
      }
      case 'assistant':
        return toSteps(message.content, results, reasoning);
      default:
        // The results are put behind their calls.
        return [];
    }
  });
}

function toSteps(content: readonly ContentBlock[], results: Results, reasoning: boolean): ModelMessage[] {
  const steps: ModelMessage[] = [];
  let parts: AssistantPart[] = [];
  let answers: ToolModelMessage['content'] = [];
  let answered = false;
  const endStep = (): void => {
    if (parts.length > 0) steps.push({ role: 'assistant', content: parts });
    if (answers.length > 0) steps.push({ role: 'tool', content: answers });
    parts = [];
    answers = [];
    answered = false;
  };
  for (const block of content) {
    if (block.type === 'tool_result') answered ||= answers.length > 0;
    const part = toAssistantPart(block, reasoning);
    if (!part) continue;
    if (answered) endStep();
    parts.push(part);
    if (block.type === 'tool_use') {
      const { callId: toolCallId, name: toolName } = block;
      const output = toModelOutput(results.get(block) ?? UNANSWERED);
      answers.push({ type: 'tool-result', toolCallId, toolName, output });
    }
  }
  endStep();
  return steps;
}

const UNANSWERED = { output: NO_RESULT, isError: true };

function toAssistantPart(block: ContentBlock, reasoning: boolean): AssistantPart | null {
  switch (block.type) {
    case 'text':
      return block.text === '' ? null : { type: 'text', text: block.text };
    case 'reasoning':
      return reasoning && block.text !== '' ? { type: 'reasoning', text: block.text } : null;
    case 'image':
    case 'file':
    case 'audio':
      return toFile(block);
    case 'tool_use':
      return { type: 'tool-call', toolCallId: block.callId, toolName: block.name, input: block.input };
    default:
      return null;
  }
}

function toUserPart(block: ContentBlock): UserPart[] {
  switch (block.type) {
    case 'text':
      return block.text === '' ? [] : [{ type: 'text', text: block.text }];
    case 'image':
    case 'file':
    case 'audio':
      return [toFile(block)];
    case 'resource': {
      const { uri, text, data, mediaType = 'application/octet-stream' } = block;
      if (text !== undefined) return [{ type: 'text', text }];
      return [data === undefined ? { type: 'text', text: uri } : toFile({ mediaType, data })];
    }
    case 'data':
      return [{ type: 'text', text: JSON.stringify({ [block.name]: block.value }) }];
    default:
      return [];
  }
}

interface ModelMedia {
  readonly mediaType: string;
  readonly name?: string;
  readonly url?: string;
  readonly data?: string;
}

/** Media without bytes or with a broken address become a remark. An error would end every later run of the session too. */
function toFile({ mediaType, name, url, data }: ModelMedia): FilePart | TextPart {
  const content = data ?? (url !== undefined && parseUrl(url) ? url : undefined);
  if (content === undefined) return { type: 'text', text: `[${name ?? mediaType}: not available]` };
  return { type: 'file', data: content, mediaType, ...(name !== undefined && { filename: name }) };
}
