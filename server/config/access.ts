import type { UserContext } from '../../shared/contract.js';
import type { GrantRole } from '../../shared/grants.js';
import type { Role } from '../../shared/messages.js';
import type { OperationName } from '../../shared/operations.js';
import type { SessionKey } from '../../shared/session-key.js';
import type { MaybePromise } from '../async/maybe-promise.js';

/** What somebody wants of a session: an operation, its events, a call of one of its tools by another protocol, or to tell somebody of it. */
export type AccessedOperation = OperationName | 'events' | 'tool-call' | 'notify';

/** What a host may say of a session, on top of scopes. False answers like a session that does not exist. */
export type SessionAccess = (
  user: UserContext,
  session: SessionKey & {
    readonly sessionId: string;
    /** The grant by which the user reaches the session; absent where it is of the user's own scope. */
    readonly via?: { readonly grantId: string; readonly as: GrantRole };
  },
  operation: AccessedOperation,
) => MaybePromise<boolean>;

/** Whether people may share sessions by links, and how far. */
export interface ShareLinks {
  /** The most that a link may allow. @default 'commenter' */
  readonly upTo?: GrantRole | undefined;
  /** Where a page of the host's opens a link, as `share` answers it. */
  readonly url?: ((link: { readonly token: string; readonly sessionId: string }) => string) | undefined;
}

/** Who may use which app, by its name. */
export type AppAccess = (user: UserContext, app: string) => MaybePromise<boolean>;

/**
 * What clients may bring with a message: all, none, what is listed by name, or what a function says of a user and an app. A function
 * that throws, or does not answer in 5 s, allows none.
 */
export type Allowance =
  | boolean
  | readonly string[]
  | ((user: UserContext, app: string) => MaybePromise<boolean | readonly string[]>);

/** What messages of clients may say of themselves, and bring along. */
export interface ClientMessages {
  /** Roles that clients may write messages of. @default ['user'] */
  readonly roles?: readonly Role[] | undefined;
  /** Whether they may say when a message was written; otherwise that is when it came. @default false */
  readonly createdAt?: boolean | undefined;
  /** Tools that they may offer to the app and answer themselves (`clientTools`), by name. @default false */
  readonly tools?: Allowance | undefined;
  /** What they may ask of the model (`parameters`), by name. @default false */
  readonly parameters?: Allowance | undefined;
  /**
   * Whether they may begin sessions with conversations of elsewhere (`import`), messages of every role among them: then history may say
   * what no app ever said. A function that throws, or does not answer in 5 s, does not allow it.
   *
   * @default false
   */
  readonly import?: boolean | ((user: UserContext, app: string) => MaybePromise<boolean>) | undefined;
}
