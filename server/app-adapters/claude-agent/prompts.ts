import type { ShownBlock } from '../anthropic-blocks.js';
import type { ClaudePrompt } from './sdk.js';

/** The messages to the agent, until the end. */
export class Prompts {
  readonly #waiting: ClaudePrompt[] = [];
  #isEnded = false;
  #wake = () => {};

  put(content: ShownBlock[]): void {
    this.#waiting.push({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null });
    this.#wake();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ClaudePrompt, void> {
    for (;;) {
      yield* this.#waiting.splice(0);
      if (this.#waiting.length > 0) continue;
      if (this.#isEnded) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
