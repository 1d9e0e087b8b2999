import type { UsageRow } from './contract.js';

/** A cell that no spreadsheet takes for a formula, and that keeps commas, quotes and line breaks. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Rows of `gateway.usage()` as CSV (RFC 4180), with the names of their fields in the first line; nothing for no rows. An unknown cost is empty.
 *
 * @example
 * ```ts
 * console.log(usageCsv(await clientUsage(client)({ by: ['day'] })));
 * ```
 */
export function usageCsv(rows: readonly UsageRow[]): string {
  if (rows.length === 0) return '';
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))] as (keyof UsageRow)[];
  const lines = rows.map((row) => names.map((name) => cell(row[name])).join(','));
  return [names.join(','), ...lines].map((line) => `${line}\r\n`).join('');
}
