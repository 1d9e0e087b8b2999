import { fieldError } from '../../../shared/errors.js';
import type { OnDisconnect } from '../../apps/application.js';
import type { CompactionOption } from '../../apps/compaction.js';
import type { ToolSet } from '../../apps/tool.js';
import type { Versioned } from '../../apps/versions.js';
import { secretProblem } from '../../runtime/signature.js';

/** Options of an app that runs elsewhere, however it is reached. */
export interface RemoteOptions<Tools extends ToolSet = ToolSet> extends Versioned, CompactionOption {
  /**
   * Signs what goes to the app: base64 of 24 to 64 bytes, with `whsec_` before it or without, as for [webhooks](https://www.standardwebhooks.com). Two while one
   * replaces the other.
   */
  readonly secret: string | readonly string[];
  /** The app's name there. @default the name that it has here */
  readonly name?: string;
  readonly description?: string;
  /** Tools whose handlers run in the gateway, and which the app may have called. */
  readonly tools?: Tools;
  /** @default 'continue' */
  readonly onDisconnect?: OnDisconnect;
  /** Time that a slice may take, in milliseconds. @default 55 000 */
  readonly sliceMs?: number;
  /** Time beyond it after which the slice is cut off, in milliseconds. @default 5 000 */
  readonly graceMs?: number;
  /** Time without a byte after which a slice counts as dead, in milliseconds. @default 30 000 */
  readonly silenceMs?: number;
  /** Longest line of a reply, in bytes. @default 1 MiB */
  readonly lineBytes?: number;
  /** Largest reply to one slice, in bytes. @default 16 MiB */
  readonly replyBytes?: number;
  /** Most messages of the history that a slice has. @default 100 */
  readonly historyMessages?: number;
  /** Most characters of JSON of the history that a slice has. @default 1 Mi */
  readonly historySize?: number;
  /**
   * Most slices in a row that die with nothing new said. Then the run ends with `UPSTREAM_FAILED`. The pauses between them grow from 0.1 to 10 s.
   *
   * @default 10
   */
  readonly attempts?: number;
  /** The fate of a run whose app sends what is not of the protocol: it ends with `APP_REPLY_INVALID`, or is called again, as if it had died. @default 'end' */
  readonly onFault?: 'end' | 'again';
}

/** The options that bound a slice, with their defaults. */
export type SliceBounds = Required<
  Pick<
    RemoteOptions,
    | 'sliceMs'
    | 'graceMs'
    | 'silenceMs'
    | 'lineBytes'
    | 'replyBytes'
    | 'historyMessages'
    | 'historySize'
    | 'attempts'
    | 'onFault'
  >
>;

const MIB = 1024 * 1024;
const DEFAULTS: SliceBounds = {
  ...{ sliceMs: 55_000, graceMs: 5_000, silenceMs: 30_000, lineBytes: MIB, replyBytes: 16 * MIB },
  ...{ historyMessages: 100, historySize: MIB, attempts: 10, onFault: 'end' },
};
const MAX_MS = 3_600_000;

/** The bounds of an app. @throws GatewayError `INVALID_PARAMS` that names the option */
export function boundsOf(options: RemoteOptions): SliceBounds {
  const bounds: Record<string, unknown> = { ...DEFAULTS };
  for (const field of Object.keys(DEFAULTS) as (keyof SliceBounds)[])
    if (options[field] !== undefined) bounds[field] = options[field];
  for (const [field, value] of Object.entries(bounds)) {
    if (field === 'onFault') continue;
    const [least, most] = field.startsWith('history')
      ? [0, Number.MAX_SAFE_INTEGER]
      : field.endsWith('Ms')
        ? [1, MAX_MS]
        : [1, Number.MAX_SAFE_INTEGER];
    if (!Number.isInteger(value) || (value as number) < least! || (value as number) > most!)
      throw fieldError(field, `must be a whole number from ${least} to ${most}`);
  }
  if (bounds.onFault !== 'end' && bounds.onFault !== 'again')
    throw fieldError('onFault', "must be 'end' or 'again'");
  return bounds as unknown as SliceBounds;
}

/** The secrets of an app. @throws GatewayError `INVALID_PARAMS` */
export function secretsOf({ secret }: Pick<RemoteOptions, 'secret'>): readonly string[] {
  const secrets = typeof secret === 'string' || secret === undefined ? [secret!] : secret;
  const problem = secrets.length === 0 ? 'must be a text' : secrets.map(secretProblem).find(Boolean);
  if (problem !== undefined) throw fieldError('secret', problem);
  return secrets;
}
