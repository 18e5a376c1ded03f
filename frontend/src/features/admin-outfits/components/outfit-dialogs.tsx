import { ConfirmDialog } from "@/components/admin/confirm-dialog";
import { type AdminOutfit, useDeleteOutfit } from "../api/outfits";
import { useReviewOutfit } from "../api/review";
import { OutfitForm } from "./outfit-form";
import { RejectDialog } from "./reject-dialog";
import { ReviewPanel } from "./review-panel";

/** What is open above the table, and for which outfit. */
export type OpenDialog =
  | { kind: "new" }
  | { kind: "reject-selected" }
  | { kind: "edit" | "review" | "reject" | "delete"; outfit: AdminOutfit };

interface OutfitDialogsProps {
  open: OpenDialog;
  onOpen: (next: OpenDialog | null) => void;
  /** The ticked outfits, for `reject-selected`. */
  selected: { count: number; pending: boolean; onReject: (reason: string) => void };
}

/** The form, panel or question that is open above the table of outfits. */
export function OutfitDialogs({ open, onOpen, selected }: OutfitDialogsProps) {
  const close = () => onOpen(null);
  switch (open.kind) {
    case "new":
      return <OutfitForm outfit={null} onClose={close} />;
    case "edit":
      return <OutfitForm outfit={open.outfit} onClose={close} />;
    case "review":
      return (
        <ReviewPanel
          outfit={open.outfit}
          onEdit={() => onOpen({ kind: "edit", outfit: open.outfit })}
          onDelete={() => onOpen({ kind: "delete", outfit: open.outfit })}
          onClose={close}
        />
      );
    case "reject":
      return <RejectOutfit outfit={open.outfit} onClose={close} />;
    case "reject-selected":
      return (
        <RejectDialog
          subject={selected.count === 1 ? "1 outfit" : `${selected.count} outfits`}
          pending={selected.pending}
          onReject={selected.onReject}
          onCancel={close}
        />
      );
    case "delete":
      return <DeleteOutfit outfit={open.outfit} onClose={close} />;
  }
}

interface QuestionProps {
  outfit: AdminOutfit;
  onClose: () => void;
}

function RejectOutfit({ outfit, onClose }: QuestionProps) {
  const review = useReviewOutfit();
  return (
    <RejectDialog
      subject={outfit.name}
      pending={review.isPending}
      onReject={(reason) =>
        review.mutate({ outfit, approve: false, reason }, { onSettled: onClose })
      }
      onCancel={onClose}
    />
  );
}

function DeleteOutfit({ outfit, onClose }: QuestionProps) {
  const remove = useDeleteOutfit();
  return (
    <ConfirmDialog
      title={`Delete ${outfit.name}?`}
      text="Are you sure you want to delete this outfit combination?"
      action="Delete"
      pending={remove.isPending}
      onConfirm={() => remove.mutate(outfit, { onSettled: onClose })}
      onCancel={onClose}
    />
  );
}
