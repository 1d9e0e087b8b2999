import { asUnavailable } from '../../log/unavailable.js';
import type { Feature } from '../../operations/feature.js';
import type { Causes } from './causes.js';
import { failedNotices, resendNotice } from './ledger.js';
import { PUSH_OWNERS, PUSHES } from './notice-record.js';
import { type HasRead, Notices } from './notices.js';
import { noticeOperations, notifying } from './operations.js';
import { Receivers } from './receivers.js';
import { notifySchema } from './schema.js';

declare module '../../operations/feature.js' {
  interface FeatureParts {
    /** Notices that its events cause. */
    readonly causes?: Causes;
    /** Whether a person has read a session up to a place, or since a time. */
    readonly hasRead?: HasRead;
  }
}

/** People and systems that are away are told what happens. */
export const noticesFeature: Feature = {
  kinds: [PUSHES, PUSH_OWNERS],
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
      hostCalls: (env) => ({ notify: notifying(env, notices) }),
      operator: {
        failedNotices: (options) => failedNotices(store, options),
        resendNotice: async (id) => asUnavailable(() => resendNotice(store, id)),
      },
      stats: () => ({ notices: notices?.stats ?? { sending: 0, outcomes: [] } }),
      ...(notices && {
        recordsOf: (cause) => notices.of(cause),
        dueKinds: notices.kinds,
        close: () => notices.close(),
      }),
    };
  },
};
