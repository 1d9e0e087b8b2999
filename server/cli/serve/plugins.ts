import type { GatewayPlugin } from 'agent-session-gateway';
import { chatCompletionsPlugin } from 'agent-session-gateway/plugins/chat-completions';
import { playgroundPlugin } from 'agent-session-gateway/plugins/playground';

/**
 * What `dev` adds to the gateway that it makes of a file's apps or configuration.
 *
 * @param kill Ends the process as a crash would.
 */
export function developmentPlugins(kill: () => void): readonly GatewayPlugin[] {
  return [chatCompletionsPlugin(), playgroundPlugin({ path: '/', kill })];
}
