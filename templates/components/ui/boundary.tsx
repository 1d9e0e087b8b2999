import { Component, type ReactNode } from 'react';

interface BoundaryProps {
  /** What is shown. Another subject is tried anew. */
  readonly subject: unknown;
  /** Shown in the place of what could not be. */
  readonly fallback: (error: Error, retry: () => void) => ReactNode;
  readonly children: ReactNode;
}

/** Keeps an error while something is shown from taking the rest of the page. */
export class Boundary extends Component<BoundaryProps, { readonly error?: Error | undefined }> {
  static getDerivedStateFromError(error: unknown) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override state: { readonly error?: Error | undefined } = {};

  override componentDidUpdate(before: BoundaryProps) {
    if (this.state.error && before.subject !== this.props.subject) this.#retry();
  }

  override render() {
    const { fallback, children } = this.props;
    return this.state.error ? fallback(this.state.error, this.#retry) : children;
  }

  readonly #retry = () => this.setState({ error: undefined });
}
