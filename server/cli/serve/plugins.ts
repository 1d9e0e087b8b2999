import type { GatewayPlugin } from 'agent-session-gateway';
import { chatCompletionsPlugin } from 'agent-session-gateway/plugins/chat-completions';
import { playgroundPlugin, type ReplayRequest } from 'agent-session-gateway/plugins/playground';
import { appOf, findExported } from './exported.js';
import { loadFile } from './load-file.js';

/**
 * The plugins that `dev` adds to a gateway made from apps or a configuration.
 *
 * @param file The file that exports them.
 * @param kill Ends the process as a crash would.
 */
export function developmentPlugins(file: string, kill: () => void): readonly GatewayPlugin[] {
  const replay = async ({ app: name, ...replaying }: ReplayRequest) => {
    const { replaySession } = await import('agent-session-gateway/testing');
    return replaySession({ ...replaying, app: appOf(findExported(await loadFile(file), file), name, file) });
  };
  return [chatCompletionsPlugin(), playgroundPlugin({ path: '/', kill, traces: true, replay })];
}
