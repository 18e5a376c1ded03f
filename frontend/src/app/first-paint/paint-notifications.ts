import { div, element, sitePage, span } from "./elements";
import type { FirstView } from "./first-view";

/** The heading above the placeholders of notifications, as `app/routes/notifications.tsx` renders them while they are loaded. */
export function paintNotifications(): FirstView {
  const rows = Array.from({ length: 6 }, () =>
    div(
      "flex items-center gap-4",
      span("skeleton block size-11 rounded-full!"),
      div("flex-1", span("skeleton block h-4 w-1/3"), span("skeleton mt-2 block h-3 w-2/3")),
      span("skeleton block h-17.5 w-14"),
    ),
  );
  const content = div(
    "lg:grid lg:grid-cols-[minmax(0,1fr)_18rem] lg:items-start lg:gap-x-16",
    div(
      "",
      div(
        "mb-6 flex min-h-11 flex-wrap items-center justify-between gap-3",
        element("h1", "font-serif text-display", "Notifications"),
      ),
      div("flex flex-col gap-6 py-4", ...rows),
    ),
  );
  return { page: sitePage(content) };
}
