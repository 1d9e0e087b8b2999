import type { RunWebhook } from '../../../shared/notices/contract.js';
import type { WebhookShape } from '../../../shared/notices/options.js';
import { asUnavailable } from '../../log/unavailable.js';
import type { Feature } from '../../operations/feature.js';
import type { Causes } from './causes.js';
import { failedNotices, resendNotice } from './ledger.js';
import { PUSH_OWNERS, PUSHES } from './notice-record.js';
import { type HasRead, Notices } from './notices.js';
import { noticeOperations, notifying } from './operations.js';
import { Receivers } from './receivers.js';
import { runWebhooks } from './run-webhook-operations.js';
import { RUN_WEBHOOKS } from './run-webhooks.js';
import { notifySchema } from './schema.js';

declare module '../../operations/feature.js' {
  interface FeatureParts {
    /** Notices that its events cause. */
    readonly causes?: Causes;
    /** Writes the requests to callers' addresses in the form of a plugin. @returns The check of an address; null if the host allows none */
    readonly runWebhooks?: (form: string, shape: WebhookShape) => ((webhook: RunWebhook) => void) | null;
    /** Whether a person has read a session up to a place, or since a time. */
    readonly hasRead?: HasRead;
  }
}

/** People and systems that are away are told what happens. */
export const noticesFeature: Feature = {
  kinds: [PUSHES, PUSH_OWNERS, RUN_WEBHOOKS],
  config: { notify: notifySchema.optional() },
  handle: (_call, hostCall) => ({ notify: (notice) => hostCall('notify', { notice }) }),
  open({ config, store, apps, grants, features, report }) {
    const { notify } = config;
    const receivers = new Receivers({ grants, format: ({ app, name }) => apps.format(app, name) });
    const causes = (): Causes => Object.assign({}, ...features().map((feature) => feature.causes));
    const hasRead: HasRead = async (...asked) => {
      for (const feature of features()) if (await feature.hasRead?.(...asked)) return true;
      return false;
    };
    const notices = notify ? new Notices(notify, { causes, hasRead, store, receivers, report }) : null;
    return {
      operations: (env) => noticeOperations(env, notices),
      hostCalls: (env) => ({ notify: notifying(env, notices), 'run-webhooks': runWebhooks(env, notices) }),
      operator: {
        failedNotices: (options) => failedNotices(store, options),
        resendNotice: async (id) => asUnavailable(() => resendNotice(store, id)),
      },
      stats: () => ({ notices: notices?.stats ?? { sending: 0, outcomes: [] } }),
      ...(notices && {
        recordsOf: (cause) => notices.of(cause),
        runWebhooks: (form, shape) => notices.form(form, shape),
        dueKinds: notices.kinds,
        close: () => notices.close(),
      }),
    };
  },
};
