import type { ErrorCode } from '../../shared/errors.js';
import type { OperationName } from '../../shared/operations.js';

/** A described request: an operation, or one of the other routes. */
export type Described = OperationName | 'events' | 'upload' | 'file' | 'live' | 'ready';

/** The description of a route. */
export interface DescribedRoute {
  readonly summary: string;
  readonly description?: string;
  readonly tag: Tag;
  /** Error codes beside those that every route of its kind has. A host's own code may add others. */
  readonly errors?: readonly ErrorCode[];
}

/** The groups of routes. */
export const TAGS = {
  conversation: 'Messages, runs and their events',
  methods: "The host's own methods",
  reading: 'Sessions, runs, apps and files',
  service: 'Health, tickets and documents',
} as const;

export type Tag = keyof typeof TAGS;

const SESSION = ['APP_NOT_FOUND', 'SESSION_NOT_FOUND'] as const;
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
] as const;

/** The routes, each with all that the documents say of it. */
export const ROUTES: Readonly<Record<Described, DescribedRoute>> = {
  events: {
    tag: 'conversation',
    summary: 'Follow sessions',
    description:
      'A stream of events that ends by itself after some minutes, with a `retry:` line; a client then asks again with the last `id` it has seen. A stream of one session carries its cursor as `id`; any other stream carries a vector of cursors as the `id` of heartbeats.',
    errors: [...SESSION],
  },
  send: {
    tag: 'conversation',
    summary: 'Send a message',
    description:
      'Answers with the events of the run; with `Accept: application/json` with its result once it has ended; with `Prefer: respond-async` as soon as the message is accepted.',
    errors: [...RUN, 'TAKEN_OVER', 'FILE_NOT_FOUND', 'SESSION_BUSY', 'MESSAGE_EXISTS', 'QUEUE_FULL'],
  },
  regenerate: {
    tag: 'conversation',
    summary: 'Answer a message again',
    description:
      'The last message, or that of `messageId`. Answers as `send` does. The new answer is a version beside the old one; runs that were under way or waited end as superseded.',
    errors: [...RUN, 'TAKEN_OVER'],
  },
  move: {
    tag: 'conversation',
    summary: 'Go back to another message',
    description:
      'The conversation ends at `tip` from then on, or goes on from `version` as it did last; nothing is lost, and all can be gone back to. Runs that were under way or waited end as superseded.',
    errors: [...SESSION, 'MESSAGE_NOT_FOUND', 'SESSION_CLOSED', 'SHUTTING_DOWN'],
  },
  fork: {
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
    tag: 'conversation',
    summary: 'Delete a session',
    description:
      'All that is kept of it: messages, events, runs and idempotency keys, of former conversations under its key too. Runs that are under way end as aborted; its followers are told `session_closed` with the reason `deleted`.',
    errors: [...SESSION],
  },
  'take-over': {
    tag: 'conversation',
    summary: 'Take over from the app',
    description:
      'All runs that are active or wait end in one step (`taken_over`), and nothing of them comes later. Messages that are sent from then on get no answer of the app; messages of the caller are answers. A caller who has control already keeps it.',
    errors: [...SESSION, 'CONTROL_TAKEN', 'SESSION_CLOSED', 'QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
  },
  'hand-back': {
    tag: 'conversation',
    summary: 'Hand back to the app',
    description: 'With `answer` the app answers the last message, where nobody has.',
    errors: [...SESSION, 'CONTROL_TAKEN', 'SESSION_CLOSED', 'QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
  },
  react: {
    tag: 'conversation',
    summary: 'Say what one thinks of a message',
    description:
      'One reaction a person and message: another one takes its place, and `null` takes it back. Messages have them in `reactions`.',
    errors: [...SESSION, 'MESSAGE_NOT_FOUND', 'SESSION_CLOSED', 'QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
  },
  presence: {
    tag: 'conversation',
    summary: 'Be present in a session, and see who is',
    description:
      'For a connection that follows the session: from then on it is told who is there (`presence`), until it ends. With a `state` the caller is there too.',
    errors: [...SESSION, 'CONNECTION_NOT_FOUND', 'SHUTTING_DOWN'],
  },
  schedule: {
    tag: 'conversation',
    summary: 'Set a schedule',
    description:
      'Its message is sent once, `at` a time, or again and again, as `every` says. One of the same `id` takes its place. Each instant has one run at most, also where gateways end and clocks jump. Begins a session that is not there.',
    errors: [...SESSION, 'SESSION_CLOSED', 'QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
  },
  unschedule: {
    tag: 'conversation',
    summary: 'Take a schedule back',
    description: 'One that there is not is taken back already.',
    errors: [...SESSION, 'SESSION_CLOSED', 'SHUTTING_DOWN'],
  },
  schedules: {
    tag: 'conversation',
    summary: 'The schedules of a session',
    description: 'In the order in which they fire next.',
    errors: [...SESSION],
  },
  read: {
    tag: 'conversation',
    summary: 'Note that it was read',
    description:
      'Up to a place, or all of it. A place never goes back: one that another device of the same person has gone beyond stays where it is.',
    errors: [...SESSION],
  },
  inbox: {
    tag: 'conversation',
    summary: 'The inbox',
    description:
      'Sessions of the caller with the number of unread messages and open questions in each, the one that was used last first, and sums over the 1,000 that were used last. A stream of changes goes on from `place`.',
  },
  notices: {
    tag: 'conversation',
    summary: 'The notices of a session',
    description:
      "The caller's own notices of a session, the newest first: what is owed, and what became of the last 20 for each target. Addresses and reasons are the host's.",
    errors: [...SESSION],
  },
  push: {
    tag: 'conversation',
    summary: 'Have a browser told what happens while nobody looks',
    description:
      "Adds or removes a subscription of the caller's, as `PushSubscription.toJSON()` has it. Without either it only says by which key a browser subscribes.",
    errors: ['QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
  },
  share: {
    tag: 'conversation',
    summary: 'Share a session',
    description:
      'Another user, or whoever has a link, reaches the session from here on under the address of the grant. The token of a link is answered this once. Links need the leave of the gateway (`shareLinks`).',
    errors: [...SESSION, 'SESSION_CLOSED', 'QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
  },
  unshare: {
    tag: 'conversation',
    summary: 'End a grant',
    description:
      'Streams and calls that are open by the grant end too. A grant that does not exist counts as ended.',
    errors: [...SESSION, 'SESSION_CLOSED', 'SHUTTING_DOWN'],
  },
  grants: {
    tag: 'conversation',
    summary: 'The grants of a session',
    description: 'The oldest first.',
    errors: [...SESSION],
  },
  import: {
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
    tag: 'conversation',
    summary: 'Read a whole conversation',
    description:
      'The messages that are shown, or the events that are kept, oldest first: one JSON object a line.',
    errors: [...SESSION, 'TOO_MANY_CONNECTIONS'],
  },
  invoke: {
    tag: 'methods',
    summary: 'Call a method',
    description:
      'The body names the method and carries its params. A streaming method answers with one `chunk` an item, then `end`; a failure in between is `fail`. `x-methods` lists the methods that the caller of this document may see.',
    errors: [...SESSION, 'METHOD_NOT_FOUND', 'GUARD_DENIED', 'SHUTTING_DOWN', 'TIMEOUT'],
  },
  subscribe: {
    tag: 'conversation',
    summary: 'Change the sessions of an open stream',
    description: 'Each added session is answered in the stream, by the event `subscribed`.',
    errors: [...SESSION, 'CONNECTION_NOT_FOUND', 'QUEUE_FULL', 'SHUTTING_DOWN'],
  },
  abort: { tag: 'conversation', summary: 'End a run', errors: [...SESSION] },
  steer: {
    tag: 'conversation',
    summary: 'Send a message to a run beside the conversation',
    description: 'Its app gets the message when it asks for it. One that has ended is not found.',
    errors: [...SESSION, 'RUN_NOT_FOUND', 'SESSION_CLOSED', 'QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
  },
  close: {
    tag: 'conversation',
    summary: 'End a session',
    description: 'Ends its runs as aborted. A later message to the key begins a new session.',
    errors: [...SESSION],
  },
  'tool-response': {
    tag: 'conversation',
    summary: 'Answer a confirmation, a question or a client tool',
    description: 'The first answer counts.',
    errors: [...SESSION, 'GUARD_DENIED', 'CALL_NOT_FOUND', 'ALREADY_ANSWERED'],
  },
  channel: {
    tag: 'conversation',
    summary: 'Publish to a channel of a session',
    errors: [...SESSION, 'SESSION_CLOSED', 'QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
  },
  update: {
    tag: 'conversation',
    summary: "Change a session's title, metadata, or whether it is archived",
    description: '`null` takes a field away; what is left out stays.',
    errors: [...SESSION, 'SESSION_CLOSED', 'QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
  },
  ticket: {
    tag: 'service',
    summary: 'Get a ticket for an event stream',
    description: 'Serves as the query parameter `token` of `/events`, so that no token stands in a URL.',
  },
  run: {
    tag: 'reading',
    summary: 'Read what a run is doing, and how it ended',
    errors: [...SESSION, 'RUN_NOT_FOUND'],
  },
  history: {
    tag: 'reading',
    summary: 'Read the messages of a session, oldest first',
    errors: [...SESSION, 'CURSOR_GONE'],
  },
  sessions: { tag: 'reading', summary: "List the caller's sessions, the one that was used last first" },
  apps: { tag: 'reading', summary: 'List the apps' },
  status: { tag: 'reading', summary: 'Tell of a session, or of the gateway', errors: [...SESSION] },
  methods: { tag: 'methods', summary: 'List the methods that the caller may see' },
  openapi: { tag: 'service', summary: 'Describe the HTTP routes (OpenAPI 3.1)' },
  upload: {
    tag: 'conversation',
    summary: 'Upload a file',
    description:
      'The body is the file itself, of any type, and is read as it comes. The answer names it for the `fileId` of image, file and audio blocks. Uploading the same bytes again under the same name and type answers the same. A file is kept as long as a session names it, and for `limits.unnamedFileMs` from its upload on.',
    errors: ['QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
  },
  file: {
    tag: 'reading',
    summary: 'Read a file',
    description:
      'Files that could run in a page (HTML, SVG, scripts) are served as `application/octet-stream`, to be saved. One part can be asked for with `Range`; `HEAD` answers the same without the bytes.',
    errors: [...SESSION, 'FILE_NOT_FOUND', 'RANGE_NOT_SATISFIABLE'],
  },
  live: { tag: 'service', summary: 'Tell that the process answers' },
  ready: {
    tag: 'service',
    summary: 'Tell whether new work is taken',
    errors: ['SHUTTING_DOWN', 'OVERLOADED'],
  },
};
