import { cn } from "@ui/cn";
import { IconButton } from "@ui/icon-button";
import { X } from "lucide-react";
import { Dialog as RadixDialog } from "radix-ui";
import type { ReactNode } from "react";

interface DialogProps {
  title: ReactNode;
  description?: ReactNode;
  onClose: () => void;
  /** Wide dialogs hold tables and SQL. */
  width?: "narrow" | "wide";
  children: ReactNode;
  /** Nothing in it takes the focus, so the text itself does; otherwise it could not be scrolled by keys. */
  isTextOnly?: boolean;
  /** Buttons, at the right of the lower edge. */
  footer?: ReactNode;
}

/** A window over the page. It is open as long as it is rendered; on phones it fills the screen. */
export function Dialog({
  title,
  description,
  onClose,
  width = "narrow",
  children,
  isTextOnly = false,
  footer,
}: DialogProps) {
  return (
    <RadixDialog.Root open onOpenChange={(open) => !open && onClose()}>
      <RadixDialog.Portal>
        <RadixDialog.Overlay className="fade-in fixed inset-0 z-40 bg-scrim" />
        <RadixDialog.Content
          {...(description === undefined && { "aria-describedby": undefined })}
          className={cn(
            "panel-in fixed z-50 flex max-h-[92dvh] flex-col border border-line bg-raised shadow-raised outline-none",
            "max-md:inset-0 max-md:max-h-none md:-translate-x-1/2 md:top-[6vh] md:left-1/2 md:rounded-md",
            width === "narrow" ? "md:w-[28rem]" : "md:w-[min(56rem,calc(100vw-3rem))]",
          )}
        >
          <header className="flex items-start gap-3 border-line border-b py-2.5 pr-2 pl-4">
            <div className="min-w-0 flex-1 py-1">
              <RadixDialog.Title className="font-medium text-small">{title}</RadixDialog.Title>
              {description !== undefined && (
                <RadixDialog.Description className="text-caption text-ink-soft">
                  {description}
                </RadixDialog.Description>
              )}
            </div>
            <RadixDialog.Close asChild>
              <IconButton size="dense" label="Close">
                <X className="size-4" />
              </IconButton>
            </RadixDialog.Close>
          </header>
          <div
            className="min-h-0 flex-1 overflow-auto p-4 outline-offset-[-2px]"
            {...(isTextOnly && { tabIndex: 0 })}
          >
            {children}
          </div>
          {footer !== undefined && (
            <footer className="flex flex-wrap justify-end gap-2 border-line border-t px-4 py-3">
              {footer}
            </footer>
          )}
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  );
}
