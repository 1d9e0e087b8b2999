import { isGatewayError } from 'agent-session-gateway/client';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { type FieldKind, fieldsOf, kindOf, readText, type Schema, writeText } from './json-schema.js';

/** A form for a value that a JSON Schema describes. The gateway validates the value, and its errors are shown at their fields. */
export function SchemaForm({
  schema,
  initial,
  label,
  isPending,
  problem,
  onChange,
  onSubmit,
  children,
}: {
  readonly schema: unknown;
  readonly initial?: unknown;
  /** Label of the button. */
  readonly label: string;
  readonly isPending: boolean;
  /** The error of the last submission. */
  readonly problem?: unknown;
  readonly onChange?: ((value: unknown) => void) | undefined;
  readonly onSubmit: (value: unknown) => void;
  readonly children?: ReactNode;
}) {
  const fields = fieldsOf(schema);
  const whole = (schema ?? {}) as Schema;
  const required = new Set(whole.required);
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>(() => beginning(fields, initial));
  const [own, setOwn] = useState<Readonly<Record<string, string>>>({});
  const theirs = messagesOf(problem);
  const names = fields ? fields.map(([name]) => name) : [''];

  const read = (from: Readonly<Record<string, string>>) => {
    const faults: Record<string, string> = {};
    const valueAt = (name: string, kind: FieldKind) => {
      try {
        return readText(from[name] ?? '', kind);
      } catch (error) {
        faults[name] = (error as Error).message;
      }
    };
    const value = fields
      ? Object.fromEntries(
          fields
            .filter(([name, field]) => from[name] !== undefined || kindOf(field) !== 'boolean')
            .map(([name, field]) => [name, valueAt(name, kindOf(field))] as const)
            .filter(([, it]) => it !== undefined),
        )
      : valueAt('', kindOf(whole));
    return { value, faults };
  };
  const write = (name: string, text: string) => {
    const next = { ...texts, [name]: text };
    setTexts(next);
    onChange?.(read(next).value);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { value, faults } = read(texts);
    setOwn(faults);
    if (Object.keys(faults).length === 0) onSubmit(value);
  };
  // Errors of no field are shown below all fields.
  const rest = Object.entries(theirs).filter(
    ([path]) => !names.some((name) => isOf(name, path) && name !== ''),
  );

  return (
    <form className="schema" onSubmit={submit} noValidate>
      {names.map((name) => {
        const field = fields?.find(([known]) => known === name)?.[1] ?? whole;
        const said = Object.entries(theirs).flatMap(([path, message]) =>
          name !== '' && isOf(name, path) ? [message] : [],
        );
        return (
          <Field
            key={name}
            name={name}
            schema={field}
            isRequired={required.has(name)}
            text={texts[name]}
            problem={own[name] ?? said.join(', ')}
            onWrite={(text) => write(name, text)}
          />
        );
      })}
      {problem !== undefined && (rest.length > 0 || Object.keys(theirs).length === 0) && (
        <p className="notice bad" role="alert">
          {rest.length > 0
            ? rest.map(([path, message]) => `${path} ${message}`.trim()).join(', ')
            : wordsOf(problem)}
        </p>
      )}
      <div className="row">
        <button type="submit" className="primary" disabled={isPending}>
          {label}
        </button>
        {children}
      </div>
    </form>
  );
}

function Field({
  name,
  schema,
  isRequired,
  text = '',
  problem,
  onWrite,
}: {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly text: string | undefined;
  readonly problem: string;
  readonly onWrite: (text: string) => void;
}) {
  const id = useId();
  const kind = kindOf(schema);
  const shared = {
    id,
    'aria-invalid': problem !== '',
    'aria-describedby': `${id}-about`,
    'aria-required': isRequired,
    onChange: ({ target }: { target: { value: string } }) => onWrite(target.value),
  };
  const control = {
    text: <input {...shared} type={schema.format === 'date' ? 'date' : 'text'} value={text} />,
    number: <input {...shared} type="number" step="any" value={text} />,
    json: <textarea {...shared} rows={3} value={text} spellCheck={false} />,
    boolean: (
      <select {...shared} value={text}>
        {!isRequired && <option value="">not given</option>}
        <option value="false">false</option>
        <option value="true">true</option>
      </select>
    ),
    choice: (
      <select {...shared} value={text}>
        <option value="">choose</option>
        {schema.enum?.map((choice) => (
          <option key={String(choice)}>{String(choice)}</option>
        ))}
      </select>
    ),
  }[kind];
  return (
    <div className="field">
      <label htmlFor={id}>
        {name || 'Value'}
        {isRequired && <span className="muted"> required</span>}
      </label>
      {control}
      <p id={`${id}-about`} className={problem ? 'bad' : 'muted'}>
        {problem || [schema.description, kind === 'json' ? 'JSON' : ''].filter(Boolean).join('. ')}
      </p>
    </div>
  );
}

function beginning(
  fields: readonly (readonly [string, Schema])[] | undefined,
  initial: unknown,
): Readonly<Record<string, string>> {
  if (!fields) return initial === undefined ? {} : { '': JSON.stringify(initial, null, 2) };
  const given = (typeof initial === 'object' ? initial : {}) as Readonly<Record<string, unknown>> | null;
  return Object.fromEntries(
    fields
      .map(([name, field]) => [name, writeText(given?.[name] ?? field.default, kindOf(field))] as const)
      .filter(([, text]) => text !== ''),
  );
}

/** Whether a path names a field or a part of it. */
function isOf(name: string, path: string): boolean {
  return path === name || path.startsWith(`${name}.`);
}

/** The gateway's error messages by path. */
function messagesOf(problem: unknown): Readonly<Record<string, string>> {
  const details = isGatewayError(problem) ? problem.details : undefined;
  if (!Array.isArray(details)) return {};
  return Object.fromEntries(
    details.flatMap((detail) => {
      const { path, message } = (detail ?? {}) as { path?: unknown; message?: unknown };
      // Paths may begin with the name of the whole value.
      return typeof path === 'string'
        ? [[path.replace(/^(?:params|output|input)\./, ''), String(message)]]
        : [];
    }),
  );
}

function wordsOf(problem: unknown): string {
  return isGatewayError(problem) ? `${problem.code}: ${problem.message}` : String(problem);
}
