/** Set the type of your users once: `declare module 'agent-session-gateway' { interface Register { user: AppUser } }`. */
// biome-ignore lint/suspicious/noEmptyInterface: augmented by applications
export interface Register {}

/** Who is calling, as authentication and `hydrateUser` established it. */
export interface BaseUser {
  readonly id: string;
  readonly roles?: readonly string[];
  readonly tenantId?: string;
  readonly email?: string;
  readonly [field: string]: unknown;
}

/** The user that handlers see: the registered type where there is one. */
export type UserContext = Register extends { user: infer User } ? User & BaseUser : BaseUser;

/** What a gateway's type carries to its callers: one structural property, `'~contract'`. */
export interface Contract {
  readonly methods: unknown;
  readonly channels: unknown;
  readonly events: unknown;
}
