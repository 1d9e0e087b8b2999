import type { GatewayEvent } from '../../shared/events.js';

/** Listens to one log from its start and says where the end of a run has another text than its deltas. */
export class StreamedAnswers {
  readonly #said = new Map<string, string>();

  /** @returns What is wrong with it; null for nothing */
  take(event: GatewayEvent): string | null {
    const { runId } = event as { readonly runId?: string };
    if (runId === undefined) return null;
    if (event.type === 'content_delta') this.#said.set(runId, this.#of(runId) + event.delta);
    if (event.type !== 'message_end') return null;
    const told = event.message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    const said = this.#of(runId);
    this.#said.delete(runId);
    return told === said
      ? null
      : `${runId} ends as ${event.stopReason} with ${JSON.stringify(told)}, and ${JSON.stringify(said)} was streamed`;
  }

  #of(runId: string): string {
    return this.#said.get(runId) ?? '';
  }
}

/** What is wrong with the ends of a whole log. */
export function* untrueEnds(events: readonly GatewayEvent[]): Generator<string> {
  const answers = new StreamedAnswers();
  for (const event of events) {
    const wrong = answers.take(event);
    if (wrong !== null) yield wrong;
  }
}

/** What test stores of this process found, until that is asked. */
const found: string[] = [];

export const noteUntrue = (what: string): void => void found.push(what);

/** @throws Error where a run ended with another text than it had streamed, on any store that a test watches */
export function assertTrueEnds(): void {
  const all = found.splice(0);
  if (all.length > 0) throw new Error(`An end is not what was streamed: ${all.join('; ')}`);
}
