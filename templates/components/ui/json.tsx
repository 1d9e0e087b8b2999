/** A value as formatted JSON. */
export function Json({ value, label }: { readonly value: unknown; readonly label: string }) {
  return (
    <figure className="json" aria-label={label}>
      <pre tabIndex={0}>{typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</pre>
    </figure>
  );
}
