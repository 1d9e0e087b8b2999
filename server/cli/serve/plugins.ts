import type { GatewayPlugin } from 'agent-session-gateway';
import { chatCompletionsPlugin } from 'agent-session-gateway/plugins/chat-completions';
import { playgroundPlugin } from 'agent-session-gateway/plugins/playground';

/**
 * The plugins that `dev` adds to a gateway made from apps or a configuration.
 *
 * @param kill Ends the process as a crash would.
 */
export function developmentPlugins(kill: () => void): readonly GatewayPlugin[] {
  return [chatCompletionsPlugin(), playgroundPlugin({ path: '/', kill })];
}
