import { AlertDialog } from "radix-ui";
import { type ReactNode, useState } from "react";
import { cn } from "./cn";

interface AlertWindowProps {
  title: ReactNode;
  /** What will happen, and whether it can be undone. Screen readers announce it with the title. */
  text: ReactNode;
  /** The classes of the three parts, because each front end has its own sizes. */
  classNames: { window: string; title: string; text: string };
  onClose: () => void;
  /** Whether nothing of the page is seen behind it. */
  isOpaque?: boolean;
  /** Fields and buttons; `AlertCancel` belongs to them. */
  children: ReactNode;
}

/** Whoever works by keys types at once what a window asks for. On Cancel a blank would close it, and letters be keys of the page. */
function focusField(event: Event): void {
  const panel = event.currentTarget;
  const field =
    panel instanceof HTMLElement
      ? panel.querySelector<HTMLElement>("textarea, input:not([type=radio], [type=checkbox])")
      : null;
  if (panel instanceof HTMLElement && field !== null) {
    event.preventDefault();
    // A choice that stands before the text field is made first.
    const first = panel.querySelector<HTMLElement>("textarea, input:not([type=checkbox])");
    (first ?? field).focus();
  } else if (panel instanceof HTMLElement) {
    // Cancel takes the focus from here. Without one it would stay in what the window covers.
    panel.focus();
  }
}

/**
 * A window that asks before something is done. It is open as long as it is rendered, covers the page, and a click beside it does
 * not close it. The first focus is on its text field or the choice before that, or else on Cancel. Afterwards it is where it was
 * before, or at the page's content when that has gone.
 */
export function AlertWindow({
  title,
  text,
  classNames,
  onClose,
  isOpaque = false,
  children,
}: AlertWindowProps) {
  // Radix returns the focus to triggers alone, and this window has none.
  const [opener] = useState(() => document.activeElement);
  function returnFocus(event: Event) {
    event.preventDefault();
    // The opener may have gone, or be disabled while what was confirmed runs; some browsers give buttons no focus when they are pressed.
    for (const target of [opener, document.querySelector("main")]) {
      if (!(target instanceof HTMLElement) || target === document.body) continue;
      target.focus({ preventScroll: true });
      if (document.activeElement === target) return;
    }
  }
  return (
    <AlertDialog.Root open onOpenChange={(open) => !open && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay
          className={cn("fixed inset-0 z-50", isOpaque ? "bg-canvas" : "fade-in bg-scrim")}
        />
        <AlertDialog.Content
          onOpenAutoFocus={focusField}
          onCloseAutoFocus={returnFocus}
          className={classNames.window}
        >
          <AlertDialog.Title className={classNames.title}>{title}</AlertDialog.Title>
          <AlertDialog.Description asChild>
            <div className={classNames.text}>{text}</div>
          </AlertDialog.Description>
          {children}
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

/** The button that closes an `AlertWindow` without doing anything. */
export function AlertCancel({ children }: { children: ReactNode }) {
  return <AlertDialog.Cancel asChild>{children}</AlertDialog.Cancel>;
}
