import { eachEvent, transientData, type WireForm } from '../../delivery/wire-form.js';

/**
 * Events as frames.
 *
 * @param join Puts the JSON texts of frames on one kind of wire, in one piece that all its clients share.
 */
export function frameForm<P>(join: (texts: readonly string[]) => P): WireForm<P> {
  return {
    events(events, origin, known) {
      const texts: string[] = [];
      // Written by hand: this runs for every event, whose data is JSON already.
      eachEvent(events, origin, { known }, ({ type, cursor, data }) => {
        texts.push(`{"event":"${type}","id":"${cursor}","data":${data}}`);
      });
      return join(texts);
    },
    transient: (event, data, id) => join([JSON.stringify({ event, id, data: transientData(data, id) })]),
  };
}
