import { readFileSync } from 'node:fs';
import { loadPeer } from '../../runtime/optional-peer.js';
import { packageFile } from '../../runtime/package-files.js';

/** CaseFields of a body or a line. */
export type CaseFields = Readonly<Record<string, unknown>>;
type CaseText = string | { readonly repeat: string; readonly times: number };

/** One request of a case, and what is expected of its reply, as `conformance/apps.yaml` says. */
export interface CaseSlice {
  readonly given: CaseFields & { readonly program: readonly unknown[] };
  readonly text?: CaseText;
  readonly reasoning?: string;
  readonly lines?: readonly CaseFields[];
  readonly some?: readonly CaseFields[];
  readonly none?: readonly CaseFields[];
  readonly order?: readonly string[];
  readonly last?: CaseFields;
  readonly sent?: 'signature' | 'old' | 'unsigned' | 'no json';
  readonly status?: number;
}

/** A case of conformance for the app's side. */
export interface AppCase {
  readonly name: string;
  readonly slices: readonly CaseSlice[];
}

/** The cases that the package has. @throws GatewayError `INTERNAL` without the package `yaml` */
export async function readCases(): Promise<readonly AppCase[]> {
  const { parse } = await loadPeer('yaml', 'conformance --app', () => import('yaml'));
  const { cases } = expanded(parse(readFileSync(packageFile('conformance/apps.yaml'), 'utf8'))) as {
    readonly cases: readonly AppCase[];
  };
  return cases;
}

/** A value with its repeated texts written out. */
function expanded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(expanded);
  if (typeof value !== 'object' || value === null) return value;
  const { repeat, times } = value as { readonly repeat?: unknown; readonly times?: unknown };
  if (typeof repeat === 'string' && typeof times === 'number') return repeat.repeat(times);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, expanded(inner)]));
}
