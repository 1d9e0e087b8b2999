import { AsyncLocalStorage } from 'node:async_hooks';

/** Runs a function, and all that it starts, in one asynchronous context. */
export type Context = <Result>(work: () => Result) => Result;

/** The context before anything was asked of the process: nobody's call, nobody's trace. */
export const rootContext: Context = AsyncLocalStorage.snapshot();
