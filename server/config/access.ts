import type { UserContext } from '../../shared/contract.js';
import type { GrantRole } from '../../shared/grants.js';
import type { Role } from '../../shared/messages.js';
import type { OperationName } from '../../shared/operations.js';
import type { SessionKey } from '../../shared/session-key.js';
import type { UserName } from '../../shared/user-name.js';
import type { MaybePromise } from '../async/maybe-promise.js';

/** The use to authorize: an operation, a session's events, a tool call by another protocol, its summary, a notice about it, or the webhooks of its runs. */
export type AccessedOperation =
  | OperationName
  | 'events'
  | 'tool-call'
  | 'compact'
  | 'notify'
  | 'run-webhooks';

/** A host's decision about a session, on top of scopes. After false, the session seems not to exist. */
export type SessionAccess = (
  user: UserContext,
  session: SessionKey & {
    readonly sessionId: string;
    /** The grant by which the user reaches the session; absent if the session is in the user's own scope. */
    readonly via?: { readonly grantId: string; readonly as: GrantRole };
  },
  operation: AccessedOperation,
) => MaybePromise<boolean>;

/** Settings of links by which people share sessions. */
export interface ShareLinks {
  /** The highest role of a link. @default 'commenter' */
  readonly upTo?: GrantRole | undefined;
  /** Makes the URL of the host's page that opens a link, for the answer of `share`. */
  readonly url?: ((link: { readonly token: string; readonly sessionId: string }) => string) | undefined;
}

/**
 * Decides whether a user may read the sessions of all users: asked without a session before they are listed, and of each session that is listed or
 * read. `owner` is absent if the session belongs to several users.
 */
export type Oversight = (
  user: UserContext,
  session?: SessionKey & { readonly scope: string; readonly owner?: UserName },
) => MaybePromise<boolean>;

/** Decides whether a user may use an app. */
export type AppAccess = (user: UserContext, app: string) => MaybePromise<boolean>;

/**
 * The names that clients may bring with a message: all, none, a list, or the result of a function of user and app. A function that throws,
 * or does not answer in 5 s, allows none.
 */
export type Allowance =
  | boolean
  | readonly string[]
  | ((user: UserContext, app: string) => MaybePromise<boolean | readonly string[]>);

/** Allowed contents of clients' messages. */
export interface ClientMessages {
  /** Roles of messages that clients may write. @default ['user'] */
  readonly roles?: readonly Role[] | undefined;
  /** Whether clients may set the time of a message. Otherwise it is the time of arrival. @default false */
  readonly createdAt?: boolean | undefined;
  /** Tools that clients may offer to the app and answer themselves (`clientTools`), by name. @default false */
  readonly tools?: Allowance | undefined;
  /** Parameters of the model that clients may set (`parameters`), by name. @default false */
  readonly parameters?: Allowance | undefined;
  /** Tools whose outputs clients may say for a run (`toolOutputs`), by name. The app cannot tell them from its own. @default false */
  readonly toolOutputs?: Allowance | undefined;
  /**
   * Whether clients may begin sessions with conversations from elsewhere (`import`), including messages of every role. The history may then
   * contain answers that no app ever gave. A function that throws, or does not answer in 5 s, does not allow it.
   *
   * @default false
   */
  readonly import?: boolean | ((user: UserContext, app: string) => MaybePromise<boolean>) | undefined;
}

/** Names the tenant that a user belongs to; two users with the same text share its limits and its turns. */
export type FairKey = (user: UserContext) => string;
