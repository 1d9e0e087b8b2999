import type { Person } from '../auth/types.js';
import { hostCaller, openSession } from '../host/open-session.js';
import { type DialectEnvironment, streamDialect } from './dialect-stream.js';
import type { PluginSession } from './plugin.js';

/** A session for a plugin, in its caller's scope. @param transport Name of the plugin, as lifecycle events and methods see it. */
export function openPluginSession(
  plugin: DialectEnvironment,
  id: string,
  { person, transport }: { readonly person: Person; readonly transport: string },
): PluginSession {
  const { host: env } = plugin;
  return {
    ...openSession(env, id, hostCaller(person, { transport })),
    async callTool(name, input, { signal, progress, asked } = {}) {
      await env.ready();
      const caller = hostCaller(person, { transport, ...(signal && { signal }) });
      const hears = { ...(progress && { progress }), ...(asked && { asked }) };
      return env.operations.callTool({ sessionId: id, name, input, ...hears }, caller);
    },
    async beginCall(name, input, { key, metadata } = {}) {
      await env.ready();
      const caller = hostCaller(person, { transport });
      return env.operations.beginCall({ sessionId: id, name, input, key, metadata }, caller);
    },
    stream: (dialect, options = {}) => streamDialect(plugin, { id, person, transport }, dialect, options),
    async sent(key) {
      await env.ready();
      return env.operations.sent({ sessionId: id, key }, hostCaller(person, { transport }));
    },
    async runWebhooks(runId, change = {}) {
      await env.ready();
      const asked = { sessionId: id, form: transport, runId, ...change };
      const { webhooks } = await env.operations.forHost(
        'run-webhooks',
        asked,
        hostCaller(person, { transport }),
      );
      return webhooks;
    },
    async discard() {
      await env.ready();
      await env.operations.discard(id, hostCaller(person, { transport }));
    },
  };
}
