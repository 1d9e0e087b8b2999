import type { EventOf, EventType } from './events.js';
import type { ContentBlock, DataBlock, Message, ToolResultBlock, ToolUseBlock } from './messages.js';
import type { Wire } from './wire.js';

/** The content types of a gateway's apps: input and output of tools, values of data blocks and answers of questions, by name. */
export interface AppContent {
  readonly tools: unknown;
  readonly data: unknown;
  readonly questions: unknown;
}

/** The content that a gateway's type carries; unknown names and values if it carries none. */
export type ContentOf<Source> = Source extends {
  readonly '~contract': { readonly content: infer Content extends AppContent };
}
  ? Content
  : AppContent;

type Field<Types, Name extends keyof Types, Part extends string> = Types[Name] extends {
  readonly [P in Part]: infer Value;
}
  ? Wire<Value>
  : unknown;

/** A union by name, each with its own values; `Base` itself if no name is declared. */
type ByName<Base, Types, Values extends { readonly [Name in keyof Types]: object }, Else = Base> = [
  keyof Types & string,
] extends [never]
  ? Else
  : {
      [Name in keyof Types & string]: Omit<Base, 'name' | keyof Values[Name]> & {
        readonly name: Name;
      } & Values[Name];
    }[keyof Types & string];

/** Types the tool and the input of an event, a block or a confirmation of a call. */
export type ToolCallOf<Base, Content extends AppContent, In extends string = 'input', Else = Base> = ByName<
  Base,
  Content['tools'],
  {
    readonly [Name in keyof Content['tools']]: {
      readonly [P in In]: Field<Content['tools'], Name, 'input'>;
    };
  },
  Else
>;

/** Types a request for an answer: a question, or a call of a tool that a client answers. */
export type AskedOf<Base, Content extends AppContent, In extends string> =
  | ByName<
      Base,
      Content['questions'],
      { readonly [Name in keyof Content['questions']]: Readonly<Record<never, never>> }
    >
  | ([keyof Content['questions'] & string] extends [never] ? never : ToolCallOf<Base, Content, In, never>);

/** Types the result of a tool. A failure has a text. */
export type ToolOutcomeOf<Base, Content extends AppContent> = ByName<
  Base,
  Content['tools'],
  {
    readonly [Name in keyof Content['tools']]:
      | { readonly isError: false; readonly output: Field<Content['tools'], Name, 'output'> }
      | { readonly isError: true; readonly output: unknown };
  }
>;

/** Types the value of a data block. */
export type DataOf<Base, Content extends AppContent> = ByName<
  Base,
  Content['data'],
  { readonly [Name in keyof Content['data']]: { readonly value: Wire<Content['data'][Name]> } }
>;

/** The answer to a question of this name. */
export type AnswerTo<
  Content extends AppContent,
  Name extends string,
> = Name extends keyof Content['questions'] ? Content['questions'][Name] : unknown;

/** A block of a message of this gateway. */
export type BlockOf<Content extends AppContent> =
  | Exclude<ContentBlock, ToolUseBlock | ToolResultBlock | DataBlock>
  | ToolCallOf<ToolUseBlock, Content>
  | ToolOutcomeOf<ToolResultBlock, Content>
  | DataOf<DataBlock, Content>;

/** Whether nothing is declared. */
export type IsPlain<Content extends AppContent> = [
  (keyof Content['tools'] | keyof Content['data'] | keyof Content['questions']) & string,
] extends [never]
  ? true
  : false;

/** A message of this gateway. */
export type MessageOf<Content extends AppContent, Base extends Message = Message> =
  IsPlain<Content> extends true
    ? Base
    : Omit<Base, 'content'> & { readonly content: readonly BlockOf<Content>[] };

/** The same thing with its message or messages as this gateway's. */
export type WithMessage<Base extends { readonly message: Message }, Content extends AppContent> =
  IsPlain<Content> extends true
    ? Base
    : Omit<Base, 'message'> & { readonly message: MessageOf<Content, Base['message']> };

/** Events that carry content, by type. */
export interface ContentEvents<Content extends AppContent> {
  readonly tool_use: ToolCallOf<EventOf<'tool_use'>, Content>;
  readonly tool_confirmation_required: ToolCallOf<EventOf<'tool_confirmation_required'>, Content>;
  readonly input_required: AskedOf<EventOf<'input_required'>, Content, 'payload'>;
  readonly tool_result: ToolOutcomeOf<EventOf<'tool_result'>, Content>;
  readonly data: DataOf<EventOf<'data'>, Content>;
  readonly message_end: WithMessage<EventOf<'message_end'>, Content>;
  readonly history_moved: IsPlain<Content> extends true
    ? EventOf<'history_moved'>
    : Omit<EventOf<'history_moved'>, 'messages'> & { readonly messages?: readonly MessageOf<Content>[] };
}

/** The types of event that carry content. */
export type ContentEventType = keyof ContentEvents<AppContent> & EventType;
