import type { AuthRequest, UserLike } from '../../auth/types.js';
import type { WireForm } from '../../delivery/wire-form.js';
import type { WireEnd } from './wire-end.js';

/** Bytes that a socket may send before its first frame is whole; a `connect` that names 1,000 sessions takes fewer. */
export const HELLO_BYTES = 256 * 1024;

/** Who is at the other end, as far as the socket itself knows. */
export interface FramePeer {
  readonly request: AuthRequest;
  /** The user, where the host has authenticated the upgrade itself. */
  readonly user?: UserLike | undefined;
}

/** One client's socket, as a session of frames sees it. It reports to the session: `receive`, `drained` and `closed`. */
export interface FrameWire {
  readonly transport: string;
  readonly form: WireForm<unknown>;
  /** Bytes that are written and not sent. */
  readonly backlog: number;
  /** Bytes that the receiver has taken so far. */
  readonly sent: number;
  /** Writes one frame. False when the receiver does not keep up. */
  send(text: string): boolean;
  /** Writes a payload of `form`. False when the receiver does not keep up. */
  write(payload: unknown): boolean;
  /** Stops reading. What was read already may still be reported. */
  pause(): void;
  resume(): void;
  /** Closes in order: what was written still arrives, if the receiver takes it. */
  close(end: WireEnd): void;
  destroy(): void;
}
