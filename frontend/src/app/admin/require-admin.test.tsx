import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { storeSession } from "@/testing/fake-session";

const userId = "00000000-0000-4000-8000-000000000001";
let session: string;

beforeEach(() => {
  vi.resetModules();
  storeSession(userId);
  session = Object.entries(localStorage).find(([key]) => key.endsWith("-auth-token"))?.[1] ?? "";
  vi.stubGlobal("fetch", async (input: RequestInfo | URL) => {
    const url = String(input);
    if (url.includes("/token")) return Response.json(JSON.parse(session));
    if (url.includes("/is_admin_role")) return Response.json(true);
    return Response.json(null);
  });
});

/** Opens the area with a form. Modules are imported anew, because the client reads the stored session when it is loaded. */
async function openArea(isPanel = false) {
  const [{ createMemoryRouter, RouterProvider }, { render }, query] = await Promise.all([
    import("react-router"),
    import("@testing-library/react"),
    import("@tanstack/react-query"),
  ]);
  const [area, { SessionProvider }, forms, { loadAuth }] = await Promise.all([
    import("./require-admin"),
    import("@/lib/session"),
    import("@/testing/typed-form"),
    import("@/lib/supabase"),
  ]);
  const router = createMemoryRouter(
    [
      {
        path: "admin",
        element: (
          <area.RequireAdmin>
            {isPanel ? <forms.TypedPanel /> : <forms.TypedForm />}
          </area.RequireAdmin>
        ),
      },
      { path: "auth", element: <p>Sign in page</p> },
    ],
    { initialEntries: ["/admin"] },
  );
  render(
    <query.QueryClientProvider client={new query.QueryClient()}>
      <SessionProvider>
        <RouterProvider router={router} />
      </SessionProvider>
    </query.QueryClientProvider>,
  );
  await screen.findByLabelText("Name");
  // As another tab does it, or a refresh token that is refused.
  return async () => act(async () => void (await (await loadAuth()).signOut({ scope: "local" })));
}

it("keeps what is typed when the session ends, until the same person has signed in again", async () => {
  const end = await openArea();
  await userEvent.type(screen.getByLabelText("Name"), "Half a brand");
  await end();

  const password = await screen.findByLabelText("Password");
  expect(document.querySelector("[inert] input")).toHaveValue("Half a brand");
  await userEvent.type(password, "secret");
  await userEvent.click(screen.getByRole("button", { name: "Sign in" }));
  await waitFor(() => expect(screen.queryByLabelText("Password")).not.toBeInTheDocument());
  expect(screen.getByLabelText("Name")).toHaveValue("Half a brand");
  expect(document.querySelector("[inert]")).toBeNull();
});

it("keeps the panel of a row, which stands beside the page, and gives it neither focus nor keys", async () => {
  const end = await openArea(true);
  await userEvent.type(screen.getByLabelText("Name"), "Half a brand");
  const field = screen.getByLabelText("Name");
  await end();

  const password = await screen.findByLabelText("Password");
  expect(password).toHaveFocus();
  expect(field.closest("[inert], [aria-hidden]")).not.toBeNull();
  await userEvent.keyboard("{Escape}");
  expect(screen.queryByText("Discard changes?")).toBeNull();
  await userEvent.type(password, "secret");
  await userEvent.click(screen.getByRole("button", { name: "Sign in" }));
  await waitFor(() => expect(screen.queryByLabelText("Password")).not.toBeInTheDocument());

  expect(screen.getByLabelText("Name")).toBe(field);
  expect(field).toHaveValue("Half a brand");
  expect(field.closest("[inert], [aria-hidden]")).toBeNull();
});

it("stays at Escape, and asks before it gives up what is typed", async () => {
  const end = await openArea();
  await userEvent.type(screen.getByLabelText("Name"), "x");
  await end();
  await screen.findByLabelText("Password");
  await userEvent.keyboard("{Escape}");
  expect(document.querySelector("[inert] input")).toHaveValue("x");

  await userEvent.click(screen.getByRole("button", { name: "Leave" }));
  expect(document.querySelector("[inert] input")).toHaveValue("x");
  await userEvent.click(screen.getByRole("button", { name: "Discard what is typed" }));
  expect(await screen.findByText("Sign in page")).toBeVisible();
});

it("leads to the sign-in page when nothing is typed", async () => {
  const end = await openArea();
  await end();

  expect(await screen.findByText("Sign in page")).toBeVisible();
});

it("takes the focus from what it covers also where it has no field, and asks before it leaves", async () => {
  const stored = JSON.parse(session);
  stored.user = { ...stored.user, app_metadata: { providers: ["google"] } };
  const [key = ""] = Object.keys(localStorage).filter((name) => name.endsWith("-auth-token"));
  localStorage.setItem(key, JSON.stringify(stored));
  const end = await openArea(true);
  await userEvent.type(screen.getByLabelText("Name"), "Half a brand");
  const field = screen.getByLabelText("Name");
  await end();

  const leave = await screen.findByRole("button", { name: "Leave" });
  const ended = leave.closest("[role=alertdialog]");
  expect(ended).toContainElement(document.activeElement as HTMLElement);
  await userEvent.dblClick(leave);
  expect(field).toHaveValue("Half a brand");
  expect(screen.queryByText("Sign in page")).toBeNull();
  await userEvent.click(await screen.findByRole("button", { name: "Discard what is typed" }));
  expect(await screen.findByText("Sign in page")).toBeVisible();
});
