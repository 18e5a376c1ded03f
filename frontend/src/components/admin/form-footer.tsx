import { Button } from "@ui/button";
import { Dialog } from "radix-ui";
import type { ReactNode } from "react";
import { toast } from "@/lib/toast";
import { useFormWork } from "./form-work";

/** Buttons at the lower edge of a panel. At the left, because toasts appear at the right. */
export function PanelFooter({ children }: { children: ReactNode }) {
  return (
    <div className="sticky bottom-0 z-10 -mx-5 mt-auto flex gap-2 border-line border-t bg-canvas px-5 py-3 sm:-mx-6 sm:px-6">
      {children}
    </div>
  );
}

/**
 * Save and Cancel, which asks like the other ways to close a panel. They keep their place: a message that appears when a field loses the focus would otherwise move the button away
 * from under the pointer that is pressing it.
 */
export function FormFooter({ pending }: { pending: boolean }) {
  const { isBusy, hasUnadded } = useFormWork();
  return (
    <PanelFooter>
      <Button
        type="submit"
        variant="primary"
        pending={pending || isBusy}
        onClick={(event) => {
          if (!hasUnadded) return;
          event.preventDefault();
          toast("Not saved yet", "Add the name that you have typed, or cancel it.", "danger");
        }}
      >
        Save
      </Button>
      <Dialog.Close asChild>
        <Button>Cancel</Button>
      </Dialog.Close>
    </PanelFooter>
  );
}
