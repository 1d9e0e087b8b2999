import { AsyncResource } from 'node:async_hooks';

/** Runs a function, and all that it starts, in one asynchronous context. */
export type Context = <Result>(work: () => Result) => Result;

/** The present context. Without the bound function that `AsyncLocalStorage.snapshot` makes, which costs Node more than all the rest of beginning a run. */
export function presentContext(): Context {
  const resource = new AsyncResource('AgentSessionGateway');
  return (work) => resource.runInAsyncScope(work);
}

/** The context before anything was asked of the process: nobody's call, nobody's trace. */
export const rootContext: Context = presentContext();
