import * as z from 'zod';
import { composeId } from '../../../shared/composed-id.js';
import { fieldError } from '../../../shared/errors.js';
import type { RunWebhook } from '../../../shared/notices/contract.js';
import type { NotifyOptions } from '../../../shared/notices/options.js';
import { digestOf, givenId } from '../../ids.js';
import { kind } from '../../records/kind.js';
import type { Store } from '../../stores/store.js';
import type { SessionRef } from '../../stores/stored.js';
import type { Endpoint } from './notice-record.js';
import { urlProblem } from './schema.js';

const [URL_LENGTH, ID_LENGTH] = [2048, 64];
const HEADERS = { most: 8, length: 4096 };
/** Headers of a caller. All others are the gateway's: they say where a request goes, and how long it is. */
const HEADER = /^(?:authorization|x-[a-z0-9-]{1,64})$/i;
const [VISIBLE, PREFIX] = [/^[\x20-\x7e]*$/, 'run-webhook:'];

/** A webhook of a run, with the person who wants it. */
export interface KeptRunWebhook extends RunWebhook {
  readonly runId: string;
  /** The name of the plugin that writes the requests. */
  readonly form: string;
  /** The person's key. */
  readonly userKey: string;
}

/** The webhooks of runs, in the home of their session. A close ends runs too, of which they are told. */
export const RUN_WEBHOOKS = kind<KeptRunWebhook>({
  ...{ name: 'run_webhook', endsWith: 'session', ofPerson: true },
  schema: z.object({
    ...{ id: z.string(), url: z.string(), runId: z.string(), form: z.string(), userKey: z.string() },
    headers: z.record(z.string(), z.string()).exactOptional(),
  }),
  ownerOf: ({ userKey }) => userKey,
});

/** The name of the target that writes requests in a form. */
export const targetOfForm = (form: string): string => `${PREFIX}${form}`;

/** The form of a target of webhooks of runs; undefined for all others. */
export const formOfTarget = (target: string): string | undefined =>
  target.startsWith(PREFIX) ? target.slice(PREFIX.length) : undefined;

/** The id of the record of a webhook. */
export const webhookId = ({ userKey, runId, form, id }: Omit<KeptRunWebhook, 'url' | 'headers'>): string =>
  digestOf(composeId(userKey, runId, form, id));

/** The webhooks of a run in one form. */
export async function webhooksOf(
  store: Pick<Store, 'records'>,
  home: SessionRef,
  of: Pick<KeptRunWebhook, 'runId' | 'form'>,
): Promise<readonly KeptRunWebhook[]> {
  const all = await RUN_WEBHOOKS.all(store, home);
  return all.map(({ value }) => value).filter(({ runId, form }) => runId === of.runId && form === of.form);
}

/** The endpoint of a webhook, for its deliveries. */
export const endpointOf = (home: SessionRef, kept: KeptRunWebhook): Endpoint => ({
  ...{ scope: home.scope, id: webhookId(kept), host: new URL(kept.url).host },
});

/** The reason why a host does not allow an address; undefined if it does. */
export function addressProblem(
  url: string,
  { runWebhooks, allowPrivate = false }: Pick<NotifyOptions, 'runWebhooks' | 'allowPrivate'>,
): string | undefined {
  if (url.length > URL_LENGTH) return `must have at most ${URL_LENGTH} characters`;
  const problem = urlProblem(url, allowPrivate);
  if (problem !== undefined) return problem;
  const isAllowed = runWebhooks?.origins?.includes(new URL(url).origin) ?? true;
  return isAllowed ? undefined : 'is of no origin that the host allows (notify.runWebhooks.origins)';
}

/** @throws GatewayError `INVALID_PARAMS` naming the field */
export function assertWebhook({ id, url, headers = {} }: RunWebhook, options: NotifyOptions): void {
  givenId(id, 'id', ID_LENGTH);
  const problem = addressProblem(url, options);
  if (problem !== undefined) throw fieldError('url', problem);
  const all = Object.entries(headers);
  if (all.length > HEADERS.most) throw fieldError('headers', `must be at most ${HEADERS.most}`);
  for (const [name, value] of all) {
    if (!HEADER.test(name)) throw fieldError('headers', 'must be authorization, or begin with x-');
    if (value.length > HEADERS.length || !VISIBLE.test(value))
      throw fieldError(`headers.${name}`, `must have at most ${HEADERS.length} characters, of ASCII`);
  }
}
