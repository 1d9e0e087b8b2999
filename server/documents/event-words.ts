import type { EventType } from '../../shared/events.js';
import { column, FEATURE_EVENTS } from '../../shared/features.js';

/** A sentence on each event. */
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
  usage_added: 'A run has used this: the tokens or the cost of a call',
  run_error: 'Why a run failed',
  message_end: 'A run has ended: the last event of each',
  message_replaced: 'A message says something else from here on; what it said before was taken back',
  history_moved: 'The conversation ends at another message from here on',
  control_moved: 'A person took over from the app, or the app has control again',
  hand_off_requested: 'The app asks for a person; its run ends',
  grant_added: 'The session was shared; told to those who may share it',
  grant_removed: 'A grant has ended',
  session_updated: 'The title or metadata of the session was changed, or whether it is archived',
  channel: 'Something was published to a channel',
  custom: 'An event of the host',
  ...column(FEATURE_EVENTS, ({ summary }) => summary),
  session_closed: 'The session is over',
  connected: 'The first event: which connection this is, and what it follows',
  subscribed: 'The answer to `subscribe`: what follows for this session starts at `next`',
  heartbeat: 'Everything before its cursor was sent',
  gap: 'Continuity could not be proved; a `snapshot` follows',
  hidden: 'In the place of so many events that the grant does not show',
  snapshot: 'The folded state of the session; what follows comes after it',
  auth_expired: 'The credentials have run out; the stream ends',
};
