import type { EventType } from '../../shared/events.js';
import type { Described } from './errors.js';

/** The texts about a route. */
export interface Words {
  readonly summary: string;
  readonly description?: string;
  readonly tag: Tag;
}

/** The groups of routes. */
export const TAGS = {
  conversation: 'Messages, runs and their events',
  methods: "The host's own methods",
  reading: 'Sessions, runs, apps and files',
  service: 'Health, tickets and documents',
} as const;

export type Tag = keyof typeof TAGS;

export const ROUTE_WORDS: Readonly<Record<Described, Words>> = {
  events: {
    tag: 'conversation',
    summary: 'Follow sessions',
    description:
      'A stream of events that ends by itself after some minutes, with a `retry:` line; a client then asks again with the last `id` it has seen. A stream of one session carries its cursor as `id`; any other stream carries a vector of cursors as the `id` of heartbeats.',
  },
  send: {
    tag: 'conversation',
    summary: 'Send a message',
    description:
      'Answers with the events of the run; with `Accept: application/json` with its result once it has ended; with `Prefer: respond-async` as soon as the message is accepted.',
  },
  regenerate: {
    tag: 'conversation',
    summary: 'Answer a message again',
    description:
      'The last message, or that of `messageId`. Answers as `send` does. The new answer is a version beside the old one; runs that were under way or waited end as superseded.',
  },
  move: {
    tag: 'conversation',
    summary: 'Go back to another message',
    description:
      'The conversation ends at `tip` from then on, or goes on from `version` as it did last; nothing is lost, and all can be gone back to. Runs that were under way or waited end as superseded.',
  },
  fork: {
    tag: 'conversation',
    summary: 'Begin a session with the messages of another',
    description:
      'Up to the message `at`, or all that are shown. The session that they come from stays as it is.',
  },
  delete: {
    tag: 'conversation',
    summary: 'Delete a session',
    description:
      'All that is kept of it: messages, events, runs and idempotency keys, of former conversations under its key too. Runs that are under way end as aborted; its followers are told `session_closed` with the reason `deleted`.',
  },
  'take-over': {
    tag: 'conversation',
    summary: 'Take over from the app',
    description:
      'All runs that are active or wait end in one step (`taken_over`), and nothing of them comes later. Messages that are sent from then on get no answer of the app; messages of the caller are answers. A caller who has control already keeps it.',
  },
  'hand-back': {
    tag: 'conversation',
    summary: 'Hand back to the app',
    description: 'With `answer` the app answers the last message, where nobody has.',
  },
  react: {
    tag: 'conversation',
    summary: 'Say what one thinks of a message',
    description:
      'One reaction a person and message: another one takes its place, and `null` takes it back. Messages have them in `reactions`.',
  },
  presence: {
    tag: 'conversation',
    summary: 'Be present in a session, and see who is',
    description:
      'For a connection that follows the session: from then on it is told who is there (`presence`), until it ends. With a `state` the caller is there too.',
  },
  schedule: {
    tag: 'conversation',
    summary: 'Set a schedule',
    description:
      'Its message is sent once, `at` a time, or again and again, as `every` says. One of the same `id` takes its place. Each instant has one run at most, also where gateways end and clocks jump. Begins a session that is not there.',
  },
  unschedule: {
    tag: 'conversation',
    summary: 'Take a schedule back',
    description: 'One that there is not is taken back already.',
  },
  schedules: {
    tag: 'conversation',
    summary: 'The schedules of a session',
    description: 'In the order in which they fire next.',
  },
  read: {
    tag: 'conversation',
    summary: 'Note that it was read',
    description:
      'Up to a place, or all of it. A place never goes back: one that another device of the same person has gone beyond stays where it is.',
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
  },
  push: {
    tag: 'conversation',
    summary: 'Have a browser told what happens while nobody looks',
    description:
      "Adds or removes a subscription of the caller's, as `PushSubscription.toJSON()` has it. Without either it only says by which key a browser subscribes.",
  },
  share: {
    tag: 'conversation',
    summary: 'Share a session',
    description:
      'Another user, or whoever has a link, reaches the session from here on under the address of the grant. The token of a link is answered this once. Links need the leave of the gateway (`shareLinks`).',
  },
  unshare: {
    tag: 'conversation',
    summary: 'End a grant',
    description:
      'Streams and calls that are open by the grant end too. A grant that does not exist counts as ended.',
  },
  grants: {
    tag: 'conversation',
    summary: 'The grants of a session',
    description: 'The oldest first.',
  },
  import: {
    tag: 'conversation',
    summary: 'Begin a session with messages of elsewhere',
    description:
      'Messages as `export` writes them, AI SDK `UIMessage`s or messages of OpenAI chat completions. Clients need the leave of the gateway (`clientMessages.import`).',
  },
  export: {
    tag: 'conversation',
    summary: 'Read a whole conversation',
    description:
      'The messages that are shown, or the events that are kept, oldest first: one JSON object a line.',
  },
  invoke: {
    tag: 'methods',
    summary: 'Call a method',
    description:
      'The body names the method and carries its params. A streaming method answers with one `chunk` an item, then `end`; a failure in between is `fail`. `x-methods` lists the methods that the caller of this document may see.',
  },
  subscribe: {
    tag: 'conversation',
    summary: 'Change the sessions of an open stream',
    description: 'Each added session is answered in the stream, by the event `subscribed`.',
  },
  abort: { tag: 'conversation', summary: 'End a run' },
  steer: {
    tag: 'conversation',
    summary: 'Send a message to a run beside the conversation',
    description: 'Its app gets the message when it asks for it. One that has ended is not found.',
  },
  close: {
    tag: 'conversation',
    summary: 'End a session',
    description: 'Ends its runs as aborted. A later message to the key begins a new session.',
  },
  'tool-response': {
    tag: 'conversation',
    summary: 'Answer a confirmation, a question or a client tool',
    description: 'The first answer counts.',
  },
  channel: { tag: 'conversation', summary: 'Publish to a channel of a session' },
  update: {
    tag: 'conversation',
    summary: "Change a session's title, metadata, or whether it is archived",
    description: '`null` takes a field away; what is left out stays.',
  },
  ticket: {
    tag: 'service',
    summary: 'Get a ticket for an event stream',
    description: 'Serves as the query parameter `token` of `/events`, so that no token stands in a URL.',
  },
  run: { tag: 'reading', summary: 'Read what a run is doing, and how it ended' },
  history: { tag: 'reading', summary: 'Read the messages of a session, oldest first' },
  sessions: { tag: 'reading', summary: "List the caller's sessions, the one that was used last first" },
  apps: { tag: 'reading', summary: 'List the apps' },
  status: { tag: 'reading', summary: 'Tell of a session, or of the gateway' },
  methods: { tag: 'methods', summary: 'List the methods that the caller may see' },
  openapi: { tag: 'service', summary: 'Describe the HTTP routes (OpenAPI 3.1)' },
  asyncapi: { tag: 'service', summary: 'Describe the events and frames (AsyncAPI 3)' },
  upload: {
    tag: 'conversation',
    summary: 'Upload a file',
    description:
      'The body is the file itself, of any type, and is read as it comes. The answer names it for the `fileId` of image, file and audio blocks. Uploading the same bytes again under the same name and type answers the same. A file is kept as long as a session names it, and for `limits.unnamedFileMs` from its upload on.',
  },
  file: {
    tag: 'reading',
    summary: 'Read a file',
    description:
      'Files that could run in a page (HTML, SVG, scripts) are served as `application/octet-stream`, to be saved. One part can be asked for with `Range`; `HEAD` answers the same without the bytes.',
  },
  live: { tag: 'service', summary: 'Tell that the process answers' },
  ready: { tag: 'service', summary: 'Tell whether new work is taken' },
};

