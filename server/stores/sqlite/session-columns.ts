import type { SessionRef } from '../stored.js';
import { fromColumn, toColumn } from '../text-column.js';
import type { SqliteRow } from './driver.js';

/** The name of a session in columns. */
export const columnsOf = ({ scope, app, name }: SessionRef): readonly [string, string, string] => [
  toColumn(scope),
  toColumn(app),
  toColumn(name),
];

/** The session of a row. Leaves out other columns, and the fields that drivers add. */
export function refOf({ scope, app, name }: SqliteRow): SessionRef {
  return {
    scope: fromColumn(scope as string),
    app: fromColumn(app as string),
    name: fromColumn(name as string),
  };
}
