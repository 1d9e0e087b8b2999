import type { Usage } from 'agent-session-gateway/client';
import { useEffect, useState } from 'react';
import { readTrace } from '../shell/gateway.js';
import { settings } from '../shell/settings.js';

/** The parts of a run that a gateway for development tells beside the events. */
export interface ToldRun {
  readonly parts: readonly {
    readonly kind: 'step' | 'model';
    readonly name: string;
    /** Milliseconds since the epoch. */
    readonly at: number;
    readonly ms?: number;
    readonly usage?: Usage;
    readonly failed?: boolean;
  }[];
  readonly errors: readonly { readonly of: string; readonly stack: string }[];
  readonly lines: readonly { readonly at: number; readonly level: string; readonly text: string }[];
}

const NOTHING: ToldRun = { parts: [], errors: [], lines: [] };

/** While a run goes on, it is asked for so often, in milliseconds. */
const ASK_MS = 1000;

/** Asks for the parts of a run that no event tells; none where the gateway does not tell them. @param sessionId Undefined for a run of a file */
export function useToldRun(sessionId: string | undefined, runId: string, isOver: boolean): ToldRun {
  const [told, setTold] = useState(NOTHING);
  useEffect(() => {
    const { traceUrl } = settings;
    if (traceUrl === undefined || sessionId === undefined) return;
    let isGone = false;
    const ask = () =>
      readTrace<ToldRun>(traceUrl, sessionId, runId).then(
        (now) => !isGone && setTold(now),
        () => {},
      );
    void ask();
    const timer = isOver ? undefined : setInterval(ask, ASK_MS);
    return () => {
      isGone = true;
      clearInterval(timer);
    };
  }, [sessionId, runId, isOver]);
  return told;
}
