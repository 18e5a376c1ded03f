import { lazy, Suspense } from "react";
import { createBrowserRouter, Outlet, ScrollRestoration } from "react-router";
import { ArrivalNotice } from "@/app/arrival-notice";
import { ExploreLayout } from "@/app/layouts/explore/explore-layout";
import { RouteError } from "@/app/route-error";
import { Explore } from "@/app/routes/explore/explore";
import { parseExploreParams } from "@/app/routes/explore/explore-params";
import { LoadingPage } from "@/components/ui/spinner";

const Toaster = lazy(async () => ({ default: (await import("@/components/ui/toaster")).Toaster }));

/** Around every page: toasts, the word about a mail link, and the scroll position of each page. */
function Root() {
  return (
    <>
      <Outlet />
      <Suspense>
        <Toaster />
      </Suspense>
      <ArrivalNotice />
      <ScrollRestoration
        getKey={({ pathname, search, key }) => {
          if (pathname !== "/") return key;
          // The dashboard keeps its place per section, whatever the modal shows over it.
          const { section, query } = parseExploreParams(new URLSearchParams(search));
          return `${pathname}#${section}#${query}`;
        }}
      />
    </>
  );
}

/** The landing page comes with the first load; every other page is fetched when somebody goes there. */
export const router = createBrowserRouter([
  {
    element: <Root />,
    errorElement: <RouteError />,
    hydrateFallbackElement: <LoadingPage />,
    children: [
      {
        element: <ExploreLayout />,
        children: [
          { errorElement: <RouteError />, children: [{ index: true, element: <Explore /> }] },
        ],
      },
      {
        path: "auth",
        errorElement: <RouteError />,
        lazy: async () => ({ Component: (await import("@/app/routes/auth")).Auth }),
      },
      {
        lazy: async () => ({ Component: (await import("@/app/layouts/site-layout")).SiteLayout }),
        children: [
          {
            errorElement: <RouteError />,
            children: [
              {
                path: "look/:id",
                lazy: async () => ({ Component: (await import("@/app/routes/look")).Look }),
              },
              {
                path: ":username",
                lazy: async () => ({
                  Component: (await import("@/app/routes/public-profile")).PublicProfilePage,
                }),
              },
              {
                path: "*",
                lazy: async () => ({
                  Component: (await import("@/app/routes/not-found")).NotFound,
                }),
              },
            ],
          },
        ],
      },
    ],
  },
]);
