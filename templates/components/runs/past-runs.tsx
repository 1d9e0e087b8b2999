import type { Message } from 'agent-session-gateway/client';
import { childrenOf } from 'agent-session-gateway/client/runs';
import { useState } from 'react';
import { RunTree } from './run-tree.js';

/** The child runs of a finished answer. They are rendered once somebody opens them. */
export function PastRuns({ message }: { readonly message: Message }) {
  const [isOpen, setOpen] = useState(false);
  const many = message.children?.length ?? 0;
  if (many === 0) return null;
  return (
    <details className="fold past-runs" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{many === 1 ? '1 child run' : `${many} child runs`}</summary>
      {isOpen && <RunTree runs={childrenOf(message)} label="Child runs" />}
    </details>
  );
}
