'use client';

export type { EventHookOptions } from '../hooks/events.js';
export type { ConnectionHealth } from '../hooks/health.js';
export type { InboxView } from '../hooks/inbox-store.js';
export type { SchedulesView } from '../hooks/schedules-store.js';
export type { SearchView, SearchViewOptions } from '../hooks/search-store.js';
export type { SessionActions, SessionOptions, SessionView, SessionViewOf } from '../hooks/session-store.js';
export type { UsageView, UsageViewOptions } from '../hooks/usage-store.js';
export { GatewayProvider, type GatewayProviderProps, useGateway } from './provider.js';
export { type GatewayHooks, gatewayHooks } from './typed.js';
export {
  type CallState,
  type MethodHandle,
  type SessionList,
  type SessionListOptions,
  useConnection,
  useMethod,
  useSessions,
} from './use-calls.js';
export { useChannel, useSessionEvents } from './use-events.js';
export { useInbox } from './use-inbox.js';
export { useControl, usePresence } from './use-people.js';
export { type RunsView, useRuns } from './use-runs.js';
export { useSchedules } from './use-schedules.js';
export { useSearch } from './use-search.js';
export { type SelectOptions, useSession } from './use-session.js';
export { useUsage } from './use-usage.js';
