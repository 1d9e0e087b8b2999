/** What happens to a question that nobody has decided in time: `abort` ends the run. */
export type OnExpiry = 'deny' | 'approve' | 'abort';

/** Who may decide a question, how many of them have to, and until when. Times are milliseconds since the epoch, by the store's clock. */
export interface ApprovalPolicy {
  /** Whoever holds one of them may vote. @default everybody who reaches the session */
  readonly roles?: readonly string[];
  /** How many people have to approve. One denial denies. */
  readonly approvals: number;
  /** Whoever sent the message that is being answered has no vote. */
  readonly notBy?: 'sender';
  readonly expiresAt?: number;
  /** What comes then. Present with `expiresAt`. */
  readonly onExpiry?: OnExpiry;
  readonly escalateAt?: number;
  /** They may vote too from then on. */
  readonly escalateRoles?: readonly string[];
  /** SHA-256 of the input as canonical JSON (RFC 8785), base64url. */
  readonly inputHash: string;
}

/** What one person said to a question with a policy. */
export interface Vote {
  /** Id of the user. */
  readonly by: string;
  readonly approved: boolean;
  readonly reason?: string;
}
