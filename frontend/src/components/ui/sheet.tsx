import { IconButton } from "@ui/icon-button";
import { X } from "lucide-react";
import { Dialog } from "radix-ui";
import type { ReactNode } from "react";

interface SheetProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

/** Bottom sheet: a dialog that slides up from the lower edge, used on phones in place of menus. It is open as long as it is rendered. */
export function Sheet({ title, onClose, children }: SheetProps) {
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
          className="sheet-in fixed inset-x-0 bottom-0 z-50 max-h-[88dvh] overflow-y-auto overscroll-contain rounded-t-lg border-line border-t bg-raised px-5 pt-4 pb-[calc(1.5rem+env(safe-area-inset-bottom))] text-ink outline-none"
        >
          <div className="mb-3 flex items-center justify-between">
            <Dialog.Title className="font-serif text-heading">{title}</Dialog.Title>
            <Dialog.Close asChild>
              <IconButton label="Close" className="-mr-2.5">
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
