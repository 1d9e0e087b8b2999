import type { Handlers } from '../../operations/call.js';
import type { Feature } from '../../operations/feature.js';
import { allOf, oneOf } from './reached.js';
import { Search } from './search.js';

/** Search in what was said. The kernel keeps what is found with each append; this asks for it and shows it. */
export const searchFeature: Feature = {
  open({ store, grants, apps, logOf }) {
    const search = new Search({ store, logOf });
    return {
      operations: (_env, { access }): Handlers<'search'> => ({
        async search({ sessionId: _, app, ...params }, call) {
          const { person } = call.caller;
          if (!('reach' in call))
            return search.page(params, await allOf({ access, grants, apps }, person, app));
          const { reach } = call;
          const epoch = reach.via?.epoch ?? (await store.record(reach.ref))?.epoch;
          const isOther = epoch === undefined || (app !== undefined && app !== reach.ref.app);
          return isOther ? { hits: [], cursor: null } : search.page(params, oneOf(reach, epoch));
        },
      }),
      handle: (call) => ({ search: (query, options) => call('search', { ...options, query }) }),
    };
  },
};
