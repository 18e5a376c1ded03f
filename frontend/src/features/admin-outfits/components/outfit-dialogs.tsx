import { useEffect, useEffectEvent } from "react";
import { ConfirmDialog } from "@/components/admin/confirm-dialog";
import type { OpenRow } from "@/lib/use-open-row";
import { type AdminOutfit, useDeleteOutfit } from "../api/outfits";
import { hasOutfitChanged, useReviewOutfit } from "../api/review";
import { OutfitForm } from "./outfit-form";
import { RejectDialog } from "./reject-dialog";
import { ReviewPanel } from "./review-panel";

/** A question that is asked above the table, and about which outfits. */
export type Question =
  | { kind: "reject-selected" }
  | { kind: "reject" | "delete"; outfit: AdminOutfit };

interface OutfitPanelProps {
  opened: OpenRow<AdminOutfit>;
  /** Id of the outfit whose form is shown in place of the panel for its review. */
  editedId: string | null;
  onEdit: (outfit: AdminOutfit) => void;
  onDelete: (outfit: AdminOutfit) => void;
  onDecided: (outfit: AdminOutfit) => void;
  onStep: (outfit: AdminOutfit, direction: 1 | -1) => void;
}

/** The panel of the outfit that the address names: its form, or what a decision about it needs. */
export function OutfitPanel(props: OutfitPanelProps) {
  const { opened, editedId, onEdit, onDelete, onDecided, onStep } = props;
  const { row: outfit, isNew, close } = opened;
  if (isNew || (outfit !== null && outfit.id === editedId)) {
    return <OutfitForm outfit={outfit} onClose={close} />;
  }
  if (outfit === null) return null;
  return (
    <ReviewPanel
      key={outfit.id}
      outfit={outfit}
      onDecided={() => onDecided(outfit)}
      onStep={(direction) => onStep(outfit, direction)}
      onEdit={() => onEdit(outfit)}
      onDelete={() => {
        close();
        onDelete(outfit);
      }}
      onClose={close}
    />
  );
}

interface OutfitQuestionProps {
  question: Question;
  onClose: () => void;
  /** The ticked outfits, for `reject-selected`. */
  selected: {
    ids: readonly string[];
    pending: boolean;
    onReject: (reason: string) => void;
  };
}

export function OutfitQuestion({ question, onClose, selected }: OutfitQuestionProps) {
  switch (question.kind) {
    case "reject":
      return <RejectOutfit outfit={question.outfit} onClose={onClose} />;
    case "reject-selected":
      // They may be decided about, by others or by an attempt whose answer was lost.
      if (selected.ids.length === 0) return <Answered onClose={onClose} />;
      return (
        <RejectDialog
          subject={selected.ids.length === 1 ? "1 outfit" : `${selected.ids.length} outfits`}
          ids={selected.ids}
          pending={selected.pending}
          onReject={selected.onReject}
          onCancel={onClose}
        />
      );
    case "delete":
      return <DeleteOutfit outfit={question.outfit} onClose={onClose} />;
  }
}

/** Closes a question about which nothing is left to ask. */
function Answered({ onClose }: { onClose: () => void }) {
  const close = useEffectEvent(onClose);
  useEffect(() => close(), []);
  return null;
}

interface SingleQuestionProps {
  outfit: AdminOutfit;
  onClose: () => void;
}

function RejectOutfit({ outfit, onClose }: SingleQuestionProps) {
  const review = useReviewOutfit();
  return (
    <RejectDialog
      subject={outfit.name}
      ids={[outfit.id]}
      pending={review.isPending}
      onReject={(reason) =>
        review.mutate(
          { outfit, approve: false, reason },
          {
            onSuccess: onClose,
            onError: (error) => {
              if (hasOutfitChanged(error)) onClose();
            },
          },
        )
      }
      onCancel={onClose}
    />
  );
}

function DeleteOutfit({ outfit, onClose }: SingleQuestionProps) {
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
