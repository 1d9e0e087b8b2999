import { AsyncResource } from 'node:async_hooks';

/** Runs a function, and all work that it starts, in one asynchronous context. */
export type Context = <Result>(work: () => Result) => Result;

/** Captures the present context. It avoids `AsyncLocalStorage.snapshot`, whose bound function costs more than the rest of a run's start. */
export function presentContext(): Context {
  const resource = new AsyncResource('AgentSessionGateway');
  return (work) => resource.runInAsyncScope(work);
}

/** The context of the process before its first call, without a caller or a trace. */
export const rootContext: Context = presentContext();
