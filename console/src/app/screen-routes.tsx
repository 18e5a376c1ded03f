import { SearchX } from "lucide-react";
import { type ComponentType, type LazyExoticComponent, lazy, Suspense } from "react";
import { Navigate, Route, Routes, useLocation } from "react-router";
import { ScreenBoundary } from "@/app/screen-boundary";
import { EmptyState } from "@/components/empty-state";
import { SkeletonRows } from "@/components/skeleton";

type Loaded = LazyExoticComponent<ComponentType>;

/** One file per screen, loaded when the screen is first opened. */
function screen(load: () => Promise<{ Screen: ComponentType }>): Loaded {
  return lazy(async () => ({ default: (await load()).Screen }));
}

const components: Record<string, Loaded> = {
  overview: screen(() => import("@/screens/overview/screen")),
  tables: screen(() => import("@/screens/tables/screen")),
  schema: screen(() => import("@/screens/schema/screen")),
  policies: screen(() => import("@/screens/policies/screen")),
  sql: screen(() => import("@/screens/sql/screen")),
  api: screen(() => import("@/screens/api/screen")),
  users: screen(() => import("@/screens/users/screen")),
  storage: screen(() => import("@/screens/storage/screen")),
  logs: screen(() => import("@/screens/logs/screen")),
  mail: screen(() => import("@/screens/mail/screen")),
  settings: screen(() => import("@/screens/settings/screen")),
  audit: screen(() => import("@/screens/audit/screen")),
};

/** Each screen reads the rest of the path itself (`useParams()["*"]` or routes of its own). */
export function ScreenRoutes() {
  const first = useLocation().pathname.split("/")[1];
  return (
    <ScreenBoundary key={first}>
      <Suspense fallback={<SkeletonRows label="Loading the screen" />}>
        <Routes>
          <Route index element={<Navigate to="/overview" replace />} />
          {Object.entries(components).map(([path, Component]) => (
            <Route key={path} path={`${path}/*`} element={<Component />} />
          ))}
          <Route path="*" element={<NotFound />} />
        </Routes>
      </Suspense>
    </ScreenBoundary>
  );
}

function NotFound() {
  return (
    <main>
      <h1 className="sr-only">Not found</h1>
      <EmptyState
        icon={SearchX}
        title="There is no such screen"
        text="Choose one at the left, or press mod+k to find it by name."
      />
    </main>
  );
}
