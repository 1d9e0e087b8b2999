import { CALLS, EXPORT_PATH, type OperationRoute } from './calls.js';

/**
 * Every operation once. The HTTP router, the frame dispatcher, the client and the documents read this table; the schemas of
 * params and results are in `schemas/operations.ts`, keyed by the same names.
 */
export const OPERATIONS = {
  ...CALLS,
  export: { http: 'GET', path: EXPORT_PATH },
  openapi: { http: 'GET', path: '/openapi.json' },
  asyncapi: { http: 'GET', path: '/asyncapi.json' },
} as const satisfies Record<string, OperationRoute>;

/** The name of an operation, the same on every transport. */
export type OperationName = keyof typeof OPERATIONS;

/** The operations that begin a run, which their answer may follow. */
export const RUN_OPERATIONS = ['send', 'regenerate'] as const;

export type RunOperation = (typeof RUN_OPERATIONS)[number];

/** Whether an operation begins a run. */
export function beginsRun(name: string): name is RunOperation {
  return (RUN_OPERATIONS as readonly string[]).includes(name);
}

/** Routes without authentication. */
export const HEALTH_PATHS = { live: '/healthz', ready: '/readyz' } as const;

/** Whether a name is that of an operation. */
export function isOperation(name: string): name is OperationName {
  return Object.hasOwn(OPERATIONS, name);
}
