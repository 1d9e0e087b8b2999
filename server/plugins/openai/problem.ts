import type { core, z } from 'zod';
import { GatewayError } from '../../../shared/errors.js';
import { type FieldProblem, fieldError } from '../conversation/errors.js';

/** Reads a body by its schema. @throws GatewayError `INVALID_REQUEST`, in the vendor's terms */
export function readBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw problemOf(parsed.error.issues[0]!, body);
}

function problemOf(issue: core.$ZodIssue, body: unknown): GatewayError {
  const { path, message, code } = deepest(issue);
  if (path.length === 0) {
    return new GatewayError({ code: 'INVALID_REQUEST', message: 'The body must be a JSON object' });
  }
  const problem: FieldProblem = { path: formatPath(path), message, code: vendorCode(code, path, body) };
  return fieldError(problem.path, problem.message, problem.code);
}

/** The issue of a union's branch that matched furthest, which explains the problem best. */
function deepest(issue: core.$ZodIssue): core.$ZodIssue {
  if (issue.code !== 'invalid_union') return issue;
  const [best] = issue.errors
    .flatMap(([first]) => (first ? [deepest(first)] : []))
    .sort((a, b) => b.path.length - a.path.length);
  return best && best.path.length > 0 ? { ...best, path: [...issue.path, ...best.path] } : issue;
}

function vendorCode(code: string, path: readonly PropertyKey[], body: unknown): string {
  let value = body;
  for (const key of path) value = (value as Record<PropertyKey, unknown> | null | undefined)?.[key];
  if (value === undefined) return 'missing_required_parameter';
  return code === 'invalid_type' || code === 'invalid_union' ? 'invalid_type' : 'invalid_value';
}

function formatPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    return text === '' ? String(key) : `${text}.${String(key)}`;
  }, '');
}
