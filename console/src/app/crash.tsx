import { Component, type ReactNode } from 'react';
import { Trouble } from '../parts/trouble.tsx';

/** A mistake in one page must not take the others with it. */
export class Crash extends Component<{ readonly children: ReactNode }, { readonly error: unknown }> {
  override state: { readonly error: unknown } = { error: undefined };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    return this.state.error === undefined ? this.props.children : <Trouble error={this.state.error} />;
  }
}
