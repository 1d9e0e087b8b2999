import { isGatewayError } from 'agent-session-gateway/client';
import { useGateway, useMethod } from 'agent-session-gateway/client/react';
import { useEffect, useRef, useState } from 'react';
import { wantsNothing } from '../../templates/components/form/json-schema.js';
import { SchemaForm } from '../../templates/components/form/schema-form.js';
import { Json } from '../../templates/components/ui/json.js';
import { Code } from '../shell/code.js';
import { settings } from '../shell/settings.js';

/** A method as the catalogue lists it. */
export interface Method {
  readonly path: string;
  readonly description?: string | undefined;
  readonly roles?: readonly string[] | undefined;
  readonly stream: boolean;
  readonly params: unknown;
}

/** A method with its description, a form for the parameters, and the result. */
export function MethodCall({ method }: { readonly method: Method }) {
  const { path, description, roles, stream, params } = method;
  return (
    <details className="card method">
      <summary>
        <code>{path}</code>
        {stream && <span className="badge">stream</span>}
        {roles?.map((role) => (
          <span className="badge" key={role}>
            role {role}
          </span>
        ))}
      </summary>
      {description && <p>{description}</p>}
      {settings.readOnly ? (
        <Json value={params} label={`Parameters of ${path}`} />
      ) : stream ? (
        <StreamCall method={method} />
      ) : (
        <PlainCall method={method} />
      )}
    </details>
  );
}

/** A form for a method's parameters, and its result. */
export function PlainCall({ method }: { readonly method: Method }) {
  const { invoke, data, error, isPending } = useMethod(method.path);
  const [called, setCalled] = useState(false);
  return (
    <>
      <CallForm
        method={method}
        isPending={isPending}
        problem={error}
        onCall={(params) => {
          setCalled(true);
          invoke(params).catch(() => {});
        }}
      />
      {called && !isPending && !error && (
        <Json value={data ?? 'no result'} label={`Result of ${method.path}`} />
      )}
    </>
  );
}

function StreamCall({ method }: { readonly method: Method }) {
  const client = useGateway();
  const [items, setItems] = useState<readonly unknown[]>([]);
  const [problem, setProblem] = useState<unknown>();
  const [call, setCall] = useState<AbortController>();
  const latest = useRef<AbortController>(undefined);
  useEffect(() => () => latest.current?.abort(), []);

  const begin = async (params: unknown) => {
    const own = new AbortController();
    latest.current?.abort();
    latest.current = own;
    setCall(own);
    setItems([]);
    setProblem(undefined);
    try {
      for await (const item of client.stream(method.path, params, { signal: own.signal })) {
        if (own.signal.aborted) return;
        setItems((before) => [...before, item].slice(-1000));
      }
    } catch (error) {
      if (!own.signal.aborted) setProblem(error);
    } finally {
      setCall((current) => (current === own ? undefined : current));
    }
  };
  return (
    <>
      <CallForm
        method={method}
        isPending={call !== undefined}
        problem={problem}
        onCall={(params) => void begin(params)}
      >
        {call && (
          <button type="button" className="danger" onClick={() => call.abort()}>
            Stop
          </button>
        )}
      </CallForm>
      {items.length > 0 && (
        <Json
          value={items.map((item) => JSON.stringify(item)).join('\n')}
          label={`Items of ${method.path}`}
        />
      )}
    </>
  );
}

function CallForm({
  method: { path, params: schema, stream },
  isPending,
  problem,
  onCall,
  children,
}: {
  readonly method: Method;
  readonly isPending: boolean;
  readonly problem: unknown;
  readonly onCall: (params: unknown) => void;
  readonly children?: React.ReactNode;
}) {
  const [params, setParams] = useState<unknown>(wantsNothing(schema) ? undefined : {});
  const isRefused = isGatewayError(problem) && problem.status === 403;
  return (
    <>
      {wantsNothing(schema) ? (
        <>
          <div className="row">
            <button type="button" className="primary" disabled={isPending} onClick={() => onCall(undefined)}>
              Call
            </button>
            {children}
          </div>
          {problem !== undefined && !isRefused && (
            <p className="notice bad" role="alert">
              {(problem as Error).message}
            </p>
          )}
        </>
      ) : (
        <SchemaForm
          schema={schema}
          label="Call"
          isPending={isPending}
          problem={isRefused ? undefined : problem}
          onChange={setParams}
          onSubmit={onCall}
        >
          {children}
        </SchemaForm>
      )}
      <Code what={`call ${path}`} of={({ invokeRecipe }) => invokeRecipe(path, params, stream)} />
      {isRefused && (
        <p className="notice bad" role="alert">
          <code>{problem.code}</code> {problem.message}. Use another token, of a user who may: the menu with
          your name has it.
        </p>
      )}
    </>
  );
}
