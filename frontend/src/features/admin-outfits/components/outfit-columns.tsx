import { Check, Eye, Pencil, Trash2, X } from "lucide-react";
import type { Column } from "@/components/admin/data-table";
import { RowButton } from "@/components/admin/row-button";
import { Thumbnail } from "@/components/admin/thumbnail";
import { capitalise, formatDate } from "@/lib/format";
import { type AdminOutfit, creatorName, isReviewable } from "../api/outfits";
import { OutfitStatus } from "./outfit-status";

interface OutfitActions {
  /** Names of outfit styles by id; absent while they are loaded. */
  styleNames: ReadonlyMap<string, string> | undefined;
  /** A review is on its way; another click must not send a second one. */
  isBusy: boolean;
  /** Ids of the ticked outfits. */
  selected: ReadonlySet<string>;
  onSelect: (outfit: AdminOutfit) => void;
  onOpen: (outfit: AdminOutfit) => void;
  /** Shows the outfits of its creator alone. */
  onCreator: (outfit: AdminOutfit) => void;
  onApprove: (outfit: AdminOutfit) => void;
  onReject: (outfit: AdminOutfit) => void;
  onEdit: (outfit: AdminOutfit) => void;
  onDelete: (outfit: AdminOutfit) => void;
}

/** Columns of the table of outfits. Only submissions that wait have buttons to decide. */
export function outfitColumns(actions: OutfitActions): readonly Column<AdminOutfit>[] {
  return [
    {
      header: "Select",
      hidesHeader: true,
      className: "w-8 pr-0! max-sm:hidden",
      cell: (outfit) =>
        isReviewable(outfit) && (
          <input
            type="checkbox"
            aria-label={`Select ${outfit.name}`}
            checked={actions.selected.has(outfit.id)}
            onChange={() => actions.onSelect(outfit)}
            className="tick"
          />
        ),
    },
    {
      header: "Image",
      className: "w-16",
      cell: ({ main_image, name }) => <Thumbnail url={main_image} name={name} />,
    },
    {
      header: "Name",
      sort: "name",
      cell: (outfit) => (
        <>
          <span className="font-medium [overflow-wrap:anywhere]">{outfit.name}</span>
          <span className="mt-0.5 block md:hidden">
            <OutfitStatus outfit={outfit} />
          </span>
        </>
      ),
    },
    {
      header: "Creator",
      className: "max-lg:hidden",
      // One line for each outfit: rows of different heights are harder to read down, and fewer fit on the screen.
      cell: (outfit) =>
        outfit.user_id === null ? (
          creatorName(outfit)
        ) : (
          <button
            type="button"
            aria-label={`Outfits of ${creatorName(outfit)}`}
            onClick={() => actions.onCreator(outfit)}
            className="block min-h-6 max-w-40 truncate text-left hover:underline"
          >
            {creatorName(outfit)}
          </button>
        ),
    },
    {
      header: "Status",
      className: "max-md:hidden",
      cell: (outfit) => <OutfitStatus outfit={outfit} />,
    },
    {
      header: "Gender",
      className: "max-xl:hidden",
      cell: ({ gender }) => capitalise(gender),
    },
    {
      header: "Styles",
      className: "max-xl:hidden text-ink-soft",
      cell: ({ outfit_styles }) => {
        const names = outfit_styles.flatMap((id) => actions.styleNames?.get(id) ?? []).join(", ");
        return (
          <span title={names} className="block max-w-44 truncate">
            {names}
          </span>
        );
      },
    },
    {
      header: "Created",
      sort: "created_at",
      className: "max-lg:hidden whitespace-nowrap tabular-nums text-ink-soft",
      cell: ({ created_at }) => formatDate(created_at),
    },
    {
      header: "Actions",
      className: "text-right whitespace-nowrap",
      cell: (outfit) => (
        <>
          {isReviewable(outfit) && (
            <>
              <RowButton
                label={`Approve ${outfit.name}`}
                disabled={actions.isBusy}
                onClick={() => actions.onApprove(outfit)}
              >
                <Check aria-hidden="true" className="text-success" />
              </RowButton>
              <RowButton
                label={`Reject ${outfit.name}`}
                disabled={actions.isBusy}
                onClick={() => actions.onReject(outfit)}
              >
                <X aria-hidden="true" className="text-danger" />
              </RowButton>
            </>
          )}
          <RowButton label={`Look at ${outfit.name}`} onClick={() => actions.onOpen(outfit)}>
            <Eye aria-hidden="true" />
          </RowButton>
          {/* On phones these two are in the panel that the eye opens. */}
          <span className="max-md:hidden">
            <RowButton label={`Edit ${outfit.name}`} onClick={() => actions.onEdit(outfit)}>
              <Pencil aria-hidden="true" />
            </RowButton>
            <RowButton label={`Delete ${outfit.name}`} onClick={() => actions.onDelete(outfit)}>
              <Trash2 aria-hidden="true" />
            </RowButton>
          </span>
        </>
      ),
    },
  ];
}
