import type { ContentBlock, ToolUseBlock } from '../../../shared/messages.js';
import { mediaOf } from '../../chat-format/media.js';

/** Calls of the vendor's tools that the caller executes, and answers with an item `…_output`. */
const CALLERS = ['local_shell_call', 'shell_call', 'apply_patch_call', 'computer_call'] as const;
/** Calls that the vendor executed itself. */
const MADE = ['web_search_call', 'file_search_call', 'code_interpreter_call', 'program'] as const;
const OUTPUTS = [
  'local_shell_call_output',
  'shell_call_output',
  'apply_patch_call_output',
  'computer_call_output',
  'program_output',
] as const;
/** Settings of a model, which are no part of a conversation. */
const SETTINGS = [
  'mcp_list_tools',
  'tool_search_call',
  'tool_search_output',
  'additional_tools',
  'configuration_update',
  'compaction_trigger',
] as const;

/** Types of items that occur only in conversations from another server. */
export const VENDOR_ITEMS = [
  ...CALLERS,
  ...MADE,
  ...OUTPUTS,
  ...SETTINGS,
  'image_generation_call',
  'compaction',
] as const;

/** An item of a conversation from another server. */
export interface VendorItem {
  readonly type: (typeof VENDOR_ITEMS)[number];
  readonly id?: string | null | undefined;
  readonly call_id?: string | null | undefined;
  readonly [field: string]: unknown;
}

/** The role of the message that an item belongs to, and its content. */
export interface VendorContent {
  readonly role: 'assistant' | 'tool' | 'system';
  readonly content: readonly ContentBlock[];
}

/** Converts an item to content; null if it adds nothing to a conversation. */
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

/** Id of the call. An output of `local_shell` has it in its own `id`. */
function callIdOf({ id, call_id, type }: VendorItem): string {
  return call_id ?? id ?? type;
}

function callOf(item: VendorItem): ToolUseBlock {
  const { type, id, call_id, caller, status, outputs, results, ...input } = item;
  return { type: 'tool_use', callId: callIdOf(item), name: nameOf(item), input };
}

/** A call that the vendor executed, with its result, which stands in the same item. */
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
