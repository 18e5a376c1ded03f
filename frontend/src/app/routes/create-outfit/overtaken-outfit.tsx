import { useQuery } from "@tanstack/react-query";
import { useIsShown } from "@ui/use-is-shown";
import { useState } from "react";
import { OvertakenDialog, showNames, showPicture } from "@/components/overtaken-dialog";
import {
  type Draft,
  isComposed,
  pictureItem,
  type SubmissionBase,
  storedGender,
} from "@/features/submissions/api/draft";
import { followSaved, listPickedItems } from "@/features/submissions/api/get-submission";
import { capitalise } from "@/lib/format";
import type { OvertakenError } from "@/lib/save-changes";
import { toast } from "@/lib/toast";

/** In place of the address of a picture that is drawn when the outfit is saved. */
const drawn = "drawn";

interface OvertakenOutfitProps {
  draft: Draft;
  failure: OvertakenError;
  /** With the changes of the draft that the answer makes. */
  onResolve: (changes: Partial<Draft>) => void;
  onDismiss: () => void;
}

/** Asks what to keep of an outfit that an administrator, or another tab, has saved since its edit began or it was sent. */
export function OvertakenOutfit(props: OvertakenOutfitProps) {
  const { draft, failure, onResolve, onDismiss } = props;
  const present = failure.present as unknown as SubmissionBase;
  const [isWaiting, setWaiting] = useState(false);
  const isShown = useIsShown();
  const { data: items, refetch } = useQuery({
    queryKey: ["items", "picked", present.item_ids],
    queryFn: () => listPickedItems(present.item_ids),
  });
  const known = [...(items ?? []), ...draft.items];

  /** The draft may take the items over, and then has to know more of them than their ids. */
  async function resolve(taken: readonly string[]) {
    setWaiting(true);
    const found = items ?? (await refetch({ cancelRefetch: false })).data;
    // Nothing is saved after Cancel.
    if (!isShown()) return;
    setWaiting(false);
    if (found === undefined) {
      toast("The items could not be loaded", "Please try again in a moment.", "danger");
      return;
    }
    onResolve(followSaved({ ...present, items: found }, [...taken, ...failure.others]));
  }

  const mine = {
    name: draft.name,
    gender: storedGender(draft.gender),
    item_ids: draft.items.map(({ id }) => id),
    main_image:
      draft.picture.kind === "uploaded"
        ? draft.picture.url
        : isComposed(draft)
          ? drawn
          : (pictureItem(draft)?.image ?? ""),
    description: "",
  };
  return (
    <OvertakenDialog
      noun="outfit"
      pending={isWaiting}
      overtaken={{
        // The description of an outfit follows from its items, or is an administrator's and stays.
        fields: Object.keys(failure.theirs).filter((column) => column !== "description"),
        others: failure.others,
        mine,
        theirs: present,
        resolve: (taken) => void resolve(taken),
        dismiss: onDismiss,
      }}
      fields={{
        name: { label: "Name" },
        description: { label: "Description" },
        gender: { label: "Gender", show: (gender) => capitalise(String(gender)) },
        main_image: {
          label: "Picture",
          show: (url) => (url === drawn ? "Drawn of your items" : showPicture(url)),
        },
        item_ids: {
          label: "Items",
          show: showNames((id) => known.find((item) => item.id === id)?.name ?? "Not in the list"),
        },
      }}
    />
  );
}
