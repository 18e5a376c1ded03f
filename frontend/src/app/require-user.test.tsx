import { screen } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { storeSession } from "@/testing/fake-session";

const userId = "00000000-0000-4000-8000-000000000001";

/** Opens a guarded page. Modules are imported anew, because the client reads the stored session when it is loaded. */
async function openGuarded(address: string) {
  const [{ createMemoryRouter, RouterProvider }, { render }, react, query] = await Promise.all([
    import("react-router"),
    import("@testing-library/react"),
    import("react"),
    import("@tanstack/react-query"),
  ]);
  const [{ RequireUser }, { SessionProvider }] = await Promise.all([
    import("./require-user"),
    import("@/lib/session"),
  ]);
  const router = createMemoryRouter(
    [
      { element: <RequireUser />, children: [{ path: "profile", element: <p>Private page</p> }] },
      { path: "auth", element: <p>Sign in</p> },
    ],
    { initialEntries: [address] },
  );
  render(
    <react.StrictMode>
      <query.QueryClientProvider client={new query.QueryClient()}>
        <SessionProvider>
          <RouterProvider router={router} />
        </SessionProvider>
      </query.QueryClientProvider>
    </react.StrictMode>,
  );
  return router;
}

beforeEach(() => {
  vi.resetModules();
  vi.stubGlobal("fetch", async () => Response.json(null));
});

it("sends visitors to the sign-in page and remembers where they came from", async () => {
  const router = await openGuarded("/profile?tab=favorites#mails");

  expect(await screen.findByText("Sign in")).toBeVisible();
  expect(router.state.location.state).toEqual({ from: "/profile?tab=favorites#mails" });
  expect(screen.queryByText("Private page")).not.toBeInTheDocument();
});

it("shows a spinner until the session is read, then the page", async () => {
  storeSession(userId);
  await openGuarded("/profile");

  expect(screen.getByRole("status")).toHaveTextContent("Loading...");
  expect(await screen.findByText("Private page")).toBeVisible();
});
