import type { StandardSchemaV1 } from '@standard-schema/spec';
import type {
  PayloadAt,
  PayloadName,
  RegisteredChannels,
  RegisteredEvents,
  UserContext,
} from './contract.js';
import type { Tracked } from './tracked.js';
import type { CallerWrites, Wire } from './wire.js';

/** A span of the caller: a `SpanContext` of OpenTelemetry. */
export interface ParentSpan {
  /** 16 bytes, hex. */
  readonly traceId: string;
  /** 8 bytes, hex. */
  readonly spanId: string;
  /** Bit 0 says that the caller records its trace. */
  readonly traceFlags: number;
}

/** Options of `publish`. */
export interface PublishOptions {
  /** The type of the event. @default 'message' */
  readonly type?: string;
}

/** Publishes on a channel of the call's session. */
export interface ContextChannels {
  publish<Name extends PayloadName<RegisteredChannels>>(
    channel: Name,
    payload: PayloadAt<RegisteredChannels, Name>,
    options?: PublishOptions,
  ): Promise<void>;
}

/** The context of a handler's call; also returned by `getContext()`. */
export interface MethodContext {
  /** Established by authentication alone; null on a gateway without users. */
  readonly user: UserContext | null;
  readonly metadata: {
    readonly sessionId?: string;
    readonly clientId: string;
    readonly connectionId?: string;
    readonly transport: string;
    readonly method: string;
  };
  /** The trace of the caller's `traceparent` header (W3C Trace Context), or a new one. */
  readonly traceId: string;
  /** Names the request: its `X-Request-Id`, or a new one. It is in the log, in the answer and in every error. */
  readonly requestId: string;
  /** The caller's span, from the same header: the parent of the call's own span. Absent without a header. */
  readonly parentSpan?: ParentSpan;
  /** Present when the call names a session. */
  readonly channels?: ContextChannels;
  /** Emits a custom event: to `gateway.on('custom')`, and into the session's log when the call names one. */
  emit<Name extends PayloadName<RegisteredEvents>>(
    name: Name,
    payload: PayloadAt<RegisteredEvents, Name>,
  ): void;
  /** The last id that arrived, if the caller was cut off from a stream of `tracked` items. The caller sends it, so do not trust it. */
  readonly lastEventId?: string;
  /** Aborted when the caller goes away or the method's time is up. */
  readonly signal: AbortSignal;
}

/** A method as callers see it. Only the type checker uses `~types`. */
export interface Method<Params, Result> {
  readonly '~kind': 'method';
  readonly '~types'?: { readonly params: Params; readonly result: Result };
}

/**
 * A method, or a bare function. It names no `~types`, since `method()` would infer its parameters from them as `any` inside a
 * tree; `params: never` makes an unannotated parameter of a bare function unusable instead of silently `any`.
 */
export type MethodLeaf =
  | { readonly '~kind': 'method' }
  | ((params: never, context: MethodContext) => unknown);

/** Methods by name. Namespaces nest to any depth; a key may itself hold colons. */
export interface MethodTree {
  readonly [name: string]: MethodLeaf | MethodTree;
}

/** The methods of a gateway's configuration. */
export type MethodsConfig = MethodTree;

/** The methods of a client's type argument: a gateway, its Express router, a method tree or a generated contract. */
export type MethodTreeOf<Source> = Source extends { readonly '~contract': { readonly methods: infer Tree } }
  ? Tree
  : Source;

type IsLeaf = { readonly '~kind': 'method' } | ((...args: any) => any);

// An interface, not a type alias: errors then list the paths themselves instead of an alias around the whole tree.
export interface PathsIn<Tree, Prefix extends string> {
  readonly union: {
    [Name in keyof Tree & string]: Tree[Name] extends IsLeaf
      ? `${Prefix}${Name}`
      : Tree[Name] extends object
        ? PathsIn<Tree[Name], `${Prefix}${Name}:`>['union']
        : never;
  }[keyof Tree & string];
}

/** Union of every colon path of a gateway, tree or contract. */
export type MethodPaths<Source> = PathsIn<MethodTreeOf<Source>, ''>['union'];

/**
 * The leaf at a colon path: the whole key, else by first segment, else by any key that holds colons, so that `bulk` and
 * `bulk:purge` can both be namespaces.
 */
export type MethodAt<Tree, Path extends string> = Path extends keyof Tree
  ? Tree[Path]
  : Path extends `${infer Head}:${infer CallRest}`
    ? Head extends keyof Tree
      ? MethodAt<Tree[Head], CallRest> extends infer Leaf
        ? [Leaf] extends [never]
          ? MethodUnderColons<Tree, Path>
          : Leaf
        : never
      : MethodUnderColons<Tree, Path>
    : never;

