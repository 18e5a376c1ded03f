import { cn } from "@ui/cn";
import { IconButton } from "@ui/icon-button";
import { isComposing } from "@ui/keys";
import { isOtherPage } from "@ui/typed-forms";
import { useKeepTyped } from "@ui/use-keep-typed";
import { X } from "lucide-react";
import { Dialog as RadixDialog } from "radix-ui";
import { type FormEvent, type ReactNode, useState } from "react";
import { ConfirmDialog } from "@/components/confirm-dialog";

interface DialogProps {
  title: ReactNode;
  description?: ReactNode;
  onClose: () => void;
  /** Wide dialogs hold tables and SQL. */
  width?: "narrow" | "wide";
  children: ReactNode;
  /** Nothing in it takes the focus, so the text itself does; otherwise it could not be scrolled by keys. */
  isTextOnly?: boolean;
  /**
   * Whether it holds something that closing would lose. By default that is so as soon as something was typed or chosen in it; a
   * dialog that knows more precisely, or keeps what is typed, says it.
   */
  isDirty?: boolean | undefined;
  /** What is asked before it closes, where it is not about text. */
  question?: { title: string; text: string; confirmLabel: string } | undefined;
  /** Buttons, at the right of the lower edge. A button that cancels closes without a question. */
  footer?: ReactNode;
}

const aboutText = {
  title: "Discard what you typed?",
  text: "The window closes, and its text is gone.",
  confirmLabel: "Discard",
};

/** Fields whose text is not lost with the dialog: what is searched for. */
const isPassing = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement && target.type === "search";

/**
 * A window over the page. It is open as long as it is rendered; on phones it fills the screen. The key Escape, its cross and a press
 * beside it ask first when something was typed in it, and so do Back and each step to another page.
 */
export function Dialog({
  title,
  description,
  onClose,
  width = "narrow",
  children,
  isTextOnly = false,
  isDirty,
  question = aboutText,
  footer,
}: DialogProps) {
  const [wasTyped, setTyped] = useState(false);
  /** What follows when the text may go, while that is asked. */
  const [asked, setAsked] = useState<{ about: string; leave?: () => void } | null>(null);
  const isTyped = isDirty ?? wasTyped;
  const about = question.title;
  // What was asked about is gone, or has changed. An answer to the old question would be taken for one about the new thing.
  if (asked !== null && (!isTyped || asked.about !== about)) setAsked(null);
  useKeepTyped({
    isDirty: isTyped,
    isLost: (step) => step.isHistory || isOtherPage(step),
    // Back, of which phones have a gesture, is meant for the window.
    ask: (leave, { isHistory }) => setAsked(isHistory ? { about } : { about, leave }),
  });
  function close(): void {
    if (isTyped) setAsked({ about });
    else onClose();
  }
  function notice(event: FormEvent): void {
    if (!isPassing(event.target)) setTyped(true);
  }
  return (
    <RadixDialog.Root open onOpenChange={(open) => !open && close()}>
      <RadixDialog.Portal>
        <RadixDialog.Overlay className="fade-in fixed inset-0 z-40 bg-scrim" />
        <RadixDialog.Content
          {...(description === undefined && { "aria-describedby": undefined })}
          onInput={notice}
          onEscapeKeyDown={(event) => {
            // Escape drops the word that an input method proposes.
            if (isComposing(event)) event.preventDefault();
          }}
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
      {asked !== null && (
        <ConfirmDialog
          {...question}
          onConfirm={() => {
            setAsked(null);
            onClose();
            asked.leave?.();
          }}
          onClose={() => setAsked(null)}
        />
      )}
    </RadixDialog.Root>
  );
}
