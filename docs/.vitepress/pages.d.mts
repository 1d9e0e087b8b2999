export declare const GROUPS: readonly {
  readonly text: string;
  readonly pages: readonly (readonly [path: string, title: string])[];
}[];
export declare const PAGE_NAMES: readonly string[];
