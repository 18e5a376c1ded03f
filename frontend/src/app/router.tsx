import { lazy, Suspense, useEffect, useState } from "react";
import { createBrowserRouter, Outlet, ScrollRestoration } from "react-router";
import { AuthCallbackNotice } from "@/app/auth-callback-notice";
import { RouteError } from "@/app/route-error";
import { parseExploreParams } from "@/app/routes/explore/explore-params";
import { OfflineBanner } from "@/components/offline-banner";
import { LoadingPage } from "@/components/ui/spinner";
import { useSession } from "@/lib/session";
import { currentToasts, subscribeToToasts } from "@/lib/toast";

const Toaster = lazy(async () => ({ default: (await import("@/components/ui/toaster")).Toaster }));

/** The toasts. Their library is loaded by the first one. */
function Toasts() {
  const [isWanted, setWanted] = useState(() => currentToasts().length > 0);
  useEffect(() => subscribeToToasts(() => setWanted(true)), []);
  return <Suspense>{isWanted && <Toaster />}</Suspense>;
}

const LiveNotifications = lazy(async () => ({
  default: (await import("@/features/notifications/components/live-notifications"))
    .LiveNotifications,
}));

/** Listens for the signed-in user's notifications, on whatever page. */
function NotificationsOfUser() {
  const { user } = useSession();
  if (user === null) return null;
  return (
    <Suspense>
      <LiveNotifications key={user.id} userId={user.id} />
    </Suspense>
  );
}

/** Rendered around every page: toasts, notifications, the result of an auth callback, and scroll restoration. */
function Root() {
  return (
    <>
      <OfflineBanner />
      <Outlet />
      <Toasts />
      <NotificationsOfUser />
      <AuthCallbackNotice />
      <ScrollRestoration
        getKey={({ pathname, search, key }) => {
          if (pathname !== "/") return key;
          // One position per section and search, whether the modal is open or not.
          const { section, query } = parseExploreParams(new URLSearchParams(search));
          return `${pathname}#${section}#${query}`;
        }}
      />
    </>
  );
}

/** The code of a page is loaded on navigation; for the first page, route-preloads.ts has the browser load it at once. */
export const router = createBrowserRouter([
  {
    element: <Root />,
    errorElement: <RouteError />,
    hydrateFallbackElement: <LoadingPage />,
    children: [
      {
        lazy: async () => ({
          Component: (await import("@/app/layouts/explore/explore-layout")).ExploreLayout,
        }),
        children: [
          {
            errorElement: <RouteError />,
            children: [
              {
                index: true,
                lazy: async () => ({
                  Component: (await import("@/app/routes/explore/explore")).Explore,
                }),
              },
            ],
          },
        ],
      },
      {
        path: "auth",
        errorElement: <RouteError />,
        lazy: async () => ({ Component: (await import("@/app/routes/auth")).Auth }),
      },
      {
        path: "admin/*",
        errorElement: <RouteError />,
        lazy: async () => ({ Component: (await import("@/app/admin/admin-area")).AdminArea }),
      },
      {
        lazy: async () => ({ Component: (await import("@/app/layouts/site-layout")).SiteLayout }),
        children: [
          {
            errorElement: <RouteError />,
            children: [
              {
                path: "discovery",
                lazy: async () => ({
                  Component: (await import("@/app/routes/discovery/discovery")).Discovery,
                }),
              },
              {
                path: "look/:id",
                lazy: async () => ({ Component: (await import("@/app/routes/look")).Look }),
              },
              {
                path: "product/:id",
                lazy: async () => ({ Component: (await import("@/app/routes/item")).ItemPage }),
              },
              {
                path: "brands/:id",
                lazy: async () => ({ Component: (await import("@/app/routes/brand")).BrandPage }),
              },
              {
                lazy: async () => ({
                  Component: (await import("@/app/require-user")).RequireUser,
                }),
                children: [
                  {
                    path: "create-outfit",
                    lazy: async () => ({
                      Component: (await import("@/app/routes/create-outfit/create-outfit"))
                        .CreateOutfit,
                    }),
                  },
                  {
                    path: "notifications",
                    lazy: async () => ({
                      Component: (await import("@/app/routes/notifications")).Notifications,
                    }),
                  },
                  {
                    path: "profile",
                    lazy: async () => ({
                      Component: (await import("@/app/routes/profile/my-profile")).MyProfile,
                    }),
                  },
                  {
                    path: "profile/edit",
                    lazy: async () => ({
                      Component: (await import("@/app/routes/profile/settings")).Settings,
                    }),
                  },
                  {
                    path: "profile-settings",
                    lazy: async () => ({
                      Component: (await import("@/app/routes/profile/settings")).ProfileSettings,
                    }),
                  },
                ],
              },
              {
                path: ":username",
                lazy: async () => ({
                  Component: (await import("@/app/routes/username")).UsernamePage,
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
