import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render } from "@testing-library/react";
import type { ReactNode } from "react";
import { createMemoryRouter, Outlet, RouterProvider, useLocation } from "react-router";
import { Toaster } from "@/components/ui/toaster";
import { SessionProvider } from "@/lib/session";

/** Renders an element at an address, inside the providers of the app. */
export function renderAt(address: string, element: ReactNode) {
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const router = createMemoryRouter(
    [
      {
        element: (
          <>
            <Outlet />
            <Address />
            <div aria-live="off">
              <Toaster />
            </div>
          </>
        ),
        children: [{ path: "*", element }],
      },
    ],
    { initialEntries: [address] },
  );
  return render(
    <QueryClientProvider client={queryClient}>
      <SessionProvider>
        <RouterProvider router={router} />
      </SessionProvider>
    </QueryClientProvider>,
  );
}

function Address() {
  const { pathname, search } = useLocation();
  return <output data-testid="address">{`${pathname}${search}`}</output>;
}
