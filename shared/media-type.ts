/** Whether the value of a `Content-Type` is that of an event stream (RFC 9110, section 8.3.1). */
export const isEventStream = (contentType: string | null): boolean =>
  /^\s*text\/event-stream\s*(?:;|$)/i.test(contentType ?? '');
