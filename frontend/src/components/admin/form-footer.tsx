import { Button } from "@ui/button";
import { Dialog } from "radix-ui";
import type { MouseEvent, ReactNode } from "react";
import { toast } from "@/lib/toast";
import { useFormWork } from "./form-work";

/** Buttons at the lower edge of a panel. At the left, because toasts appear at the right. */
export function PanelFooter({ children }: { children: ReactNode }) {
  return (
    <div className="sticky bottom-0 z-10 -mx-5 mt-auto flex flex-wrap gap-2 border-line border-t bg-canvas px-5 py-3 max-sm:[&>button]:px-4 sm:-mx-6 sm:px-6">
      {children}
    </div>
  );
}

/** Value of the button that saves the form and opens the next one. */
export const anotherRow = "another";

/**
 * What a button that saves does first when it is pressed: while a name is typed that is neither added nor chosen, it tells that, because
 * the form would be saved without it.
 */
export function useAskForUnadded(): (event: MouseEvent) => void {
  const { hasUnadded } = useFormWork();
  return (event) => {
    if (!hasUnadded) return;
    event.preventDefault();
    toast("Not saved yet", "Add or choose the name that you have typed, or take it out.", "danger");
  };
}

interface FormFooterProps {
  pending: boolean;
  /** Whether the form can be followed by one for one more row. */
  hasAnother?: boolean;
}

/**
 * Save and Cancel, which asks like the other ways to close a panel. They keep their place: a message that appears when a field loses the focus would otherwise move the button away
 * from under the pointer that is pressing it.
 */
export function FormFooter({ pending, hasAnother = false }: FormFooterProps) {
  const { isBusy } = useFormWork();
  const askForUnadded = useAskForUnadded();
  return (
    <PanelFooter>
      <Button type="submit" variant="primary" pending={pending || isBusy} onClick={askForUnadded}>
        Save
      </Button>
      {hasAnother && (
        <Button
          type="submit"
          value={anotherRow}
          disabled={pending || isBusy}
          onClick={askForUnadded}
        >
          Save and add another
        </Button>
      )}
      <Dialog.Close asChild>
        <Button>Cancel</Button>
      </Dialog.Close>
    </PanelFooter>
  );
}
