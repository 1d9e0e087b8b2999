import type { Checks } from '../checks.js';

/** They have closed their gateways, and what they show is what they print. */
const showing = (...lines: readonly RegExp[]) => ({
  prints: new RegExp(lines.map(({ source }) => source).join('[\\s\\S]*')),
  after: () => {},
});

/** The edge cases on the pages of other protocols. */
export const PROTOCOLS: Checks = {
  'docs/chat-completions.md#3': showing(
    /cut: aborted/,
    /tabs: \[ 'You said one\. ', 'You said two\. ' \]/,
    /approval: You said pay\. paid \| You said pay\. Denied: /,
  ),
  'docs/mcp.md#5': showing(
    /approval: paid/,
    /approval: Denied: as you like/,
    /approval: \S+/,
    /the tool has begun/,
    /stopped/,
    /stop: the tool knows/,
  ),
  'docs/responses.md#3': showing(
    /cut: none is lost or doubled: true/,
    /stop: cancelled/,
    /edit: You said two\s+\| You said three/,
    /approval: paid/,
  ),
  'docs/ui-message-stream.md#3': showing(
    /cut and stop: You said wait\. +ready/,
    /edit: 2 You said hello\./,
    /approval: You said pay\. Denied: too dear/,
  ),
};
