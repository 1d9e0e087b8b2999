import type { CallAnswer } from '../../shared/asked-calls.js';
import type { ContentBlock } from '../../shared/messages.js';

/** A message of a page. */
export interface TanStackGiven {
  readonly id?: string;
  readonly role: string;
  readonly parts?: readonly unknown[];
}

type GivenPart = { readonly type: string } & Readonly<Record<string, any>>;

const partsOf = ({ parts = [] }: TanStackGiven): readonly GivenPart[] => parts as readonly GivenPart[];

/** The blocks of a user's message. Parts that only pages know are left out. */
export function contentOf(message: TanStackGiven): ContentBlock[] {
  return partsOf(message).flatMap((part): ContentBlock[] => {
    if (part.type === 'text') return [{ type: 'text', text: String(part.content) }];
    const { type: from, value, mimeType } = (part.source ?? {}) as Record<string, string | undefined>;
    if (value === undefined || !['image', 'audio', 'video', 'document'].includes(part.type)) return [];
    const type = part.type === 'image' || part.type === 'audio' ? part.type : 'file';
    const unknown = part.type === 'document' ? 'application/octet-stream' : `${part.type}/*`;
    const bytes = from === 'data' ? { data: value } : { url: value };
    return [{ type, mediaType: mimeType ?? unknown, ...bytes }];
  });
}

/** The results of a page's own tools in these messages, by call. */
export function outputsIn(messages: readonly TanStackGiven[]): Map<string, CallAnswer> {
  const answers = new Map<string, CallAnswer>();
  for (const part of messages.flatMap(partsOf)) {
    if (part.type !== 'tool-result') continue;
    const { toolCallId, content, state, error } = part;
    if (state === 'error') answers.set(toolCallId, { kind: 'failure', reason: String(error ?? content) });
    else answers.set(toolCallId, { kind: 'output', output: parsed(content) });
  }
  return answers;
}

function parsed(content: unknown): unknown {
  if (typeof content !== 'string') return content;
  try {
    return JSON.parse(content);
  } catch {
    return content;
  }
}
