import type { ReactNode } from 'react';
import { Boundary } from '../../templates/components/ui/boundary.js';

/** A part of the page that fails alone, and can be tried again. */
export function ViewBoundary({ of, children }: { readonly of: string; readonly children: ReactNode }) {
  return (
    <Boundary
      subject={of}
      fallback={(error, retry) => (
        <p className="notice bad" role="alert">
          This cannot be shown: {error.message}{' '}
          <button type="button" onClick={retry}>
            Try again
          </button>
        </p>
      )}
    >
      {children}
    </Boundary>
  );
}
