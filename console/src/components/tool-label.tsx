import type { ReactNode } from "react";

/** The label of a button in a toolbar (`@container/tools`): where the toolbar is narrow, its icon has to do for the eye. */
export function ToolLabel({ children }: { children: ReactNode }) {
  return <span className="@max-[44rem]/tools:sr-only">{children}</span>;
}
