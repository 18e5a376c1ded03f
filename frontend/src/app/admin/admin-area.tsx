import { useQueryClient } from "@tanstack/react-query";
import { LoadingPage } from "@ui/spinner";
import { type ComponentType, Suspense, useEffect } from "react";
import { Navigate, useLocation, useParams } from "react-router";
import { adminKey } from "@/lib/admin-key";
import { lazyPart } from "@/lib/lazy-part";
import { paths } from "@/lib/paths";
import { usePageTheme } from "@/lib/theme";
import "@/styles/admin.css";
import { AdminLayout } from "./admin-layout";
import { RequireAdmin } from "./require-admin";

/** The page of each section; its code is loaded when it is opened. */
const pages = new Map<string, ComponentType>([
  ["dashboard", lazyPart(async () => ({ default: (await import("./dashboard")).Dashboard }))],
  [
    "brands",
    lazyPart(async () => ({
      default: (await import("@/features/admin-brands/components/brand-section")).BrandSection,
    })),
  ],
  [
    "categories",
    lazyPart(async () => ({
      default: (await import("@/features/admin-categories/components/category-section"))
        .CategorySection,
    })),
  ],
  [
    "subcategories",
    lazyPart(async () => ({
      default: (await import("@/features/admin-subcategories/components/subcategory-section"))
        .SubcategorySection,
    })),
  ],
  [
    "colors",
    lazyPart(async () => ({
      default: (await import("@/features/admin-colors/components/color-section")).ColorSection,
    })),
  ],
  [
    "styles",
    lazyPart(async () => ({
      default: (await import("@/features/admin-styles/components/style-section")).ItemStyleSection,
    })),
  ],
  [
    "outfit-styles",
    lazyPart(async () => ({
      default: (await import("@/features/admin-styles/components/style-section"))
        .OutfitStyleSection,
    })),
  ],
  [
    "combines",
    lazyPart(async () => ({
      default: (await import("@/features/admin-outfits/components/outfit-section")).OutfitSection,
    })),
  ],
  [
    "users",
    lazyPart(async () => ({
      default: (await import("@/features/admin-users/components/user-section")).UserSection,
    })),
  ],
  [
    "reports",
    lazyPart(async () => ({
      default: (await import("@/features/admin-reports/components/report-section")).ReportSection,
    })),
  ],
  [
    "settings",
    lazyPart(async () => ({
      default: (await import("@/features/admin-settings/components/settings-section"))
        .SettingsSection,
    })),
  ],
  [
    "items",
    lazyPart(async () => ({
      default: (await import("@/features/admin-items/components/item-section")).ItemSection,
    })),
  ],
]);

/** Everything below /admin. Unknown paths lead to its dashboard. */
export function AdminArea() {
  usePageTheme("light");
  const { "*": section = "" } = useParams();
  const Page = pages.get(section) ?? ToDashboard;
  const queryClient = useQueryClient();
  // Rows that only administrators may read are removed from memory when the area is left.
  useEffect(() => () => queryClient.removeQueries({ queryKey: adminKey }), [queryClient]);
  return (
    <div className="min-h-dvh bg-canvas text-ink">
      <RequireAdmin>
        <AdminLayout>
          <Suspense fallback={<LoadingPage />}>
            <Page key={section} />
          </Suspense>
        </AdminLayout>
      </RequireAdmin>
    </div>
  );
}

function ToDashboard() {
  const { state } = useLocation();
  return <Navigate to={paths.admin("dashboard")} state={state} replace />;
}