export const EVENT_WORDS: Readonly<Record<EventType, string>> = {
  message_accepted: 'A message was accepted; its run is or will be in the log',
  message_start: 'A run begins',
  content_delta: 'A piece of the text of the answer',
  reasoning_delta: 'A piece of the reasoning',
  tool_use: 'The app calls a tool',
  tool_confirmation_required: 'A tool waits for the consent of a person',
  tool_confirmation_vote:
    'One person has voted on a tool that waits for the consent of several, or of those who hold a role',
  tool_confirmation_escalated: 'More roles may vote from here on',
  tool_confirmation_result:
    'A person has consented or refused, or enough of them have, or the time for that is over',
  input_required: 'The app, or a tool that runs at the client, waits for an answer',
  input_result: 'The answer to `input_required`',
  tool_progress: 'How far a tool has come',
  tool_result: 'The result of a tool',
  data: 'A block of structured content; the same `id` replaces it',
  steer: 'The outcome of a message that was to steer a run',
  run_spawned:
    'A run began beside the conversation: a child of another run, or one that a person began in a lane of its own',
  run_steered: 'A message came for a run beside the conversation',
  run_error: 'Why a run failed',
  message_end: 'A run has ended: the last event of each',
  history_moved: 'The conversation ends at another message from here on',
  control_moved: 'A person took over from the app, or the app has control again',
  hand_off_requested: 'The app asks for a person; its run ends',
  schedule_set: 'A schedule was set, or took the place of one of its name',
  schedule_unset: 'A schedule was taken back',
  schedule_fired: 'An instant of a schedule: it has a run, or was skipped',
  inbox: 'Sessions of the inbox have changed: each as a whole',
  grant_added: 'The session was shared; told to those who may share it',
  grant_removed: 'A grant has ended',
  session_updated: 'The title or metadata of the session was changed, or whether it is archived',
  reaction: 'A person says what they think of a message, or takes it back',
  channel: 'Something was published to a channel',
  custom: 'An event of the host',
  session_closed: 'The session is over',
  connected: 'The first event: which connection this is, and what it follows',
  subscribed: 'The answer to `subscribe`: what follows for this session starts at `next`',
  heartbeat: 'Everything before its cursor was sent',
  gap: 'Continuity could not be proved; a `snapshot` follows',
  hidden: 'In the place of so many events that the grant does not show',
  snapshot: 'The folded state of the session; what follows comes after it',
  presence: 'The people in the session, or a change of them',
  auth_expired: 'The credentials have run out; the stream ends',
};
