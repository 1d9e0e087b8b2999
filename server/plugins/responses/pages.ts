import type { ResponseItem } from '../../../shared/responses/types.js';
import { fieldError } from '../conversation/errors.js';
import { pageBehind } from '../conversation/pages.js';

const LIMIT = 20;
const MAX_LIMIT = 100;

/** A page of items in the form of the vendor's lists, by `limit`, `order` and `after`. @throws GatewayError `INVALID_REQUEST` */
export function itemPage(items: readonly ResponseItem[], query: URLSearchParams): object {
  const limit = Number(query.get('limit') ?? LIMIT);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    throw fieldError('limit', `must be 1 to ${MAX_LIMIT}`, 'invalid_value');
  const order = query.get('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc') throw fieldError('order', 'must be asc or desc', 'invalid_value');
  const ordered = order === 'asc' ? items : [...items].reverse();
  const page = pageBehind(ordered, { after: query.get('after'), limit });
  if (!page) throw fieldError('after', 'there is no such item', 'invalid_value');
  const { data, hasMore } = page;
  const [first_id = null, last_id = null] = [data[0]?.id, data.at(-1)?.id];
  return { object: 'list', data, first_id, last_id, has_more: hasMore };
}
