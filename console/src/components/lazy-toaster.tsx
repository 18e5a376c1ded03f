import { lazyModule, useOptionalModule } from "@/lib/lazy-module";

const toaster = lazyModule(() => import("@/components/toaster"));

/** The notices. Their script is loaded when the first screen has been drawn; notices that come earlier wait for it. */
export function LazyToaster() {
  const found = useOptionalModule(toaster, "idle");
  return found === undefined ? null : <found.Toaster />;
}
