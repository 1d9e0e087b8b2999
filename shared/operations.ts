import { CALLS, type CallOf, EXPORT_PATH, isCall, type OperationRoute } from './calls.js';

/**
 * Every operation once. The HTTP router, the frame dispatcher, the client and the documents read this table; the schemas of
 * params and results are in `schemas/operations.ts`, keyed by the same names.
 */
export const OPERATIONS = {
  ...CALLS,
  export: { http: 'GET', path: EXPORT_PATH, extra: true },
  openapi: { http: 'GET', path: '/openapi.json', extra: true },
} as const satisfies Record<string, OperationRoute>;

/** The name of an operation, the same on every transport. */
export type OperationName = keyof typeof OPERATIONS;

/** An operation that begins a run. Its response may follow the run. */
export type RunOperation = CallOf<'run'>;

/** Whether an operation begins a run. */
export function beginsRun(name: string): name is RunOperation {
  return Object.hasOwn(OPERATIONS, name) && isCall(name, 'run');
}

/** The operations that begin a run. */
export const RUN_OPERATIONS: readonly RunOperation[] = /* @__PURE__ */ Object.keys(OPERATIONS).filter(
  beginsRun,
);

/** An operation that may answer with items, one by one, and ends when its caller leaves. */
export type StreamedOperation = 'invoke' | 'export';

/** Whether an operation may answer with items, one by one. */
export function isStreamed(name: string): name is StreamedOperation {
  return name === 'invoke' || name === 'export';
}

/** Whether an operation counts as a read: it changes nothing, yet costs something. `export` is counted when it opens. */
export function isRead(name: OperationName): boolean {
  return name !== 'export' && (OPERATIONS[name].http === 'GET' || isCall(name, 'read'));
}

/** Routes without authentication. */
export const HEALTH_PATHS = { live: '/healthz', ready: '/readyz' } as const;

/** Whether a name is that of an operation. */
export function isOperation(name: string): name is OperationName {
  return Object.hasOwn(OPERATIONS, name);
}
