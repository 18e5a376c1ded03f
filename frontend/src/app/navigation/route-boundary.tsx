import { Component, type ReactNode } from "react";
import { type Location, Outlet, useLocation } from "react-router";
import { RouteError } from "@/app/route-error";
import { forgetFailedCode } from "@/lib/lazy-part";

interface BoundaryProps {
  location: Location;
  children: ReactNode;
}

interface BoundaryState {
  location: Location;
  failure: { error: unknown } | null;
}

class ErrorBoundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { location: this.props.location, failure: null };

  static getDerivedStateFromError(error: unknown): Partial<BoundaryState> {
    return { failure: { error } };
  }

  /** Another address is another attempt. */
  static getDerivedStateFromProps(
    { location }: BoundaryProps,
    state: BoundaryState,
  ): BoundaryState | null {
    return location === state.location ? null : { location, failure: null };
  }

  retry = (): void => {
    forgetFailedCode();
    this.setState({ failure: null });
  };

  override render(): ReactNode {
    const { failure } = this.state;
    if (failure === null) return this.props.children;
    return <RouteError error={failure.error} onRetry={this.retry} />;
  }
}

/** Route around pages: one that fails, or whose code cannot be loaded, is replaced by an explanation until the address changes. */
export function RouteBoundary() {
  return (
    <ErrorBoundary location={useLocation()}>
      <Outlet />
    </ErrorBoundary>
  );
}
