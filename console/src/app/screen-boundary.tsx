import { Component, type ReactNode } from "react";
import { ErrorState } from "@/components/error-state";

interface State {
  error: unknown;
}

/** Keeps a fault of one screen from taking the others along, and offers to load it again, for example after an update. */
export class ScreenBoundary extends Component<{ children: ReactNode }, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: unknown): State {
    return { error };
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children;
    return (
      <main>
        <h1 className="sr-only">Error</h1>
        <ErrorState
          title="This screen has failed"
          error={this.state.error}
          safe="Staged edits and typed SQL are kept in this browser."
          // After an update of the server the screen's script may no longer exist, so the page must be reloaded.
          onRetry={() => window.location.reload()}
        />
      </main>
    );
  }
}
