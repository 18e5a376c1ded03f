import { Component, type ReactNode } from "react";
import { type Location, Outlet, useLocation } from "react-router";
import { RouteError } from "@/app/route-error";

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

  override render(): ReactNode {
    const { failure } = this.state;
    return failure === null ? this.props.children : <RouteError error={failure.error} />;
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
