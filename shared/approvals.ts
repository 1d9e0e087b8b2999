/** The outcome of a question that nobody decided in time. `abort` ends the run. */
export type OnExpiry = 'deny' | 'approve' | 'abort';

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
