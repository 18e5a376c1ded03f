import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { X } from "lucide-react";
import { useEffect, useState } from "react";
import { Select } from "@/components/admin/controls";
import { DataTable } from "@/components/admin/data-table";
import { GenderFilter } from "@/components/admin/gender-filter";
import { Pagination } from "@/components/admin/pagination";
import { SectionPage } from "@/components/admin/section-page";
import { adminOverviewQuery } from "@/lib/admin-overview";
import { useSession } from "@/lib/session";
import { type AdminTable, useAdminTable } from "@/lib/use-admin-table";
import { useOpenRow } from "@/lib/use-open-row";
import { outfitStylesQuery } from "@/lib/vocabulary";
import {
  type AdminOutfit,
  creatorName,
  isReviewable,
  readOutfits,
  statuses,
  statusLabels,
} from "../api/outfits";
import { forgetReasonsOfDecided, useReviewOutfit, useReviewOutfits } from "../api/review";
import { showReasonsOf } from "../api/unsaved-reasons";
import { outfitColumns } from "./outfit-columns";
import { OutfitPanel, OutfitQuestion, type Question } from "./outfit-dialogs";
import { SelectionBar } from "./selection-bar";
import { useSelection } from "./use-selection";

const filters = ["status", "gender", "creator"];

type Selection = ReturnType<typeof useSelection>;

/** Decides on all ticked outfits, and unticks them. When the request fails they stay ticked, with what was typed about them. */
function useSelectedReview(selection: Selection, onDecided: () => void) {
  const { mutate, isPending } = useReviewOutfits();
  const decide = (decision: { approve: boolean; reason?: string }) =>
    mutate(
      { outfits: selection.outfits, ...decision },
      {
        onSuccess: () => {
          selection.clear();
          onDecided();
        },
      },
    );
  return {
    isPending,
    approve: () => decide({ approve: true }),
    reject: (reason: string) => decide({ approve: false, reason }),
  };
}

/** Shows this administrator's own unsaved reasons, and forgets those of outfits that others have decided about. */
function useReasonsOf(outfits: readonly AdminOutfit[] | undefined): void {
  const { user } = useSession();
  const userId = user?.id ?? "";
  useEffect(() => showReasonsOf(userId), [userId]);
  useEffect(() => {
    if (outfits !== undefined) void forgetReasonsOfDecided(outfits);
  }, [outfits]);
}

