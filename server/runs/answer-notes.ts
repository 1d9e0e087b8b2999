import { GatewayError } from '../../shared/errors.js';
import type { Message } from '../../shared/messages.js';

/** Notes of an app about its answer that the end of the run carries. They belong to the run, whatever ends it. */
export class AnswerNotes {
  #metadata: Record<string, unknown> | null = null;

  /** An answer with the metadata that the app has set. */
  annotated(answer: Message): Message {
    return this.#metadata ? { ...answer, metadata: this.#metadata } : answer;
  }

  /** @throws GatewayError `INTERNAL` for a value that is not an object; TypeError for a cycle or bigint */
  annotate(metadata: Readonly<Record<string, unknown>>): void {
    this.#metadata = { ...this.#metadata, ...copyOf(metadata) };
  }
}

/**
 * A copy of an object with the parts that survive as JSON.
 *
 * @throws GatewayError `INTERNAL` for a value that is not an object; TypeError for a cycle or bigint
 */
export function copyOf<T extends object>(value: T): Record<string, unknown> {
  // Otherwise each character of a text, and each item of a list, would become a field.
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new GatewayError({
      code: 'INTERNAL',
      message: 'Usage and annotations must be objects of named values',
    });
  }
  return JSON.parse(JSON.stringify(value) ?? '{}') as Record<string, unknown>;
}
