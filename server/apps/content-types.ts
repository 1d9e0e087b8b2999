import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Tool } from './tool.js';

type NamesIn<A, Part extends string> = A extends { readonly [P in Part]?: infer All }
  ? string extends keyof All
    ? never
    : keyof All & string
  : never;
type PartAt<A, Part extends string, Name extends string> = A extends { readonly [P in Part]?: infer All }
  ? Name extends keyof All
    ? All[Name]
    : never
  : never;
type ToolTypes<T> =
  T extends Tool<infer Input, infer Output> ? { readonly input: Input; readonly output: Output } : never;
type SchemaInput<Schema> = Schema extends StandardSchemaV1 ? StandardSchemaV1.InferInput<Schema> : never;

/** The types of apps' tools, data blocks and questions, for the type of their gateway. A name in several apps has the union of their types. */
export interface ContentTypes<Apps> {
  readonly tools: { readonly [Name in NamesIn<Apps, 'tools'>]: ToolTypes<PartAt<Apps, 'tools', Name>> };
  readonly data: { readonly [Name in NamesIn<Apps, 'data'>]: SchemaInput<PartAt<Apps, 'data', Name>> };
  readonly questions: {
    readonly [Name in NamesIn<Apps, 'questions'>]: SchemaInput<PartAt<Apps, 'questions', Name>>;
  };
}
