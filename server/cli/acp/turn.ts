import { randomUUID } from 'node:crypto';
import type {
  AgentContext,
  RequestPermissionRequest,
  SessionUpdate,
  StopReason,
} from '@agentclientprotocol/sdk';
import {
  type ApprovalPolicy,
  type Client,
  type EventOf,
  type FollowedRun,
  type GatewayEvent,
  isGatewayError,
  type StopReason as RunEnd,
} from 'agent-session-gateway/client';
import { answered, called, chunk } from './content.js';

/** The client, the editor and the session of a turn. */
export interface AcpTurnParts {
  readonly client: Client;
  readonly editor: AgentContext;
  readonly sessionId: string;
}

/** Choices of an editor's dialog. */
const OPTIONS = [
  { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
] as const;

/** Tells an editor the events of a run, and asks its user the run's questions. */
export class AcpTurn {
  readonly #told: AcpTurnParts;
  /** Open dialogs, by call. */
  readonly #asked = new Map<string, AbortController>();
  #messageId = '';

  constructor(told: AcpTurnParts) {
    this.#told = told;
  }

  /** Tells a run to its end. @param messageId Id of the answer, if its beginning was told before */
  async follow(
    run: AsyncIterable<GatewayEvent> & Pick<FollowedRun, 'result'>,
    messageId = '',
  ): Promise<StopReason> {
    this.#messageId = messageId;
    try {
      for await (const event of run) await this.#event(event);
    } finally {
      for (const dialog of this.#asked.values()) dialog.abort();
    }
    const { stopReason, error } = await run.result;
    return wordOf(stopReason, error?.message);
  }

  /** Opens the dialog for a question that the run waits for. */
  ask(question: {
    readonly callId: string;
    readonly name: string;
    readonly input?: unknown;
    readonly message?: string;
    readonly policy?: ApprovalPolicy;
  }): void {
    const dialog = new AbortController();
    this.#asked.set(question.callId, dialog);
    // The run continues with an answer, from here or elsewhere, even if the dialog fails.
    this.#dialog(question, dialog.signal).catch(() => {});
  }

  async #event(event: GatewayEvent): Promise<void> {
    switch (event.type) {
      case 'message_start':
        this.#messageId = event.messageId;
        return;
      case 'content_delta':
        return this.#say(chunk('agent_message_chunk', this.#messageId, event.delta));
      case 'message_replaced':
        // The protocol can take nothing back, so what follows is another message, apart from this one.
        this.#messageId = randomUUID();
        return this.#say(chunk('agent_message_chunk', this.#messageId, '\n\n'));
      case 'reasoning_delta':
        return this.#say(chunk('agent_thought_chunk', this.#messageId, event.delta));
      case 'tool_use':
        return this.#say(called(event));
      case 'tool_result':
        return this.#say(answered(event));
      case 'tool_progress':
        return this.#progress(event);
      case 'tool_confirmation_required':
        this.ask(event);
        return;
      case 'tool_confirmation_result':
        this.#asked.get(event.callId)?.abort();
        this.#asked.delete(event.callId);
        return;
      case 'input_required': {
        const text = `\n\nThe app asks "${event.name}", which an editor cannot answer: answer it in another client.\n\n`;
        return this.#say(chunk('agent_message_chunk', this.#messageId, text));
      }
    }
  }

  #progress({ callId, value, total, message }: EventOf<'tool_progress'>): Promise<void> {
    const text = message ?? (total === undefined ? String(value) : `${value} of ${total}`);
    return this.#say({
      sessionUpdate: 'tool_call_update',
      toolCallId: callId,
      status: 'in_progress',
      content: [{ type: 'content', content: { type: 'text', text } }],
    });
  }

  #say(update: SessionUpdate): Promise<void> {
    const { editor, sessionId } = this.#told;
    return editor.notify('session/update', { sessionId, update });
  }

  async #dialog(
    { callId, name, input, message, policy }: Parameters<AcpTurn['ask']>[0],
    cancellationSignal: AbortSignal,
  ): Promise<void> {
    const { client, editor, sessionId } = this.#told;
    const toolCall: RequestPermissionRequest['toolCall'] = {
      toolCallId: callId,
      title: message ?? name,
      rawInput: input,
      status: 'pending' as const,
      ...(policy && { _meta: { 'agent-session-gateway': { policy } } }),
    };
    const request: RequestPermissionRequest = { sessionId, toolCall, options: [...OPTIONS] };
    const { outcome } = await editor.request('session/request_permission', request, { cancellationSignal });
    if (cancellationSignal.aborted) return;
    const approved = outcome.outcome === 'selected' && outcome.optionId === 'allow';
    try {
      await client.session(sessionId).respond(callId, { approved });
    } catch (error) {
      // This user may not answer, so the run waits for somebody who may.
      if (isGatewayError(error) && error.code === 'GUARD_DENIED')
        return this.#say(chunk('agent_message_chunk', this.#messageId, `\n\n${error.message}.\n\n`));
      // Somebody else answered first, or the run has ended. The run's events tell it.
      if (!isGatewayError(error) || !/^(?:ALREADY_ANSWERED|CALL_NOT_FOUND)$/.test(error.code)) throw error;
    }
  }
}

/** The stop reason of a run in the protocol's words. @throws Error if the run failed */
function wordOf(stopReason: RunEnd, message: string | undefined): StopReason {
  switch (stopReason) {
    case 'aborted':
    case 'superseded':
      return 'cancelled';
    case 'max_tokens':
      return 'max_tokens';
    case 'moderated':
      return 'refusal';
    case 'budget':
    case 'error':
    case 'timeout':
    case 'lost':
      throw new RunFailed(message ?? `The answer ended early: ${stopReason}`);
    default:
      return 'end_turn';
  }
}

/** A run failed. */
export class RunFailed extends Error {}
