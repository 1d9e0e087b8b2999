/** The variants of a session, by name. */
export type Variants = Readonly<Record<string, string>>;

/** The events of variants. */
export interface VariantEvents {
  /** The session has this variant from here on. */
  variant: { readonly name: string; readonly choice: string };
}

/** The limits of variants. */
export interface VariantLimits {
  /** Names of variants of a session. @default 32 */
  readonly variantsPerSession: number;
}
