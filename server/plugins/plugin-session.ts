import type { Identity } from '../auth/types.js';
import { type HostEnvironment, hostCaller, openSession } from '../host/open-session.js';
import type { PluginSession } from './plugin.js';

/** A session for a plugin, in the scope of whom it acts for. @param transport Name of the plugin, as lifecycle events and methods see it. */
export function openPluginSession(
  env: HostEnvironment,
  id: string,
  { identity, transport }: { readonly identity: Identity; readonly transport: string },
): PluginSession {
  return {
    ...openSession(env, id, hostCaller(identity, { transport })),
    async callTool(name, input, { signal, progress } = {}) {
      await env.ready();
      const caller = hostCaller(identity, { transport, ...(signal && { signal }) });
      return env.operations.callTool({ sessionId: id, name, input, ...(progress && { progress }) }, caller);
    },
    async discard() {
      await env.ready();
      await env.operations.discard(id, hostCaller(identity, { transport }));
    },
  };
}
