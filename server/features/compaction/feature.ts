import { GatewayError } from '../../../shared/errors.js';
import { checkKeep } from '../../apps/compaction.js';
import { newRunId } from '../../ids.js';
import type { OperationEnvironment } from '../../operations/environment.js';
import type { Feature, HostHandlers } from '../../operations/feature.js';
import { toMessage } from '../../runs/to-message.js';

/** The message of a run that only summarizes, as it is shown beside the conversation. */
const ASKED = 'Summarize the earlier messages';

/** Begins a run beside the conversation that summarizes it. */
const compacting =
  ({ apps, quotas, sessions }: OperationEnvironment): HostHandlers['compact'] =>
  async ({ keep }, call) => {
    const { reach, caller } = call;
    const { app } = reach.ref;
    checkKeep(keep, 'keep');
    if (!apps.get(app).compact)
      throw new GatewayError({
        code: 'INVALID_REQUEST',
        message: `The app ${app} summarizes nothing (compact)`,
      });
    await sessions.existing(reach.ref);
    quotas.sends.take(caller.person);
    const runId = newRunId();
    await call.perform({
      type: 'accept',
      request: {
        ...{ runId, message: toMessage(ASKED), preceding: [], onBusy: 'queue', key: undefined },
        ...{ user: caller.person.user, metadata: {}, clientTools: [], parameters: {} },
        lane: { app, depth: 0, keep: false, compacts: keep === undefined ? {} : { keep } },
      },
    });
    return { runId };
  };

/** Summaries of conversations that the host asks for. All others are made by runs. */
export const compactionFeature: Feature = {
  handle: (_call, hostCall) => ({ compact: (options = {}) => hostCall('compact', options) }),
  hostCalls: (env) => ({ compact: compacting(env) }),
};
