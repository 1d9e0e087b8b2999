import type { CallAnswer } from '../../shared/asked-calls.js';
import type { ContentBlock } from '../../shared/messages.js';
import type { UiPart } from '../../shared/ui-stream/chunks.js';

const DATA_URL = /^data:([^;,]+)(?:;[^;,]+)*;base64,/i;

/** The content blocks of a user's message. Parts that only interfaces know are left out. */
export function contentOf(parts: readonly UiPart[]): ContentBlock[] {
  return parts.flatMap((part, at): ContentBlock[] => {
    if (part.type === 'text') return [{ type: 'text', text: String(part.text) }];
    if (part.type === 'file') return [fileOf(part)];
    if (!part.type.startsWith('data-')) return [];
    const id = typeof part.id === 'string' ? part.id : `part-${at}`;
    return [{ type: 'data', id, name: part.type.slice('data-'.length), value: part.data ?? null }];
  });
}

function fileOf(part: UiPart): ContentBlock {
  const { url, mediaType: given, filename } = part as UiPart & Readonly<Record<'url' | 'mediaType', string>>;
  const inline = DATA_URL.exec(url);
  const mediaType = inline ? inline[1]! : given;
  const [kind] = mediaType.split('/');
  const type = kind === 'image' || kind === 'audio' ? kind : 'file';
  const bytes = inline ? { data: url.slice(inline[0].length) } : { url };
  return { type, mediaType, ...bytes, ...(typeof filename === 'string' && { name: filename }) };
}

/** The answers that a page has put into a message, by call. */
export function answersIn(parts: readonly UiPart[]): ReadonlyMap<string, CallAnswer> {
  const answers = new Map<string, CallAnswer>();
  for (const { type, toolCallId, ...part } of parts) {
    if (typeof toolCallId !== 'string' || !(type === 'dynamic-tool' || type.startsWith('tool-'))) continue;
    const answer = answerOf(part);
    if (answer) answers.set(toolCallId, answer);
  }
  return answers;
}

/** Whether a page shows a question in a message that it has not answered. */
export function asksIn(parts: readonly UiPart[] = []): boolean {
  return parts.some(
    ({ type, state }) =>
      state === 'approval-requested' || state === 'input-available' || type === 'data-approval-request',
  );
}

function answerOf({
  state,
  output,
  errorText,
  approval,
}: Readonly<Record<string, unknown>>): CallAnswer | null {
  if (state === 'output-available') return { kind: 'output', output: output ?? null };
  if (state === 'output-error') return { kind: 'failure', reason: String(errorText) };
  if (state !== 'approval-responded') return null;
  const { approved, reason } = approval as { readonly approved?: unknown; readonly reason?: unknown };
  const why = typeof reason === 'string' && { reason };
  return { kind: 'confirmation', approved: approved === true, ...why };
}
