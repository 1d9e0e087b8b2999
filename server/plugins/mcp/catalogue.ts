import type { IncomingMessage } from 'node:http';
import { GatewayError, GuardError } from '../../../shared/errors.js';
import type { ToolHints } from '../../apps/tool.js';
import { settleWithin } from '../../async/deadline.js';
import type { Person } from '../../auth/types.js';
import type { JsonSchema } from '../../schema/schema.js';
import type { ToolDescription } from '../plugin.js';
import type { McpToolFilter, ParsedOptions } from './options.js';
import type { McpTool } from './sdk.js';

/** The tools that one client sees and may call. */
export interface ToolView {
  readonly listing: readonly McpTool[];
  has(name: string): boolean;
}

type ErrorReport = (error: unknown, what: string) => void;

/** The tools that an endpoint exposes, before and after its filter. */
export class ToolCatalogue {
  readonly #tools: readonly ToolDescription[];
  readonly #listing: ReadonlyMap<string, McpTool>;
  readonly #filter: McpToolFilter | undefined;
  readonly #guardMs: number;
  readonly #report: ErrorReport;
  readonly #all: ToolView;

  constructor(
    found: readonly ToolDescription[],
    { include, exclude, toolFilter }: Pick<ParsedOptions, 'include' | 'exclude' | 'toolFilter'>,
    { guardMs, report }: { readonly guardMs: number; readonly report: ErrorReport },
  ) {
    const listing = new Map<string, McpTool>();
    const unknown = [...(include ?? []), ...exclude].filter((name) => !found.some((it) => it.name === name));
    if (unknown.length > 0) {
      report(
        problem(`there is no tool ${unknown.join(', ')}`),
        'the MCP endpoint has names of tools that the app lacks',
      );
    }
    const chosen = found.filter(({ name }) => (include?.includes(name) ?? true) && !exclude.includes(name));
    this.#tools = chosen.filter((tool) => {
      const inputSchema = objectSchema(tool.inputSchema);
      const why = tool.problem ?? (inputSchema ? undefined : 'MCP needs an object as the input of a tool');
      if (why !== undefined) {
        const outcome = inputSchema ? 'is listed without its schema' : 'is left out';
        report(problem(why), `the tool ${tool.name} ${outcome} of the MCP endpoint`);
      }
      if (!inputSchema) return false;
      const { name, description, title, hints } = tool;
      listing.set(name, {
        name,
        ...(title !== undefined && { title }),
        ...(description !== undefined && { description }),
        inputSchema,
        ...(hints && { annotations: annotationsOf(hints) }),
      });
      return true;
    });
    this.#listing = listing;
    this.#filter = toolFilter;
    this.#guardMs = guardMs;
    this.#report = report;
    this.#all = { listing: [...listing.values()], has: (name) => listing.has(name) };
  }

  /** The tools of a caller. @throws GuardError when the filter fails or does not answer in time */
  async viewFor(request: IncomingMessage, { user }: Person): Promise<ToolView> {
    const filter = this.#filter;
    if (!filter) return this.#all;
    try {
      const answer = Promise.resolve().then(() => filter(this.#tools, request, { user }));
      const kept = await settleWithin(answer, this.#guardMs, () => ({
        error: new GatewayError({ code: 'TIMEOUT', message: 'toolFilter did not answer' }),
      }));
      const wanted = new Set(kept.map(({ name }) => name));
      const listing = this.#all.listing.filter(({ name }) => wanted.has(name));
      return { listing, has: (name) => wanted.has(name) && this.#listing.has(name) };
    } catch (cause) {
      this.#report(cause, 'the tool filter of the MCP endpoint failed');
      throw new GuardError({ guardType: 'custom', message: 'The tools of this server were denied', cause });
    }
  }
}

/** Arguments are an object in MCP, and clients drop a list whose schemas do not say so. Null if the schema excludes objects. */
function objectSchema(schema: JsonSchema | undefined): McpTool['inputSchema'] | null {
  if (!schema) return { type: 'object' };
  if (schema.type === 'object') return schema as McpTool['inputSchema'];
  const types: readonly unknown[] = Array.isArray(schema.type) ? schema.type : [schema.type ?? 'object'];
  return types.includes('object') ? { ...schema, type: 'object' } : null;
}

function annotationsOf({ readOnly, destructive, idempotent, openWorld }: ToolHints): McpTool['annotations'] {
  return {
    ...(readOnly !== undefined && { readOnlyHint: readOnly }),
    ...(destructive !== undefined && { destructiveHint: destructive }),
    ...(idempotent !== undefined && { idempotentHint: idempotent }),
    ...(openWorld !== undefined && { openWorldHint: openWorld }),
  };
}

function problem(message: string): GatewayError {
  return new GatewayError({ code: 'INVALID_REQUEST', message });
}
