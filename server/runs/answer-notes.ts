import { GatewayError } from '../../shared/errors.js';
import type { Message, Usage } from '../../shared/messages.js';

/** What an app says of its answer that only the end of the run tells. It belongs to the run: whoever ends it tells it. */
export class AnswerNotes {
  #usage: Record<string, unknown> | null = null;
  #metadata: Record<string, unknown> | null = null;

  /** What the run has used so far, as its app counts it. */
  get counts(): Usage | null {
    return this.#usage as Usage | null;
  }

  /** An answer with the metadata that the app has given it. */
  annotated(answer: Message): Message {
    return this.#metadata ? { ...answer, metadata: this.#metadata } : answer;
  }

  /** @throws GatewayError `INTERNAL` for what is no object; TypeError for a cycle or bigint */
  annotate(metadata: Readonly<Record<string, unknown>>): void {
    this.#metadata = { ...this.#metadata, ...copy(metadata) };
  }

  /** Adds counts to those so far. @throws as `annotate` */
  usage(counts: Usage): void {
    const usage = { ...this.#usage };
    for (const [name, value] of Object.entries(copy(counts))) {
      const old = usage[name];
      usage[name] = typeof value === 'number' && typeof old === 'number' ? old + value : value;
    }
    this.#usage = usage;
  }
}

/** What of an object survives as JSON. @throws GatewayError `INTERNAL` for what is no object; TypeError for a cycle or bigint */
function copy<T extends object>(value: T): Record<string, unknown> {
  // Each character of a text, and each item of a list, would become a field.
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new GatewayError({
      code: 'INTERNAL',
      message: 'Usage and annotations are objects of named values',
    });
  }
  return JSON.parse(JSON.stringify(value) ?? '{}') as Record<string, unknown>;
}
