import { failureOf } from '../run-failure.js';
import type { Subagent } from '../subagents.js';
import type { AgUiEvent, AgUiVersion } from './events.js';

/**
 * Tells child runs. Every client gets custom events `subagent` with what is known of a child. Clients of version 1.0 also get the protocol's events of
 * its beginning and end, once in each of their runs; the text stays out of the conversation's messages, which clients send back.
 */
export class SubagentTeller {
  readonly #version: AgUiVersion;
  /** The children told in the client's run, and whether they are still at work. */
  #told = new Map<string, boolean>();

  constructor(version: AgUiVersion) {
    this.#version = version;
  }

  tell(subagent: Subagent): AgUiEvent[] {
    const custom = { type: 'CUSTOM', name: 'subagent', value: subagent } as const;
    if (this.#version !== '1.0') return [custom];
    const { runId: subagentRunId, state, text } = subagent;
    const begun = this.#told.has(subagentRunId) ? [] : [this.#started(subagent)];
    this.#told.set(subagentRunId, state !== 'ended');
    if (state !== 'ended') return [...begun, custom];
    const { stopReason, error } = subagent;
    const failure = failureOf(stopReason!, error ?? null);
    const end: AgUiEvent = failure
      ? { type: 'SUBAGENT_ERROR', subagentRunId, ...failure }
      : { type: 'SUBAGENT_FINISHED', subagentRunId, result: text, outcome: { type: 'success' } };
    return [...begun, custom, end];
  }

  #started({ runId: subagentRunId, app: name, parentRunId = '', callId }: Subagent): AgUiEvent {
    return {
      ...{ type: 'SUBAGENT_STARTED', subagentRunId, name },
      ...(this.#told.has(parentRunId) && { parentSubagentRunId: parentRunId }),
      ...(callId !== undefined && { parentToolCallId: callId }),
    };
  }

  /** The client's run ends. Children that go on begin again in its next one. */
  pause(): AgUiEvent[] {
    const open = [...this.#told].filter(([, isOpen]) => isOpen).reverse();
    this.#told = new Map();
    return open.map(([subagentRunId]) => {
      return { type: 'SUBAGENT_FINISHED', subagentRunId, outcome: { type: 'suspended' } };
    });
  }
}
