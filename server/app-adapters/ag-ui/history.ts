import type { AgUiMessage } from '../../../shared/ag-ui/events.js';
import { toAgUiMessages } from '../../../shared/ag-ui/messages.js';
import type { DataBlock, Message } from '../../../shared/messages.js';
import type { Turn } from '../../apps/application.js';
import { tellOfCuts } from '../../chat-format/cut-answers.js';
import { closeOpenCalls, withoutReasoning } from '../../chat-format/rounds.js';
import { conversationOf } from '../conversation.js';
import { withFiles } from '../inline-files.js';
import { STATE } from './reader.js';

/** The notes of an answer about its agent, in its metadata. */
export interface AgUiNotes {
  /** The agent's ids of the messages that the answer is made of. Agents that remember know their messages by these. */
  readonly ids: readonly string[];
  /** The agent's questions that have no answer, which its next request has to name. */
  readonly open: readonly string[];
}

/** A conversation as an agent is told it. */
export interface ToldConversation {
  readonly messages: AgUiMessage[];
  /** Names of the calls in it, by id. */
  readonly calls: ReadonlyMap<string, string>;
  /** The last state that the agent has told. */
  readonly state: unknown;
  /** Questions of the agent that nobody has answered. */
  readonly open: readonly string[];
}

export async function toldConversation(turn: Turn): Promise<ToldConversation> {
  const conversation = closeOpenCalls(conversationOf(turn).map(withoutReasoning));
  const content = conversation.flatMap((message) => message.content);
  const last = conversation.findLast(({ role }) => role === 'assistant');
  return {
    messages: (await withFiles(turn, tellOfCuts(conversation))).flatMap(asToldBefore),
    calls: new Map(
      content.flatMap((block) => (block.type === 'tool_use' ? [[block.callId, block.name]] : [])),
    ),
    state: content.findLast((block): block is DataBlock => block.type === 'data' && block.id === STATE)
      ?.value,
    open: last ? notesOf(last).open : [],
  };
}

/** The messages of one of ours, with the ids that the agent gave them. */
function asToldBefore(message: Message): AgUiMessage[] {
  const messages = toAgUiMessages(message);
  const { ids } = notesOf(message);
  return ids.length === messages.length ? messages.map((one, at) => ({ ...one, id: ids[at]! })) : messages;
}

function notesOf({ metadata }: Message): AgUiNotes {
  const { ids = [], open = [] } = (metadata?.agUi ?? {}) as Partial<AgUiNotes>;
  return { ids, open };
}
