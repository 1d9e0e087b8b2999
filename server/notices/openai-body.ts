import type { StopReason } from '../../shared/messages.js';
import type { ToldNotice } from '../../shared/notices.js';
import { responseId } from '../../shared/responses/ids.js';

/** How OpenAI calls the ends of responses, where they did not complete. */
const TYPES: Partial<Record<StopReason, string>> = {
  max_tokens: 'response.incomplete',
  aborted: 'response.cancelled',
  superseded: 'response.cancelled',
  error: 'response.failed',
  timeout: 'response.failed',
  lost: 'response.failed',
};

/** What OpenAI tells of a background response: its id, by which it is to be read. */
export function openAiBody({ id, sessionId, runId = '', stopReason = 'end', at }: ToldNotice): object {
  return {
    object: 'event',
    id: `evt_${id.replace(/[^A-Za-z0-9]/g, '_')}`,
    type: TYPES[stopReason] ?? 'response.completed',
    created_at: Math.floor(at / 1000),
    data: { id: responseId({ sessionId, runId, index: 0 }) },
  };
}
