import { GatewayError } from '../../../shared/errors.js';
import type { Notice, RunWebhook } from '../../../shared/notices/contract.js';
import { questionsOf } from '../../../shared/subagents.js';
import { idOf } from '../../ids.js';
import { assertOpen, type OperationEnvironment } from '../../operations/environment.js';
import type { HostHandlers } from '../../operations/feature.js';
import type { Session } from '../../sessions/session.js';
import type { StoredRecord } from '../../stores/records.js';
import type { RunRecord, SessionRef } from '../../stores/stored.js';
import { askedId } from './causes.js';
import type { Notices } from './notices.js';
import {
  assertWebhook,
  endpointOf,
  type KeptRunWebhook,
  RUN_WEBHOOKS,
  targetOfForm,
  webhookId,
  webhooksOf,
} from './run-webhooks.js';

/** The part of a notice that tells what happened. */
type Happened = Pick<Notice, 'id' | 'kind' | 'stopReason' | 'callId'>;

/** The end of a run, or the questions that it waits for. */
async function happenedIn({ runId, result }: RunRecord, { log }: Session): Promise<readonly Happened[]> {
  if (result) return [{ id: idOf('run_ended', runId), kind: 'run_ended', stopReason: result.stopReason }];
  const state = await log?.folded();
  return (state ? questionsOf(state, runId) : []).map((question) => ({
    ...{ id: askedId(question, log!.ref.epoch), kind: 'input_required', callId: question.callId },
  }));
}

/** Keeps a webhook, in place of the one of its name. @throws GatewayError `QUOTA_EXCEEDED` naming `limits.runWebhooks` */
function keep(
  { store, owners, limits: { runWebhooks: most } }: OperationEnvironment,
  home: SessionRef,
  kept: KeptRunWebhook,
): Promise<unknown> {
  const recordId = webhookId(kept);
  const bound = {
    ...{ kind: RUN_WEBHOOKS.name, owner: kept.userKey, most, option: 'limits.runWebhooks' },
    says: `A user's runs have at most ${most} webhooks at a time`,
    counts: (record: StoredRecord) => record.id !== recordId,
  };
  return owners.add(bound, async () => store.changeRecords(home, [RUN_WEBHOOKS.put(recordId, kept)]));
}

/** The caller's webhooks of a run, after a change. @throws GatewayError `RUN_NOT_FOUND`, `QUOTA_EXCEEDED`, `INVALID_PARAMS` naming the field */
export const runWebhooks =
  (env: OperationEnvironment, notices: Notices | null): HostHandlers['run-webhooks'] =>
  async ({ runId, form, add, remove }, { reach: { ref }, caller: { person } }) => {
    const { store, quotas, sessions } = env;
    if (!notices?.options.runWebhooks)
      throw new GatewayError({
        code: 'INVALID_REQUEST',
        message: 'This gateway tells no addresses of callers (notify.runWebhooks)',
      });
    quotas[add || remove !== undefined ? 'sends' : 'reads'].take(person);
    const find = async (): Promise<RunRecord> => {
      const record = await store.run(ref, { runId });
      if (!record) throw new GatewayError({ code: 'RUN_NOT_FOUND' });
      return record;
    };
    await find();
    const of = { runId, form, userKey: person.key };
    if (remove !== undefined)
      await store.changeRecords(ref, [RUN_WEBHOOKS.drop(webhookId({ ...of, id: remove }))]);
    if (add) {
      assertOpen(env);
      assertWebhook(add, notices.options);
      const { id, url, headers } = add;
      const kept: KeptRunWebhook = { ...of, id, url, ...(headers && { headers }) };
      await keep(env, ref, kept);
      // Behind the record: what happens from then on is told to it as well.
      const session = await sessions.existing(ref);
      const about = { sessionId: session.id, app: ref.app, userId: person.user.id, runId, at: Date.now() };
      const receiver = { to: person.key, target: targetOfForm(form), endpoint: endpointOf(ref, kept) };
      const happened = await happenedIn(await find(), session);
      const receivers = happened.map((each) => ({ ...receiver, notice: { ...about, ...each } }));
      await notices.tell(ref, receivers);
    }
    const all = await webhooksOf(store, ref, of);
    return { webhooks: all.filter(({ userKey }) => userKey === person.key).map(shown) };
  };

const shown = ({ id, url, headers }: KeptRunWebhook): RunWebhook => ({
  ...{ id, url },
  ...(headers && { headers }),
});
