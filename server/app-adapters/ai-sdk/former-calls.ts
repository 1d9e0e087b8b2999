import { isDeepStrictEqual } from 'node:util';
import type { Message, ToolUseBlock } from '../../../shared/messages.js';

/** The calls that a former process has sent to clients. The model's ids of them may be others the second time. */
export class FormerCalls {
  readonly #calls: Set<ToolUseBlock>;

  constructor(resumed: Pick<Message, 'content'> | null) {
    this.#calls = new Set(resumed?.content.filter((block) => block.type === 'tool_use'));
  }

  /** Takes the id under which a call was sent. Each is taken once. */
  take(name: string, input: unknown): string | undefined {
    const wanted: unknown = JSON.parse(JSON.stringify(input ?? null));
    for (const call of this.#calls) {
      if (call.name !== name || !isDeepStrictEqual(call.input, wanted)) continue;
      this.#calls.delete(call);
      return call.callId;
    }
    return undefined;
  }
}
