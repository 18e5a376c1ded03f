import { cn } from "@ui/cn";
import { IconButton } from "@ui/icon-button";
import { ChevronLeft, X } from "lucide-react";
import type { ReactNode } from "react";
import { useShortcut } from "@/lib/shortcuts";

interface ScreenFrameProps {
  /** The list of objects at the left, with its accessible name. */
  list?: { label: string; content: ReactNode } | undefined;
  /** Whether phones show the list instead of the work area. */
  isListShown: boolean;
  /** The work area. */
  children: ReactNode;
  /** Shown below list, work area and panel alike, for example the staged changes. */
  footer?: ReactNode;
}

/** What stays while another object of the list is opened: the list itself, and the footer. */
export function ScreenFrame({ list, isListShown, children, footer }: ScreenFrameProps) {
  return (
    // A question that is closed leaves the focus here when the button that has asked it is gone or disabled.
    <main tabIndex={-1} className="flex h-full min-h-0 min-w-0 flex-col outline-none">
      <div
        className={cn(
          "relative flex min-h-0 min-w-0 flex-1",
          isListShown && "max-md:flex-col-reverse",
        )}
      >
        {list !== undefined && (
          <nav
            aria-label={list.label}
            className={cn(
              "flex w-60 shrink-0 flex-col border-line border-r bg-surface max-lg:w-52 max-md:w-full max-md:border-0",
              isListShown ? "max-md:min-h-0 max-md:flex-1" : "max-md:hidden",
            )}
          >
            {list.content}
          </nav>
        )}
        {children}
      </div>
      {footer}
    </main>
  );
}

interface WorkAreaProps {
  /** Name of the screen or of the opened object; the page's heading. */
  title: ReactNode;
  /** Small text after the title. */
  detail?: ReactNode;
  /** Controls in the header of the work area; on phones also above the list. */
  actions?: ReactNode;
  /** The heading above the list on phones, which show only that header of the work area while they show the list. */
  listHeading?: string | undefined;
  /** Called on phones to go from the work area back to the list. */
  onBack?: (() => void) | undefined;
  /** The panel at the right. */
  panel?: { label: string; content: ReactNode; onClose: () => void } | undefined;
  /** The work area. It scrolls by itself unless `scrolls` is false. */
  children: ReactNode;
  scrolls?: boolean;
}

/** The opened object and its side panel, beside the list of a {@link ScreenFrame}. */
export function WorkArea({
  title,
  detail,
  actions,
  listHeading,
  onBack,
  panel,
  children,
  scrolls = true,
}: WorkAreaProps) {
  useShortcut(
    { keys: "esc", label: "Close the panel", group: "Everywhere", run: () => panel?.onClose() },
    panel !== undefined,
  );
  const isPanelShown = panel !== undefined;
  const isListShown = !isPanelShown && listHeading !== undefined;
  return (
    <>
      {/* On phones the work area with its heading is hidden while the panel is shown. */}
      {isPanelShown && <h1 className="sr-only md:hidden">Details</h1>}
      <section
        className={cn(
          "flex min-h-0 min-w-0 flex-1 flex-col bg-canvas",
          isListShown && "max-md:flex-none",
          isPanelShown && "max-md:hidden",
        )}
      >
        <header className="flex min-h-11 shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-line border-b bg-surface py-1 pr-2 pl-4 max-md:pl-2">
          {onBack !== undefined && !isListShown && (
            <span className="md:hidden">
              <IconButton size="dense" label="Back to the list" onClick={onBack}>
                <ChevronLeft className="size-4" />
              </IconButton>
            </span>
          )}
          {isListShown && (
            <h1 className="min-w-0 truncate pl-2 font-medium text-small md:hidden">
              {listHeading}
            </h1>
          )}
          <h1
            className={cn(
              // A long name is cut instead of pushing the actions into further lines.
              "min-w-0 truncate font-medium text-small max-md:grow max-md:basis-24 md:max-w-[50%]",
              isListShown && "max-md:hidden",
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
            isListShown && "max-md:hidden",
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
    </>
  );
}

interface ScreenLayoutProps extends Omit<WorkAreaProps, "listHeading"> {
  /** The list of objects at the left, with its accessible name. */
  list?: { label: string; content: ReactNode } | undefined;
  /** Whether an object of the list is open. On phones this decides between list and work area. */
  isObjectOpen?: boolean;
}

/** A screen: list of objects, work area and side panel. On phones one of them at a time. */
export function ScreenLayout({ list, isObjectOpen = true, ...area }: ScreenLayoutProps) {
  const isListShown = area.panel === undefined && !isObjectOpen && list !== undefined;
  return (
    <ScreenFrame list={list} isListShown={isListShown}>
      <WorkArea {...area} listHeading={isListShown ? list.label : undefined} />
    </ScreenFrame>
  );
}
