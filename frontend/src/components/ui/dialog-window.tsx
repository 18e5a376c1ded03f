import { IconButton } from "@ui/icon-button";
import { X } from "lucide-react";
import { Dialog } from "radix-ui";
import type { ReactNode } from "react";

interface DialogWindowProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

/** A window over the page in which something is chosen and saved at once. It is open as long as it is rendered. */
export function DialogWindow({ title, onClose, children }: DialogWindowProps) {
  return (
    <Dialog.Root
      open
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
    >
      <Dialog.Portal>
        <Dialog.Overlay className="fade-in fixed inset-0 z-50 bg-scrim" />
        <Dialog.Content
          aria-describedby={undefined}
          className="panel-in fixed top-1/2 left-1/2 z-50 max-h-[96dvh] w-[min(28rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 overflow-y-auto rounded-lg border border-line bg-raised p-6 text-ink shadow-raised outline-none"
        >
          <div className="mb-4 flex items-start justify-between gap-3">
            <Dialog.Title className="min-w-0 pt-1.5 font-serif text-heading [overflow-wrap:anywhere]">
              {title}
            </Dialog.Title>
            <Dialog.Close asChild>
              <IconButton label="Close" className="-mt-1 -mr-2.5">
                <X className="size-5" strokeWidth={1.6} />
              </IconButton>
            </Dialog.Close>
          </div>
          {children}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
