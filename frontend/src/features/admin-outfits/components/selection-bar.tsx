import { Button } from "@ui/button";

interface SelectionBarProps {
  count: number;
  pending: boolean;
  onApprove: () => void;
  onReject: () => void;
  onClear: () => void;
}

/** Actions on the selected outfits; renders nothing without a selection. */
export function SelectionBar({ count, pending, onApprove, onReject, onClear }: SelectionBarProps) {
  return (
    <div role="status" className="empty:hidden">
      {count > 0 && (
        <div className="mb-3 flex flex-wrap items-center gap-2 rounded-md border border-line bg-surface px-3 py-2">
          <p className="mr-auto font-medium text-small">{count} selected</p>
          <Button variant="quiet" onClick={onClear}>
            Clear
          </Button>
          <Button disabled={pending} onClick={onReject}>
            Reject selected
          </Button>
          <Button variant="primary" pending={pending} onClick={onApprove}>
            Approve selected
          </Button>
        </div>
      )}
    </div>
  );
}
