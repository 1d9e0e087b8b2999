import type { ContentBlock } from '../../shared/messages.js';

/** A message of the load: who sent it, its number, and what the app is to do: `<client>/<number> <what>`. */
export function textFor(client: string, number: number, what: string): string {
  return `${client}/${number} ${what}`;
}

/** How many pieces the answer to a message has. */
export function piecesOf(text: string): number {
  return Number(/ say (\d+)$/.exec(text)?.[1] ?? 0);
}

/** A piece of an answer: it names the message, so that no piece passes for one of another answer. */
export function pieceOf(text: string, number: number): string {
  return `[${text.split(' ')[0]}:${number}]`;
}

/** The whole answer to a message that asks nothing. */
export function answerTo(text: string): string {
  return Array.from({ length: piecesOf(text) }, (_, number) => pieceOf(text, number)).join('');
}

/** What an app asks about a message before it answers. */
export function askedBy(text: string): 'question' | 'confirmation' {
  return text.endsWith('question') ? 'question' : 'confirmation';
}

/** The text of a message, and how many pieces it has. */
export function saidOf(content: readonly ContentBlock[]): { readonly text: string; readonly pieces: number } {
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  return { text, pieces: text.split('[').length - 1 };
}
