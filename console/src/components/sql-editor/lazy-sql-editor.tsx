import type { ComponentProps } from "react";
import { Skeleton } from "@/components/skeleton";
import { lazyModule, useLazyModule } from "@/lib/lazy-module";
import type { SqlEditor } from "./sql-editor";

const editorModule = lazyModule(() => import("./sql-editor"));

/** The SQL editor for forms and dialogs. Its script is large, so it is loaded when an editor is first shown. */
export function LazySqlEditor(props: ComponentProps<typeof SqlEditor>) {
  const found = useLazyModule(editorModule);
  if (found === undefined) return <Skeleton className="h-20" />;
  return <found.SqlEditor {...props} />;
}
