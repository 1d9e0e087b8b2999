import {
  type ComputedRef,
  computed,
  getCurrentInstance,
  type InjectionKey,
  inject,
  type MaybeRefOrGetter,
  onMounted,
  type Ref,
  shallowRef,
  toValue,
  watch,
} from 'vue';
import { GatewayError } from '../../shared/gateway-error.js';
import type { Client } from '../client.js';
import { type ConnectionHealth, healthOf } from '../hooks/health.js';
import {
  createSessionStore,
  type Observable,
  type SessionActions,
  type SessionOptions,
  type SessionView,
  type SessionViewOf,
} from '../hooks/session-store.js';

export type { ConnectionHealth } from '../hooks/health.js';
export type { SessionActions, SessionOptions, SessionView, SessionViewOf } from '../hooks/session-store.js';

/** Key under which a client is provided: `app.provide(GATEWAY, client)`, once for each app, on a server once for each request. */
export const GATEWAY: InjectionKey<Client<any>> = Symbol('gateway');

/** The client that the app provides. @throws GatewayError `INVALID_REQUEST` if there is none */
export function useGateway<Source = unknown>(): Client<Source> {
  const client = inject(GATEWAY, undefined);
  if (client) return client as Client<Source>;
  throw new GatewayError({
    code: 'INVALID_REQUEST',
    message: 'Call app.provide(GATEWAY, client) first',
  });
}

/** A session's state as refs, each of which changes only when its part does, with the session's actions. */
export type SessionRefs<Source = unknown> = {
  readonly [Name in Exclude<keyof SessionView, keyof SessionActions>]-?: ComputedRef<
    Name extends keyof SessionViewOf<Source> ? SessionViewOf<Source>[Name] : never
  >;
} & SessionActions<Source> & {
    /** The whole view. */
    readonly view: Readonly<Ref<SessionViewOf<Source>>>;
  };

type OptionalKeys<T> = { [Name in keyof T]-?: Pick<T, never> extends Pick<T, Name> ? Name : never }[keyof T];

/** Fields that a view may lack at first. Each needs a ref from the start. */
const ABSENT: Readonly<Record<OptionalKeys<SessionView>, true>> = {
  error: true,
  lanes: true,
  variants: true,
  replies: true,
  regenerating: true,
  title: true,
  metadata: true,
  archived: true,
  control: true,
  handOff: true,
  stale: true,
};

/** Shows a source's value: in a component from mounting on, never on a server; elsewhere at once. Ends with its scope. */
function follow<T>(source: () => Observable<T>, shown: Ref<T>): void {
  const begin = () => {
    const changed = (
      { getSnapshot, subscribe }: Observable<T>,
      _: unknown,
      onCleanup: (stop: () => void) => void,
    ) => {
      const show = () => {
        shown.value = getSnapshot();
      };
      onCleanup(subscribe(show));
      show();
    };
    watch(source, changed, { immediate: true, flush: 'sync' });
  };
  if (getCurrentInstance()) onMounted(begin);
  else begin();
}

/**
 * A session, followed while the component is mounted, or the scope lasts. Growing text changes it at most once a frame, everything else at once. On a
 * server it opens nothing and renders `initial`.
 *
 * @param id The session's key; may change.
 *
 * @example
 * ```ts
 * const { messages, run, status, send } = useSession('main');
 * ```
 */
export function useSession<Source = unknown>(
  id: MaybeRefOrGetter<string>,
  options: SessionOptions = {},
): SessionRefs<Source> {
  const client = useGateway();
  const store = computed(() => createSessionStore(client, toValue(id), options));
  const first = store.value.getServerSnapshot();
  const view = shallowRef(first);
  follow(() => store.value, view);
  const of = (name: keyof SessionView) =>
    typeof first[name] === 'function'
      ? (...args: never[]) => (view.value[name] as (...args: never[]) => unknown)(...args)
      : computed(() => view.value[name]);
  const names = Object.keys({ ...ABSENT, ...first }) as (keyof SessionView)[];
  return {
    view,
    ...Object.fromEntries(names.map((name) => [name, of(name)])),
  } as unknown as SessionRefs<Source>;
}

/** The health of the connection, for a person. */
export function useConnection(): Readonly<Ref<ConnectionHealth>> {
  const health = healthOf(useGateway().connection);
  const shown = shallowRef<ConnectionHealth>('connecting');
  follow(() => health, shown);
  return shown;
}
