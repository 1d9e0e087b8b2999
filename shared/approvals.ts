/** The outcome of a question that nobody decided in time. `abort` ends the run. */
export type OnExpiry = 'deny' | 'approve' | 'abort';

/** The people who may decide a confirmation, the number of approvals, and the time limit. Without a policy, one answer of anybody decides. */
export interface ConfirmPolicy {
  /** Only users with one of these roles may vote. @default everybody who reaches the session */
  readonly roles?: readonly string[] | undefined;
  /** Number of approvals needed, up to 16. One denial denies. @default 1 */
  readonly approvals?: number | undefined;
  /** Excludes the sender of the message that is being answered. */
  readonly notBy?: 'sender' | undefined;
  /** Whether guests of share links may vote, each as the person who gave the link. @default false */
  readonly guests?: boolean | undefined;
  /** Time in milliseconds after which the question is decided without people. @default never */
  readonly expiresInMs?: number | undefined;
  /** The decision after that time; `abort` ends the run. @default 'deny' */
  readonly onExpiry?: OnExpiry | undefined;
  /** Roles that may vote too after a time in milliseconds. */
  readonly escalate?: { readonly afterMs: number; readonly roles: readonly string[] } | undefined;
}

/** The policy of a question: its voters, the approvals that it needs, and its end. Times are milliseconds since the epoch, by the store's clock. */
export interface ApprovalPolicy {
  /** A voter needs one of these roles. @default everybody who reaches the session */
  readonly roles?: readonly string[];
  /** How many people have to approve. One denial denies. */
  readonly approvals: number;
  /** The sender of the message that is being answered has no vote. */
  readonly notBy?: 'sender';
  /** Guests of share links may vote, each as the person who gave the link. @default false */
  readonly guests?: true;
  readonly expiresAt?: number;
  /** The decision at `expiresAt`. Present with it. */
  readonly onExpiry?: OnExpiry;
  readonly escalateAt?: number;
  /** From `escalateAt` on, users with these roles may vote too. */
  readonly escalateRoles?: readonly string[];
  /** SHA-256 of the input as canonical JSON (RFC 8785), base64url. */
  readonly inputHash: string;
}

/** One person's vote on a question with a policy. */
export interface Vote {
  /** Id of the user. */
  readonly by: string;
  readonly approved: boolean;
  readonly reason?: string;
  /** Id of the person who gave the link, if a guest has voted. It is that person's vote. */
  readonly givenBy?: string;
}
