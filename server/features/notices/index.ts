export type {
  Notice,
  NoticeKind,
  PushBody,
  PushTarget,
  ToldNotice,
  WebhookBody,
} from '../../../shared/notices/contract.js';
export type { WebhookShape } from '../../../shared/notices/options.js';
export type { Deliver, DeliverOptions, NotifyOptions, PushSender, WebhookOptions } from './types.js';
export { type ReceivedWebhook, type VerifyOptions, verifyWebhook } from './verify.js';
export { type WebPushOptions, webPush } from './web-push.js';
