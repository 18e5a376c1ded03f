import { SearchX } from "lucide-react";
import { Navigate, Route, Routes, useLocation } from "react-router";
import { ScreenBoundary } from "@/app/screen-boundary";
import { type ScreenModule, screenModules } from "@/app/screen-modules";
import { EmptyState } from "@/components/empty-state";
import { SkeletonRows } from "@/components/skeleton";
import { type LazyModule, useLazyModule } from "@/lib/lazy-module";

/** Each screen reads the rest of the path itself (`useParams()["*"]` or routes of its own). */
export function ScreenRoutes() {
  const first = useLocation().pathname.split("/")[1];
  return (
    <ScreenBoundary key={first}>
      <Routes>
        <Route index element={<Navigate to="/overview" replace />} />
        {Object.entries(screenModules).map(([path, module]) => (
          <Route key={path} path={`${path}/*`} element={<LoadedScreen module={module} />} />
        ))}
        <Route path="*" element={<NotFound />} />
      </Routes>
    </ScreenBoundary>
  );
}

/** A screen, or a placeholder until its script is loaded. */
function LoadedScreen({ module }: { module: LazyModule<ScreenModule> }) {
  const found = useLazyModule(module);
  if (found === undefined) return <SkeletonRows label="Loading the screen" />;
  return <found.Screen />;
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
