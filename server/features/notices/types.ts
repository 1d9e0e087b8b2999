export type {
  FailedNotice,
  FailedNoticesOptions,
  NoticeCount,
  NoticeOutcome,
} from '../../../shared/notices/contract.js';
export type {
  Deliver,
  DeliverOptions,
  NotifyOptions,
  PushSender,
  WebhookOptions,
} from '../../../shared/notices/options.js';
