/** The state of a running gateway. */
export interface GatewayState {
  /** Whether new work is refused because the gateway drains. */
  draining: boolean;
  /** Whether new clients should go elsewhere, though all are served: readiness alone tells. */
  lameDuck: boolean;
  /** Time of the last connection that was cut for want of descriptors, by the monotonic clock. */
  droppedAt: number;
  /** Since when the shared store could not be reached for a lease, by the monotonic clock; null if it is reached. Clients are then better served by other gateways. */
  awayAt: number | null;
  /** Whether the store is open. */
  open: boolean;
}

/** The state of a gateway that has not started. */
export const newState = (): GatewayState => ({
  ...{ draining: false, lameDuck: false, open: false },
  ...{ awayAt: null, droppedAt: Number.NEGATIVE_INFINITY },
});
