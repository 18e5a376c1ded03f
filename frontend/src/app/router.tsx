import { LoadingPage } from "@ui/spinner";
import { type ComponentType, Suspense, useEffect, useState } from "react";
import { type Location, matchRoutes, Outlet, type RouteObject, useRoutes } from "react-router";
import { AuthCallbackNotice } from "@/app/auth-callback-notice";
import { HistoryRouter } from "@/app/navigation/history-router";
import { LazyPage, PageCode } from "@/app/navigation/lazy-page";
import { RouteBoundary } from "@/app/navigation/route-boundary";
import { parseExploreParams } from "@/app/routes/explore/explore-params";
import { OfflineBanner } from "@/components/offline-banner";
import { lazyPart } from "@/lib/lazy-part";
import { useSession } from "@/lib/session";
import { currentToasts, subscribeToToasts } from "@/lib/toast";

/** The toasts. Their library is loaded by the first one. Without it the page works; the toasts wait for it, and for the network. */
function Toasts() {
  const [Toaster, setToaster] = useState<ComponentType | null>(null);
  useEffect(() => {
    function load() {
      if (currentToasts().length === 0) return;
      import("@/components/ui/toaster").then(
        (library) => setToaster(() => library.Toaster),
        () => undefined,
      );
    }
    load();
    const unsubscribe = subscribeToToasts(load);
    window.addEventListener("online", load);
    return () => {
      unsubscribe();
      window.removeEventListener("online", load);
    };
  }, []);
  // An open dialog hides everything else from screen readers, but for what is announced live.
  return <div aria-live="off">{Toaster !== null && <Toaster />}</div>;
}

const UserBackground = lazyPart(
  async () => ({
    default: (await import("@/app/shell/user-background")).UserBackground,
  }),
  "nothing",
);

/** Runs on every page of a signed-in user. */
function BackgroundOfUser() {
  const { user } = useSession();
  if (user === null) return null;
  return (
    <Suspense>
      <UserBackground key={user.id} userId={user.id} />
    </Suspense>
  );
}

/** Rendered around every page: toasts, notifications, and the result of an auth callback. */
function Root() {
  return (
    <>
      <OfflineBanner />
      <Suspense fallback={<LoadingPage />}>
        <Outlet />
      </Suspense>
      <Toasts />
      <BackgroundOfUser />
      <AuthCallbackNotice />
    </>
  );
}

/** The dashboard has one position per section and search, whether the modal is open or not. */
function scrollKey({ pathname, search, key }: Location): string {
  if (pathname !== "/") return key;
  const { section, query } = parseExploreParams(new URLSearchParams(search));
  return `${pathname}#${section}#${query}`;
}

/** A route's element, with the code that is loaded when a navigation to it begins. */
function page(importPage: () => Promise<ComponentType>): Pick<RouteObject, "element" | "handle"> {
  const code = new PageCode(importPage);
  return { element: <LazyPage code={code} />, handle: code };
}

/** Pages of signed-in people. */
const userPages: RouteObject[] = [
  {
    path: "create-outfit",
    ...page(async () => (await import("@/app/routes/create-outfit/create-outfit")).CreateOutfit),
  },
  {
    path: "notifications",
    ...page(async () => (await import("@/app/routes/notifications")).Notifications),
  },
  {
    path: "profile",
    ...page(async () => (await import("@/app/routes/profile/my-profile")).MyProfile),
  },
  {
    path: "profile/edit",
    ...page(async () => (await import("@/app/routes/profile/settings")).Settings),
  },
  {
    path: "profile-settings",
    ...page(async () => (await import("@/app/routes/profile/settings")).ProfileSettings),
  },
  { path: "welcome", ...page(async () => (await import("@/app/routes/welcome")).Welcome) },
];

/** Pages in the layout for reading. */
const sitePages: RouteObject[] = [
  {
    path: "discovery",
    ...page(async () => (await import("@/app/routes/discovery/discovery")).Discovery),
  },
  { path: "look/:id", ...page(async () => (await import("@/app/routes/look")).Look) },
  { path: "product/:id", ...page(async () => (await import("@/app/routes/item")).ItemPage) },
  { path: "brands/:id", ...page(async () => (await import("@/app/routes/brand")).BrandPage) },
  {
    path: "collections/:id",
    ...page(async () => (await import("@/app/routes/collection")).CollectionPage),
  },
  {
    ...page(async () => (await import("@/app/require-user")).RequireUser),
    children: userPages,
  },
  {
    path: ":username",
    ...page(async () => (await import("@/app/routes/username")).UsernamePage),
  },
  { path: "*", ...page(async () => (await import("@/app/routes/not-found")).NotFound) },
];

const dashboard: RouteObject = {
  index: true,
  ...page(async () => (await import("@/app/routes/explore/explore")).Explore),
};

/** Each area: its layout, if it has one, around its pages. */
const areas: RouteObject[] = [
  {
    ...page(async () => (await import("@/app/layouts/explore/explore-layout")).ExploreLayout),
    children: [{ element: <RouteBoundary />, children: [dashboard] }],
  },
  { path: "auth", ...page(async () => (await import("@/app/routes/auth")).Auth) },
  { path: "admin/*", ...page(async () => (await import("@/app/admin/admin-area")).AdminArea) },
  {
    ...page(async () => (await import("@/app/layouts/site-layout")).SiteLayout),
    children: [{ element: <RouteBoundary />, children: sitePages }],
  },
];

/** The code of a page is loaded on navigation; for the first page, route-preloads.ts makes the browser load it immediately. */
const routes: RouteObject[] = [
  {
    element: <RouteBoundary />,
    children: [{ element: <Root />, children: [{ element: <RouteBoundary />, children: areas }] }],
  },
];

/** Loads the code for this URL. Resolves when it is loaded, or has failed to load. */
export async function loadPages(location: Pick<Location, "pathname">): Promise<void> {
  const matches = matchRoutes(routes, location) ?? [];
  const needed = matches.flatMap(({ route: { handle } }) =>
    handle instanceof PageCode ? handle : [],
  );
  // A failed load is reported where the page would be shown.
  await Promise.allSettled(needed.map((code) => code.load()));
}

function Pages() {
  return useRoutes(routes);
}

/** The page that the address names. */
export function AppRouter() {
  return (
    <HistoryRouter scrollKey={scrollKey} onNavigate={loadPages}>
      <Pages />
    </HistoryRouter>
  );
}
