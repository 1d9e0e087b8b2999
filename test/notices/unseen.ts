/** How long notices of gateways that are killed wait to be seen, in milliseconds. */
export const UNSEEN_MS = 2500;
