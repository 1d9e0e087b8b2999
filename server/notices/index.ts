export type {
  Notice,
  NoticeKind,
  PushBody,
  PushTarget,
  ToldNotice,
  WebhookBody,
} from '../../shared/notices.js';
export type {
  Deliver,
  DeliverOptions,
  NotifyOptions,
  PushSender,
  WebhookOptions,
  WebhookShape,
} from './options.js';
export { type ReceivedWebhook, type VerifyOptions, verifyWebhook } from './verify.js';
export { type WebPushOptions, webPush } from './web-push.js';