/** Outfit combinations: what is published, what waits for review, and what was rejected. */
export function OutfitSection() {
  const table = useAdminTable({
    section: "combines",
    read: readOutfits,
    pageSize: 20,
    sort: "created_at",
    ascending: false,
    filters,
  });
  useReasonsOf(table.rows);
  const { data: styleNames } = useQuery(outfitStylesQuery());
  const opened = useOpenRow(table, "Outfit");
  const [editedId, setEditedId] = useState<string | null>(null);
  const [question, setQuestion] = useState<Question | null>(null);
  const review = useReviewOutfit();
  const selection = useSelection(table.rows);
  const selectedReview = useSelectedReview(selection, () => setQuestion(null));

  function look(outfit: AdminOutfit) {
    setEditedId(null);
    opened.open(outfit);
  }

  function edit(outfit: AdminOutfit) {
    setEditedId(outfit.id);
    opened.open(outfit);
  }

  /** The panel goes on with the next outfit of the page that waits, so that a queue is worked off without the table. */
  function showNext(decided: AdminOutfit) {
    const rows = table.rows ?? [];
    const place = rows.findIndex(({ id }) => id === decided.id);
    const others = [...rows.slice(place + 1), ...rows.slice(0, Math.max(0, place))];
    const next = others.find((row) => row.id !== decided.id && isReviewable(row));
    if (next === undefined) opened.close();
    else look(next);
  }

  /** The outfit above or below in the table; at its ends nothing happens. */
  function step(shown: AdminOutfit, direction: 1 | -1) {
    const rows = table.rows ?? [];
    const place = rows.findIndex(({ id }) => id === shown.id);
    const next = place === -1 ? undefined : rows[place + direction];
    if (next !== undefined) look(next);
  }

  const columns = outfitColumns({
    styleNames,
    isBusy: review.isPending,
    selected: selection.ids,
    onSelect: selection.toggle,
    onOpen: look,
    onCreator: ({ user_id }) => table.setFilter("creator", user_id ?? ""),
    onApprove: (outfit) => review.mutate({ outfit, approve: true }),
    onReject: (outfit) => setQuestion({ kind: "reject", outfit }),
    onEdit: edit,
    onDelete: (outfit) => setQuestion({ kind: "delete", outfit }),
  });

  return (
    <SectionPage
      title="Outfits"
      query={table.request.term}
      onSearch={table.search}
      searchPlaceholder="Search outfits..."
      addLabel="Add Outfit"
      onAdd={opened.openNew}
      controls={
        <>
          <StatusControls
            status={table.request.filters.status ?? ""}
            onStatus={(status) => table.setFilter("status", status)}
          />
          <GenderFilter table={table} />
          <CreatorFilter table={table} />
        </>
      }
    >
      <SelectionBar
        count={selection.outfits.length}
        pending={selectedReview.isPending}
        onApprove={selectedReview.approve}
        onReject={() => setQuestion({ kind: "reject-selected" })}
        onClear={selection.clear}
      />
      <DataTable
        label="Outfits"
        table={table}
        columns={columns}
        empty={
          table.isNarrowed
            ? "No outfit matches your search and filters."
            : "No outfit combinations found. Add your first outfit above."
        }
        onSelect={selection.toggle}
        onOpen={(outfit) => (isReviewable(outfit) ? look(outfit) : edit(outfit))}
      />
      <Pagination table={table} noun="outfits" />
      <OutfitPanel
        opened={opened}
        editedId={editedId}
        onEdit={edit}
        onDelete={(outfit) => setQuestion({ kind: "delete", outfit })}
        onDecided={showNext}
        onStep={step}
      />
      {question !== null && (
        <OutfitQuestion
          question={question}
          onClose={() => setQuestion(null)}
          selected={{
            ids: selection.outfits.map(({ id }) => id),
            pending: selectedReview.isPending,
            onReject: selectedReview.reject,
          }}
        />
      )}
    </SectionPage>
  );
}

/** Whose outfits alone are shown, chosen in the table or by a link from the person; nothing where all are. */
function CreatorFilter({ table }: { table: AdminTable<AdminOutfit> }) {
  if (table.request.filters.creator === undefined) return null;
  const [outfit] = table.rows ?? [];
  return (
    <Button onClick={() => table.setFilter("creator", "")}>
      {outfit === undefined ? "Of one creator" : `Of ${creatorName(outfit)}`}
      <X aria-hidden="true" className="size-4" />
      <span className="sr-only">: show all</span>
    </Button>
  );
}

interface StatusControlsProps {
  status: string;
  onStatus: (status: string) => void;
}

function StatusControls({ status, onStatus }: StatusControlsProps) {
  const { data: overview } = useQuery(adminOverviewQuery());
  const pending = overview?.pending ?? 0;
  return (
    <>
      <Select
        aria-label="Status"
        value={status}
        onChange={(event) => onStatus(event.target.value)}
        isFilter
      >
        <option value="">All Statuses</option>
        {statuses.map((one) => (
          <option key={one} value={one}>
            {statusLabels[one]}
          </option>
        ))}
      </Select>
      {pending > 0 && status !== "pending" && (
        <Button onClick={() => onStatus("pending")}>
          Review Pending
          <span className="rounded-full bg-ink px-2 text-canvas text-label tabular-nums">
            {pending}
          </span>
        </Button>
      )}
    </>
  );
}
