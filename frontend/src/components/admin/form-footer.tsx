import { Button } from "@/components/ui/button";

interface FormFooterProps {
  pending: boolean;
  onCancel: () => void;
}

/**
 * Save and Cancel at the lower edge of the panel. They keep their place: a message that appears when a field loses the focus would
 * otherwise move the button away from under the pointer that is pressing it. At the left, because toasts appear at the right.
 */
export function FormFooter({ pending, onCancel }: FormFooterProps) {
  return (
    <div className="sticky bottom-0 z-10 -mx-5 mt-auto flex gap-2 border-line border-t bg-canvas px-5 py-3 sm:-mx-6 sm:px-6">
      <Button type="submit" variant="primary" pending={pending}>
        Save
      </Button>
      <Button onClick={onCancel}>Cancel</Button>
    </div>
  );
}
