import type { SendOptions } from 'agent-session-gateway/client';
import type { Files } from 'agent-session-gateway/client/files';
import { createContext, type ReactNode, useContext } from 'react';

/** A control of a component, and what it acts on. */
export type Control =
  | {
      readonly does: 'send';
      readonly sessionId: string;
      readonly text: string;
      readonly options: SendOptions | undefined;
    }
  | { readonly does: 'edit'; readonly sessionId: string; readonly messageId: string; readonly text: string }
  | { readonly does: 'answer again'; readonly sessionId: string; readonly messageId: string }
  | { readonly does: 'approve'; readonly sessionId: string; readonly callId: string }
  | { readonly does: 'take over' | 'hand back' | 'share'; readonly sessionId: string }
  | { readonly does: 'list the sessions' }
  | { readonly does: 'change the session'; readonly sessionId: string; readonly title: string };

/** What a page may give to all of its components. */
export interface Around {
  /** The gateway's files: `createFiles`. Without them nothing is attached, and a file of a message is only named. */
  readonly files?: Files;
  /** Whether the page only shows. */
  readonly readOnly?: boolean;
  /** The address at which the page opens a share link, where the gateway does not say one (`shareLinks.url`). Its token belongs behind a `#`. */
  readonly linkTo?: (token: string, sessionId: string) => string;
  /** Sets a formula, which is text without it. It may be a lazy component. `isBlock`: it stands alone. */
  readonly maths?: (formula: string, isBlock: boolean) => ReactNode;
  /** Has screen readers say each paragraph of an answer as soon as it is whole. */
  readonly aloud?: boolean;
  /** Shown beside a control, such as a help, or the call behind it. */
  readonly beside?: (control: Control) => ReactNode;
}

const AroundContext = createContext<Around>({});

/** Gives all components below it what a page has. It has to be the same object as long as nothing in it changes. */
export const AroundProvider = AroundContext.Provider;

export const useAround = (): Around => useContext(AroundContext);

/** The place beside a control, for the page to fill. */
export function Beside(control: Control) {
  return useAround().beside?.(control);
}
