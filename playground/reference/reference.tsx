import { useEffect, useState } from 'react';
import { Json } from '../../templates/components/ui/json.js';
import { readDocument } from '../shell/gateway.js';
import { Loading } from '../shell/loading.js';
import { saveFile } from '../shell/save-file.js';

/** The gateway's own description of itself, for people and for tools. */
export function Reference() {
  const [read, setRead] = useState<{
    readonly document?: Record<string, unknown>;
    readonly problem?: string;
  }>({});
  useEffect(() => {
    let left = false;
    readDocument('/openapi.json').then(
      (document) => left || setRead({ document }),
      (error: Error) => left || setRead({ problem: error.message }),
    );
    return () => {
      left = true;
    };
  }, []);
  const { document, problem } = read;
  return (
    <section className="tool" aria-label="API">
      <div className="row">
        <h2>API</h2>
        <span className="space" />
        <button
          type="button"
          disabled={!document}
          onClick={() => saveFile('openapi.json', JSON.stringify(document, null, 2), 'application/json')}
        >
          Download
        </button>
      </div>
      {problem && (
        <p className="notice bad" role="alert">
          {problem}
        </p>
      )}
      {!document && !problem && <Loading />}
      {document && <Routes document={document} />}
    </section>
  );
}

function Routes({ document }: { readonly document: Record<string, unknown> }) {
  const routes = Object.entries((document.paths ?? {}) as Record<string, Record<string, unknown>>).flatMap(
    ([path, methods]) =>
      Object.entries(methods)
        .filter(([method]) => /^(?:get|post|put|delete|patch)$/.test(method))
        .map(([method, operation]) => ({ path, method, operation: operation as Record<string, unknown> })),
  );
  return routes.map(({ path, method, operation }) => (
    <details className="card method" key={`${method} ${path}`}>
      <summary>
        <span className="badge">{method.toUpperCase()}</span> <code>{path}</code>
        {operation.summary !== undefined && <small>{String(operation.summary)}</small>}
      </summary>
      {operation.description !== undefined && <p>{String(operation.description)}</p>}
      <Json value={operation} label={`${method.toUpperCase()} ${path}`} />
    </details>
  ));
}
