import { encodeSse } from '../../../shared/sse.js';
import { eachEvent, transientData, type WireForm } from '../../delivery/wire-form.js';
import { isShareable, SharedText, type SocketPayload } from '../shared-text.js';

/** How SSE ids are written: the cursor of one session on each event, or vectors of several on heartbeats. */
export type IdMode = 'cursor' | 'vector';

/** A chunk of HTTP/1.1 (RFC 9112, section 7.1), built once and shared by the sockets of all subscribers. */
export function chunk(text: string): SocketPayload {
  const size = Buffer.byteLength(text);
  const head = `${size.toString(16)}\r\n`;
  if (isShareable(text, size)) return new SharedText(`${head}${text}\r\n`);
  // A long text is copied only once, into the buffer that is sent.
  const bytes = Buffer.allocUnsafe(head.length + size + 2);
  bytes.write(head, 0, 'latin1');
  bytes.write(text, head.length, size === text.length ? 'latin1' : 'utf8');
  bytes.write('\r\n', head.length + size, 'latin1');
  return bytes;
}

function sseForm(ids: IdMode, frame: (text: string) => SocketPayload): WireForm<SocketPayload> {
  return {
    events(events, origin, known) {
      let text = '';
      // The type comes from the protocol and needs no check, which would run for every event.
      eachEvent(events, origin, { known, whole: ids === 'vector' }, (type, cursor, data) => {
        text +=
          ids === 'cursor'
            ? `event: ${type}\nid: ${cursor}\ndata: ${data}\n\n`
            : `event: ${type}\ndata: ${data}\n\n`;
      });
      return frame(text);
    },
    transient(type, data, id) {
      const shown = ids === 'cursor' || type === 'heartbeat' ? id : undefined;
      return frame(encodeSse(type, JSON.stringify(transientData(data, shown)), shown));
    },
  };
}

const bytes = (text: string): Buffer => Buffer.from(text);

/** The SSE forms: as plain text for `res.write`, and as ready HTTP/1.1 chunks for the socket. */
export const SSE_FORMS: Readonly<
  Record<IdMode, Readonly<Record<'text' | 'chunk', WireForm<SocketPayload>>>>
> = {
  cursor: { text: sseForm('cursor', bytes), chunk: sseForm('cursor', chunk) },
  vector: { text: sseForm('vector', bytes), chunk: sseForm('vector', chunk) },
};
