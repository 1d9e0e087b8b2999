import type { OperationName } from '../../shared/operations.js';

/** What an operation is asked with; `events` is a stream, and `tool-call` another protocol's. */
export type Asked =
  | Exclude<OperationName, 'methods' | 'openapi' | 'apps' | 'ticket' | 'sessions' | 'inbox' | 'push'>
  | 'events';

/** What each operation is asked with on a session. */
export function paramsOf(
  sessionId: string,
  connectionId: string,
): Readonly<Record<Asked, Record<string, unknown>>> {
  return {
    events: { sessionId },
    history: { sessionId },
    status: { sessionId },
    run: { sessionId, runId: 'run_none' },
    export: { sessionId },
    schedules: { sessionId },
    read: { sessionId },
    notices: { sessionId },
    presence: { sessionId, connectionId },
    react: { sessionId, messageId: 'none', value: 'up' },
    'take-over': { sessionId },
    'hand-back': { sessionId },
    subscribe: { connectionId, add: [sessionId] },
    channel: { sessionId, channel: 'news', payload: 1 },
    send: { sessionId, message: 'hi' },
    regenerate: { sessionId },
    move: { sessionId, tip: null },
    abort: { sessionId },
    steer: { sessionId, runId: 'run_none', message: 'x' },
    'tool-response': { sessionId, callId: 'call_none', approved: true },
    invoke: { sessionId, method: 'ping' },
    update: { sessionId, title: 't' },
    schedule: { sessionId, message: 'hi', every: '0 9 * * *' },
    unschedule: { sessionId, id: 'none' },
    share: { sessionId, with: { userId: 'dee' }, as: 'viewer' },
    unshare: { sessionId, grantId: 'none' },
    grants: { sessionId },
    fork: { sessionId, to: 'copy' },
    import: { sessionId, messages: [{ content: 'hi' }] },
    close: { sessionId },
    delete: { sessionId },
  };
}
