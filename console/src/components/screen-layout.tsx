import { cn } from "@ui/cn";
import { IconButton } from "@ui/icon-button";
import { ChevronLeft, X } from "lucide-react";
import type { ReactNode } from "react";
import { useShortcut } from "@/lib/shortcuts";

interface ScreenLayoutProps {
  /** Name of the screen or of the opened object; the page's heading. */
  title: ReactNode;
  /** Small text after the title. */
  detail?: ReactNode;
  /** Controls in the header of the work area; on phones also above the list. */
  actions?: ReactNode;
  /** The list of objects at the left, with its accessible name. */
  list?: { label: string; content: ReactNode } | undefined;
  /** Whether an object of the list is open. On phones this decides between list and work area. */
  isObjectOpen?: boolean;
  /** Called on phones to go from the work area back to the list. */
  onBack?: (() => void) | undefined;
  /** The panel at the right. */
  panel?: { label: string; content: ReactNode; onClose: () => void } | undefined;
  /** The work area. It scrolls by itself unless `scrolls` is false. */
  children: ReactNode;
  scrolls?: boolean;
  /** Shown below list, work area and panel alike, for example the staged changes. */
  footer?: ReactNode;
}

/** A screen: list of objects, work area and side panel. On phones one of them at a time. */
export function ScreenLayout({
  title,
  detail,
  actions,
  list,
  isObjectOpen = true,
  onBack,
  panel,
  children,
  scrolls = true,
  footer,
}: ScreenLayoutProps) {
  useShortcut(
    { keys: "esc", label: "Close the panel", group: "Everywhere", run: () => panel?.onClose() },
    panel !== undefined,
  );
  const shown =
    panel !== undefined ? "panel" : isObjectOpen || list === undefined ? "work" : "list";
  return (
    <main className="flex h-full min-h-0 min-w-0 flex-col">
      {/* On phones the work area with its heading is hidden while the panel is shown. */}
      {shown === "panel" && <h1 className="sr-only md:hidden">Details</h1>}
      <div
        className={cn(
          "relative flex min-h-0 min-w-0 flex-1",
          shown === "list" && "max-md:flex-col-reverse",
        )}
      >
        {list !== undefined && (
          <nav
            aria-label={list.label}
            className={cn(
              "flex w-60 shrink-0 flex-col border-line border-r bg-surface max-lg:w-52 max-md:w-full max-md:border-0",
              shown === "list" ? "max-md:min-h-0 max-md:flex-1" : "max-md:hidden",
            )}
          >
            {list.content}
          </nav>
        )}
        <section
          className={cn(
            "flex min-h-0 min-w-0 flex-1 flex-col bg-canvas",
            // Of the work area, phones show only the header with its actions above the list.
            shown === "list" && "max-md:flex-none",
            shown === "panel" && "max-md:hidden",
          )}
        >
          <header className="flex min-h-11 shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-line border-b bg-surface py-1 pr-2 pl-4 max-md:pl-2">
            {onBack !== undefined && shown !== "list" && (
              <span className="md:hidden">
                <IconButton size="dense" label="Back to the list" onClick={onBack}>
                  <ChevronLeft className="size-4" />
                </IconButton>
              </span>
            )}
            {shown === "list" && (
              <h1 className="min-w-0 truncate pl-2 font-medium text-small md:hidden">
                {list?.label}
              </h1>
            )}
            <h1
              className={cn(
                // A long name is cut instead of pushing the actions into further lines.
                "min-w-0 truncate font-medium text-small max-md:grow max-md:basis-24 md:max-w-[50%]",
                shown === "list" && "max-md:hidden",
              )}
            >
              {title}
            </h1>
            {detail !== undefined && (
              <span className="min-w-0 truncate text-ink-soft text-label max-md:hidden">
                {detail}
              </span>
            )}
            <div className="ml-auto flex flex-wrap items-center gap-1.5">{actions}</div>
          </header>
          <div
            className={cn(
              "flex min-h-0 flex-1 flex-col",
              scrolls && "overflow-y-auto",
              shown === "list" && "max-md:hidden",
            )}
          >
            {children}
          </div>
        </section>
        {panel !== undefined && (
          <section
            aria-label={panel.label}
            className="flex w-96 shrink-0 flex-col border-line border-l bg-surface max-xl:absolute max-xl:inset-y-0 max-xl:right-0 max-xl:z-20 max-xl:shadow-raised max-md:w-full max-md:border-0"
          >
            <header className="flex min-h-11 shrink-0 items-center gap-2 border-line border-b pr-1.5 pl-4">
              <h2 className="min-w-0 flex-1 truncate font-medium text-small">{panel.label}</h2>
              <IconButton size="dense" label="Close the panel" onClick={panel.onClose}>
                <X className="size-4" />
              </IconButton>
            </header>
            <div className="flex min-h-0 flex-1 flex-col overflow-y-auto">{panel.content}</div>
          </section>
        )}
      </div>
      {footer}
    </main>
  );
}
