import type { ContentBlock, ToolUseBlock } from '../../../shared/messages.js';
import { mediaOf } from '../../chat-format/media.js';

/** Calls of the vendor's tools that a caller makes, and answers with an item `…_output`. */
const CALLERS = ['local_shell_call', 'shell_call', 'apply_patch_call', 'computer_call'] as const;
/** Calls that the vendor has made itself. */
const MADE = ['web_search_call', 'file_search_call', 'code_interpreter_call', 'program'] as const;
const OUTPUTS = [
  'local_shell_call_output',
  'shell_call_output',
  'apply_patch_call_output',
  'computer_call_output',
  'program_output',
] as const;
/** What a model was set to, which is nothing that was said. */
const SETTINGS = [
  'mcp_list_tools',
  'tool_search_call',
  'tool_search_output',
  'additional_tools',
  'configuration_update',
  'compaction_trigger',
] as const;

/** Types of items that only conversations have which began at another server. */
export const VENDOR_ITEMS = [
  ...CALLERS,
  ...MADE,
  ...OUTPUTS,
  ...SETTINGS,
  'image_generation_call',
  'compaction',
] as const;

/** An item of a conversation that began at another server. */
export interface VendorItem {
  readonly type: (typeof VENDOR_ITEMS)[number];
  readonly id?: string | null | undefined;
  readonly call_id?: string | null | undefined;
  readonly [field: string]: unknown;
}

/** Whose message an item belongs to, and what it says there. */
export interface VendorContent {
  readonly role: 'assistant' | 'tool' | 'system';
  readonly content: readonly ContentBlock[];
}

/** Reads an item as what it says in a conversation; null where that is nothing. */
export function vendorContent(item: VendorItem): VendorContent | null {
  const { type } = item;
  if (isOneOf(CALLERS, type)) return { role: 'assistant', content: [callOf(item)] };
  if (isOneOf(MADE, type)) return { role: 'assistant', content: made(item) };
  if (isOneOf(OUTPUTS, type))
    return { role: type === 'program_output' ? 'assistant' : 'tool', content: [resultOf(item)] };
  if (type === 'image_generation_call') return picture(item);
  if (type !== 'compaction') return null;
  const text = '[Earlier messages were compacted by another server, and cannot be read here]';
  return { role: 'system', content: [{ type: 'text', text }] };
}

function isOneOf<T extends string>(types: readonly T[], type: string): type is T {
  return (types as readonly string[]).includes(type);
}

function nameOf({ type }: VendorItem): string {
  return type.replace(/_output$/, '').replace(/_call$/, '');
}

/** A caller's output of `local_shell` has the id of the call as its own. */
function callIdOf({ id, call_id, type }: VendorItem): string {
  return call_id ?? id ?? type;
}

function callOf(item: VendorItem): ToolUseBlock {
  const { type, id, call_id, caller, status, outputs, results, ...input } = item;
  return { type: 'tool_use', callId: callIdOf(item), name: nameOf(item), input };
}

/** What came of the call stands in the same item, if in any. */
function made(item: VendorItem): ContentBlock[] {
  const call = { ...callOf(item), providerExecuted: true };
  if (item.type === 'program') return [call];
  return [call, resultOf({ ...item, output: item.results ?? item.outputs })];
}

function resultOf(item: VendorItem): ContentBlock {
  const { output, result, status } = item;
  const given = isScreenshot(output)
    ? { content: [{ type: 'image', ...mediaOf(output.image_url, 'image/*') }] }
    : (output ?? result ?? status ?? null);
  const base = { callId: callIdOf(item), name: nameOf(item) };
  return { type: 'tool_result', ...base, output: given, isError: status === 'failed' };
}

function isScreenshot(output: unknown): output is { readonly image_url: string } {
  const { type, image_url } = (output ?? {}) as { readonly type?: unknown; readonly image_url?: unknown };
  return type === 'computer_screenshot' && typeof image_url === 'string';
}

function picture({ result, output_format: format }: VendorItem): VendorContent | null {
  if (typeof result !== 'string') return null;
  const mediaType = `image/${typeof format === 'string' ? format : 'png'}`;
  return { role: 'assistant', content: [{ type: 'image', mediaType, data: result }] };
}
