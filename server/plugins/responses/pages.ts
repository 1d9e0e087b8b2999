import type { ResponseItem } from '../../../shared/responses/types.js';
import { fieldError } from '../conversation/errors.js';

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
  const after = query.get('after');
  const at = after === null ? -1 : ordered.findIndex(({ id }) => id === after);
  if (after !== null && at < 0) throw fieldError('after', 'there is no such item', 'invalid_value');
  const data = ordered.slice(at + 1, at + 1 + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: at + 1 + limit < ordered.length,
  };
}