type MethodUnderColons<Tree, Path extends string> = {
  [Name in keyof Tree & string]: Name extends `${string}:${string}`
    ? Path extends `${Name}:${infer Tail}`
      ? MethodAt<Tree[Name], Tail>
      : never
    : never;
}[keyof Tree & string];

type LeafParams<Leaf> =
  Leaf extends Method<infer Params, any>
    ? CallerWrites<Params>
    : Leaf extends (...args: infer Args) => any
      ? Args extends []
        ? void
        : Args[0]
      : never;

type ReturnOf<Leaf> =
  Leaf extends Method<any, infer Result>
    ? Result
    : Leaf extends (...args: any) => infer Result
      ? Result
      : never;

type ItemOf<Item> = Item extends Tracked<infer Value> ? Value : Item;
type LeafResult<Return> =
  Return extends AsyncIterable<infer Item> ? Wire<ItemOf<Item>> : Wire<Awaited<Return>>;

export type ResultAt<Tree, Path extends string> = LeafResult<ReturnOf<MethodAt<Tree, Path>>>;

/** The params that a caller passes: the schema's input side, before defaults and transforms. */
export type MethodParams<Source, Path extends string> = LeafParams<MethodAt<MethodTreeOf<Source>, Path>>;

/** The result that a caller receives over the wire: the value, or each item of a streaming method. */
export type MethodResult<Source, Path extends string> = ResultAt<MethodTreeOf<Source>, Path>;

/** Stands in for the parameters when `invoke` is used on a streaming method, or `stream` on any other. */
export interface UseInstead<Call extends string> {
  readonly '~use': Call;
}

/** Options of one call. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** The session whose channels and log the method may use. */
  readonly sessionId?: string;
}

/** Further options of a call of a streaming method. */
export interface StreamOptions {
  /** Continues a stream of `tracked` items after the item of this id, for example after a reload. */
  readonly lastEventId?: string | undefined;
}

/** The items of a streaming method. */
export interface MethodItems<Item> extends AsyncIterableIterator<Item> {
  /** The id of the last item that was taken, if the method gives its items ids. */
  readonly lastEventId: string | undefined;
}

// biome-ignore lint/complexity/noBannedTypes: `{} extends Params` asks whether every property is optional, `undefined extends` whether the value itself is
type CallRest<Params, Options> = {} extends Params
  ? [params?: Params, options?: Options]
  : undefined extends Params
    ? [params?: Params, options?: Options]
    : [params: Params, options?: Options];

/**
 * A gateway's methods as members: `api.tasks.create({ … })` calls `tasks:create`. Each member is the property of the server's tree itself: an editor
 * goes from it to the method, renames both, and shows the method's comment.
 */
export type ApiOf<Tree, Options = CallOptions> = {
  readonly [Name in keyof Tree]: Tree[Name] extends IsLeaf
    ? ApiCall<Tree[Name], Options>
    : ApiOf<Tree[Name], Options>;
};

type ApiCall<Leaf, Options> = (
  ...args: ReturnOf<Leaf> extends AsyncIterable<any>
    ? [use: UseInstead<'client.stream()'>]
    : CallRest<LeafParams<Leaf>, Options>
) => Promise<LeafResult<ReturnOf<Leaf>>>;

// `extends infer Args extends unknown[]` defers the type. Without it the checker evaluates every method of the tree for each call signature.
export type InvokeArgs<Tree, Path extends string, Options = CallOptions> = (
  ReturnOf<MethodAt<Tree, Path>> extends AsyncIterable<any>
    ? [use: UseInstead<'client.stream()'>]
    : CallRest<LeafParams<MethodAt<Tree, Path>>, Options>
) extends infer Args extends unknown[]
  ? Args
  : never;

export type StreamArgs<Tree, Path extends string, Options = CallOptions> = (
  ReturnOf<MethodAt<Tree, Path>> extends AsyncIterable<any>
    ? CallRest<LeafParams<MethodAt<Tree, Path>>, Options>
    : [use: UseInstead<'client.invoke()'>]
) extends infer Args extends unknown[]
  ? Args
  : never;

type Input<Schema> = Schema extends StandardSchemaV1 ? StandardSchemaV1.InferInput<Schema> : never;
type Output<Schema> = Schema extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Schema> : never;

export type CallerParams<Schema, Params> = Schema extends StandardSchemaV1 ? Input<Schema> : Params;
export type HandlerParams<Schema, Params> = Schema extends StandardSchemaV1 ? Output<Schema> : Params;
export type HandlerReturn<Schema> = Schema extends StandardSchemaV1
  ? Input<Schema> | Promise<Input<Schema>> | AsyncIterable<Input<Schema> | Tracked<Input<Schema>>>
  : unknown;
export type CallerReturn<Schema, Return> = Schema extends StandardSchemaV1
  ? Return extends AsyncIterable<any>
    ? AsyncIterable<Output<Schema>>
    : Output<Schema>
  : Return;
