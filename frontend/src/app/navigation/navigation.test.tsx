import { act, fireEvent, render, screen } from "@testing-library/react";
import { type ComponentType, Suspense } from "react";
import { Link, matchRoutes, Outlet, type RouteObject, useRoutes } from "react-router";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { TypedForm } from "@/testing/typed-form";
import { HistoryRouter } from "./history-router";
import { LazyPage, PageCode } from "./lazy-page";
import { RouteBoundary } from "./route-boundary";

const First = () => <h1>First page</h1>;
const Second = () => <h1>Second page</h1>;

const Pages = ({ routes }: { routes: RouteObject[] }) => useRoutes(routes);

let scrollTo = vi.fn();

beforeEach(() => {
  scrollTo = vi.fn();
  vi.stubGlobal("scrollTo", scrollTo);
  scrolledTo(0);
  window.history.replaceState(null, "", "/first");
});

/** Says how far the page is scrolled, which jsdom never does. */
function scrolledTo(position: number): void {
  Object.defineProperty(window, "scrollY", { value: position, configurable: true });
}

/** A site of two pages and a menu; `importSecond` loads the code of the second. */
function renderSite(importSecond: () => Promise<ComponentType>): void {
  const second = new PageCode(importSecond);
  const routes: RouteObject[] = [
    {
      element: (
        <>
          <Link to="/second">Go on</Link>
          <Link to="/first">Return</Link>
          <Link to="/first?filter=men" preventScrollReset>
            Filter
          </Link>
          <Suspense fallback="Loading...">
            <Outlet />
          </Suspense>
        </>
      ),
      children: [
        {
          element: <RouteBoundary />,
          children: [
            { path: "first", element: <First /> },
            { path: "second", element: <LazyPage code={second} />, handle: second },
          ],
        },
      ],
    },
  ];
  render(
    <HistoryRouter
      scrollKey={({ key }) => key}
      onNavigate={(location) => {
        for (const { route } of matchRoutes(routes, location) ?? []) {
          if (route.handle instanceof PageCode) route.handle.load().catch(() => undefined);
        }
      }}
    >
      <Pages routes={routes} />
    </HistoryRouter>,
  );
}

/** Clicks a link. React requires updates that suspend to be awaited, which user-event does not do. */
async function follow(name: string): Promise<void> {
  await act(async () => screen.getByRole("link", { name }).click());
}

it("keeps the old page until the code of the next one is loaded", async () => {
  let arrive: (page: ComponentType) => void = () => undefined;
  renderSite(
    () =>
      new Promise((resolve) => {
        arrive = resolve;
      }),
  );
  await follow("Go on");

  expect(window.location.pathname).toBe("/second");
  expect(screen.getByRole("heading")).toHaveTextContent("First page");
  expect(screen.queryByText("Loading...")).not.toBeInTheDocument();

  await act(async () => arrive(Second));
  expect(screen.getByRole("heading")).toHaveTextContent("Second page");
});

it("explains that code could not be loaded, and loads it again at the next visit", async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  let attempts = 0;
  const importSecond = async () => {
    attempts += 1;
    if (attempts === 1) throw new TypeError("Failed to fetch dynamically imported module");
    return Second;
  };
  renderSite(importSecond);

  await follow("Go on");
  // Not that there is a new version: the server has this one.
  expect(await screen.findByRole("alert")).toHaveTextContent("This page could not be loaded.");
  await follow("Return");
  expect(await screen.findByRole("heading", { name: "First page" })).toBeVisible();
  await follow("Go on");
  expect(await screen.findByRole("heading", { name: "Second page" })).toBeVisible();
  expect(attempts).toBe(2);
});

it("opens a page at its top, and returns to where the reader left the page before", async () => {
  renderSite(async () => Second);
  scrolledTo(640);
  await follow("Go on");
  await screen.findByRole("heading", { name: "Second page" });
  expect(scrollTo).toHaveBeenLastCalledWith(0, 0);

  scrolledTo(0);
  act(() => window.history.back());
  await screen.findByRole("heading", { name: "First page" });
  expect(scrollTo).toHaveBeenLastCalledWith(0, 640);
});

it("does not scroll when only a filter of the page changes", async () => {
  renderSite(async () => Second);
  scrolledTo(640);
  scrollTo.mockClear();
  await follow("Filter");

  expect(window.location.search).toBe("?filter=men");
  expect(scrollTo).not.toHaveBeenCalled();
});

it("remembers the position of a page across a reload", async () => {
  renderSite(async () => Second);
  scrolledTo(320);
  window.dispatchEvent(new Event("pagehide"));

  expect(window.history.scrollRestoration).toBe("auto");
  const stored: Record<string, number> = JSON.parse(
    sessionStorage.getItem("lookbook:scroll-positions") ?? "{}",
  );
  expect(Object.values(stored)).toContain(320);
});

describe("a page with something typed in it", () => {
  /** Two forms of a page, and what surrounds them. */
  async function renderForms() {
    render(
      <HistoryRouter scrollKey={({ key }) => key} onNavigate={() => undefined}>
        <Link to="/second">Go on</Link>
        <Link to="/first?filter=men">Filter</Link>
        <Pages
          routes={[
            {
              path: "first",
              element: (
                <>
                  <TypedForm />
                  <TypedForm />
                </>
              ),
            },
            { path: "second", element: <Second /> },
          ]}
        />
      </HistoryRouter>,
    );
  }
  const type = (index: number) => {
    const field = screen.getAllByLabelText("Name")[index];
    if (field !== undefined) fireEvent.change(field, { target: { value: "Half" } });
  };
  const answer = async (name: "Cancel" | "Discard") =>
    act(async () => (await screen.findByRole("button", { name })).click());

  it("asks before a link takes it away, and each form of the page", async () => {
    await renderForms();
    type(0);
    await follow("Filter");
    expect(screen.queryByRole("alertdialog")).not.toBeInTheDocument();
    await follow("Go on");
    await answer("Cancel");
    expect(window.location.pathname).toBe("/first");
    expect(screen.getAllByLabelText("Name")[0]).toHaveValue("Half");

    type(1);
    await follow("Go on");
    await answer("Discard");
    expect(window.location.pathname).toBe("/first");
    await answer("Discard");
    expect(await screen.findByRole("heading")).toHaveTextContent("Second page");
  });
});
