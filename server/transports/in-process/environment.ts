import type { Connections } from '../../delivery/connections.js';
import type { Operations } from '../../operations/operations.js';

/** What the in-process door works with. */
export interface InProcessEnvironment {
  readonly operations: Operations;
  readonly connections: Connections;
  readonly config: { readonly limits: { readonly heartbeatMs: number; readonly jsonDepth: number } };
  ready(): Promise<void> | null;
  report(error: unknown, what: string): void;
}
