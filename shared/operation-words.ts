import type { ErrorCode } from './errors.js';
import { FEATURE_OPERATIONS } from './features.js';
import type { OperationName } from './operations.js';
import type { OperationWords } from './words.js';

const SESSION = ['APP_NOT_FOUND', 'SESSION_NOT_FOUND'] as const satisfies readonly ErrorCode[];
const RUN = [
  ...SESSION,
  'MESSAGE_NOT_FOUND',
  'OTHER_USER',
  'HISTORY_MOVED',
  'SESSION_CLOSED',
  'IDEMPOTENCY_CONFLICT',
  'CURSOR_GONE',
  'QUOTA_EXCEEDED',
  'SHUTTING_DOWN',
] as const satisfies readonly ErrorCode[];

/**
 * The cost of a page by its length. A unit is some 5 ms of the event loop, of which a second has 200 (`limits.readsPerSecond`): what a short read
 * takes is far less, a look at all sessions of a person takes five.
 */
const byLimit = ({ limit }: Readonly<Record<string, unknown>>): number =>
  1 + Math.floor(Number(limit ?? 0) / 200 || 0);

/** The words of each operation: who may call it, how much of which rate it takes, whether it fills a session, and all that documents say of it. */
export const OPERATION_WORDS: Readonly<Record<OperationName, OperationWords>> = {
  ...FEATURE_OPERATIONS,
  send: {
    least: 'member',
    rate: 'sends',
    sample: { sessionId: 'main', message: 'hi' },
    tag: 'conversation',
    summary: 'Send a message',
    description:
      'Answers with the events of the run; with `Accept: application/json` with its result once it has ended; with `Prefer: respond-async` as soon as the message is accepted.',
    errors: [...RUN, 'TAKEN_OVER', 'FILE_NOT_FOUND', 'SESSION_BUSY', 'MESSAGE_EXISTS', 'QUEUE_FULL'],
  },
  regenerate: {
    least: 'member',
    rate: 'sends',
    sample: { sessionId: 'main' },
    tag: 'conversation',
    summary: 'Answer a message again',
    description:
      'The last message, or that of `messageId`. Answers as `send` does. The new answer is a version beside the old one; runs that were under way or waited end as superseded.',
    errors: [...RUN, 'TAKEN_OVER'],
  },
  move: {
    least: 'member',
    rate: 'sends',
    sample: { sessionId: 'main', tip: null },
    tag: 'conversation',
    summary: 'Go back to another message',
    description:
      'The conversation ends at `tip` from then on, or goes on from `version` as it did last; nothing is lost, and all can be gone back to. Runs that were under way or waited end as superseded.',
    errors: [...SESSION, 'MESSAGE_NOT_FOUND', 'SESSION_CLOSED', 'SHUTTING_DOWN'],
  },
  fork: {
    least: 'owner',
    rate: 'sends',
    fills: true,
    sample: { sessionId: 'main', to: 'other' },
    tag: 'conversation',
    summary: 'Begin a session with the messages of another',
    description:
      'Up to the message `at`, or all that are shown. The session that they come from stays as it is.',
    errors: [
      ...SESSION,
      'MESSAGE_NOT_FOUND',
      'SESSION_EXISTS',
      'SESSION_CLOSED',
      'QUOTA_EXCEEDED',
      'SHUTTING_DOWN',
    ],
  },
  delete: {
    least: 'owner',
    rate: 'none',
    sample: { sessionId: 'main' },
    tag: 'conversation',
    summary: 'Delete a session',
    description:
      'All that is kept of it: messages, events, runs and idempotency keys, of former conversations under its key too. Runs that are under way end as aborted; its followers are told `session_closed` with the reason `deleted`.',
    errors: [...SESSION],
  },
  'take-over': {
    least: 'operator',
    rate: 'sends',
    fills: true,
    sample: { sessionId: 'main' },
    tag: 'conversation',
    summary: 'Take over from the app',
    description:
      'All runs that are active or wait end in one step (`taken_over`), and nothing of them comes later. Messages that are sent from then on get no answer of the app; messages of the caller are answers. A caller who has control already keeps it.',
    errors: [...SESSION, 'CONTROL_TAKEN', 'SESSION_CLOSED', 'QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
  },
  'hand-back': {
    least: 'operator',
    rate: 'sends',
    fills: true,
    sample: { sessionId: 'main' },
    tag: 'conversation',
    summary: 'Hand back to the app',
    description: 'With `answer` the app answers the last message, where nobody has.',
    errors: [...SESSION, 'CONTROL_TAKEN', 'SESSION_CLOSED', 'QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
  },
  share: {
    least: 'operator',
    rate: 'sends',
    fills: true,
    sample: { sessionId: 'main', with: { userId: 'ben' }, as: 'viewer' },
    tag: 'conversation',
    summary: 'Share a session',
    description:
      'Another user, or whoever has a link, reaches the session from here on under the address of the grant. The token of a link is answered this once. Links need the leave of the gateway (`shareLinks`).',
    errors: [...SESSION, 'SESSION_CLOSED', 'QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
  },
  unshare: {
    least: 'operator',
    rate: 'sends',
    sample: { sessionId: 'main', grantId: 'g' },
    tag: 'conversation',
    summary: 'End a grant',
    description:
      'Streams and calls that are open by the grant end too. A grant that does not exist counts as ended.',
    errors: [...SESSION, 'SESSION_CLOSED', 'SHUTTING_DOWN'],
  },
  grants: {
    least: 'operator',
    rate: 'reads',
    sample: { sessionId: 'main' },
    tag: 'conversation',
    summary: 'The grants of a session',
    description: 'The oldest first.',
    errors: [...SESSION],
  },
  import: {
    least: 'owner',
    rate: 'sends',
    fills: true,
    sample: { sessionId: 'main', messages: [{ content: 'hi' }] },
    tag: 'conversation',
    summary: 'Begin a session with messages of elsewhere',
    description:
      'Messages as `export` writes them, AI SDK `UIMessage`s or messages of OpenAI chat completions. Clients need the leave of the gateway (`clientMessages.import`).',
    errors: [
      ...SESSION,
      'FILE_NOT_FOUND',
      'SESSION_EXISTS',
      'SESSION_CLOSED',
      'QUOTA_EXCEEDED',
      'SHUTTING_DOWN',
    ],
  },
  export: {
    least: 'viewer',
    rate: 'reads',
    sample: { sessionId: 'main' },
    tag: 'conversation',
    summary: 'Read a whole conversation',
    description:
      'The messages that are shown, or the events that are kept, oldest first: one JSON object a line.',
    errors: [...SESSION, 'TOO_MANY_CONNECTIONS'],
  },
  invoke: {
    least: 'member',
    rate: 'invokes',
    sample: { method: 'ping' },
    tag: 'methods',
    summary: 'Call a method',
    description:
      'The body names the method and carries its params. A streaming method answers with one `chunk` an item, then `end`; a failure in between is `fail`. `x-methods` lists the methods that the caller of this document may see.',
    errors: [...SESSION, 'METHOD_NOT_FOUND', 'GUARD_DENIED', 'SHUTTING_DOWN', 'TIMEOUT'],
  },
  subscribe: {
    least: 'viewer',
    rate: 'none',
    isNew: true,
    ofConnection: true,
    sample: { connectionId: 'c' },
    tag: 'conversation',
    summary: 'Change the sessions of an open stream',
    description: 'Each added session is answered in the stream, by the event `subscribed`.',
    errors: [...SESSION, 'CONNECTION_NOT_FOUND', 'QUEUE_FULL', 'SHUTTING_DOWN'],
  },
  abort: {
    least: 'member',
    rate: 'none',
    sample: { sessionId: 'main' },
    tag: 'conversation',
    summary: 'End a run',
    errors: [...SESSION],
  },
  steer: {
    least: 'member',
    rate: 'sends',
    fills: true,
    sample: { sessionId: 'main', runId: 'r', message: 'x' },
    tag: 'conversation',
    summary: 'Send a message to a run beside the conversation',
    description: 'Its app gets the message when it asks for it. One that has ended is not found.',
    errors: [...SESSION, 'RUN_NOT_FOUND', 'SESSION_CLOSED', 'QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
  },
  close: {
    least: 'owner',
    rate: 'none',
    sample: { sessionId: 'main' },
    tag: 'conversation',
    summary: 'End a session',
    description: 'Ends its runs as aborted. A later message to the key begins a new session.',
    errors: [...SESSION],
  },
  'tool-response': {
    least: 'member',
    rate: 'none',
    sample: { sessionId: 'main', callId: 'c', approved: true },
    tag: 'conversation',
    summary: 'Answer a confirmation, a question or a client tool',
    description: 'The first answer counts.',
    errors: [...SESSION, 'GUARD_DENIED', 'CALL_NOT_FOUND', 'ALREADY_ANSWERED'],
  },
  channel: {
    least: 'commenter',
    rate: 'sends',
    fills: true,
    sample: { sessionId: 'main', channel: 'news', payload: 1 },
    tag: 'conversation',
    summary: 'Publish to a channel of a session',
    errors: [...SESSION, 'SESSION_CLOSED', 'QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
  },
  update: {
    least: 'operator',
    rate: 'sends',
    fills: true,
    sample: { sessionId: 'main', title: 't' },
    tag: 'conversation',
    summary: "Change a session's title, metadata, or whether it is archived",
    description: '`null` takes a field away; what is left out stays.',
    errors: [...SESSION, 'SESSION_CLOSED', 'QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
  },
  ticket: {
    least: 'viewer',
    rate: 'reads',
    sample: {},
    tag: 'service',
    summary: 'Get a ticket for an event stream',
    description: 'Serves as the query parameter `token` of `/events`, so that no token stands in a URL.',
  },
  run: {
    least: 'viewer',
    overseen: true,
    rate: 'reads',
    sample: { sessionId: 'main', runId: 'run_1' },
    tag: 'reading',
    summary: 'Read what a run is doing, and how it ended',
    errors: [...SESSION, 'RUN_NOT_FOUND'],
  },
  history: {
    least: 'viewer',
    overseen: true,
    rate: 'reads',
    cost: byLimit,
    sample: { sessionId: 'main' },
    tag: 'reading',
    summary: 'Read the messages of a session, oldest first',
    errors: [...SESSION, 'CURSOR_GONE'],
  },
  sessions: {
    least: 'viewer',
    rate: 'reads',
    cost: byLimit,
    sample: {},
    tag: 'reading',
    summary: "List the caller's sessions, the one that was used last first",
    description:
      'With `shared` those that others share with the caller; with `all` those of all users, for callers whom the gateway lets read them (`oversight`).',
  },
  apps: { least: 'viewer', rate: 'reads', sample: {}, tag: 'reading', summary: 'List the apps' },
  status: {
    least: 'viewer',
    overseen: true,
    rate: 'reads',
    sample: {},
    tag: 'reading',
    summary: 'Tell of a session, or of the gateway',
    errors: [...SESSION],
  },
  methods: {
    least: 'owner',
    rate: 'reads',
    sample: {},
    tag: 'methods',
    summary: 'List the methods that the caller may see',
  },
  openapi: {
    least: 'owner',
    rate: 'reads',
    cost: () => 3,
    sample: {},
    tag: 'service',
    summary: 'Describe the HTTP routes (OpenAPI 3.1)',
  },
};
