import { useMutation } from "@tanstack/react-query";
import { cn } from "@ui/cn";
import { Spinner } from "@ui/spinner";
import { ImagePlus } from "lucide-react";
import { type ReactNode, useId } from "react";
import { Picture } from "@/components/ui/picture";
import { PillRadio } from "@/components/ui/pill-radio";
import { itemPictureWidth } from "@/features/items/components/item-card-shape";
import { outfitPictureWidth } from "@/features/outfits/components/outfit-card-shape";
import { arrangementLabels, arrangements } from "@/features/submissions/api/arrange-pieces";
import {
  arrangementOf,
  type Draft,
  isComposed,
  listItemsWithPicture,
  movedPieces,
  pictureItem,
} from "@/features/submissions/api/draft";
import {
  acceptedPictures,
  deleteOutfitPicture,
  pictureFileError,
  uploadChosenPicture,
} from "@/features/submissions/api/outfit-picture";
import { PictureError } from "@/lib/picture-file";
import { messageOf } from "@/lib/service-error";
import { toast } from "@/lib/toast";
import { Composition } from "./composition";

interface PictureChoiceProps {
  userId: string;
  draft: Draft;
  onChange: (change: Partial<Draft>) => void;
}

/** Which picture the outfit shows: one of its items', all items on one sheet, or an uploaded one. */
export function PictureChoice({ userId, draft, onChange }: PictureChoiceProps) {
  const { items } = draft;
  const shown = pictureItem(draft);
  const itemsWithPicture = listItemsWithPicture(items);
  const isDrawn = isComposed(draft) && itemsWithPicture.length > 1;
  return (
    <>
      <fieldset className="min-w-0">
        <legend className="mb-3 font-medium text-small">Picture</legend>
        {/* On phones a line that is swiped, with room for the outlines. Relative, or the hidden radio buttons would widen the page. */}
        <div className="no-scrollbar relative -mx-4 flex gap-3 px-4 py-1 max-md:overflow-x-auto md:mx-0 md:flex-wrap md:p-0">
          {itemsWithPicture.length > 1 && (
            <Option
              label="All items together"
              checked={isComposed(draft)}
              onChoose={() => onChange({ picture: { kind: "composed" } })}
            >
              <Composition
                items={itemsWithPicture}
                arrangement={arrangementOf(draft)}
                moved={movedPieces(draft)}
              />
            </Option>
          )}
          <UploadedPicture userId={userId} draft={draft} onChange={onChange} />
          {itemsWithPicture.map((item) => (
            <Option
              key={item.id}
              label={item.name}
              checked={shown?.id === item.id}
              onChoose={() => onChange({ picture: { kind: "item", itemId: item.id } })}
            >
              <Picture
                url={item.image}
                alt=""
                sizes="80px"
                width={itemPictureWidth}
                height={itemPictureWidth * 1.25}
                placeholderColor={item.image_color}
                className="size-full"
              />
            </Option>
          ))}
        </div>
      </fieldset>
      {isDrawn && <ArrangementChoice draft={draft} onChange={onChange} />}
    </>
  );
}

/** How all items lie on the sheet. */
function ArrangementChoice({ draft, onChange }: Pick<PictureChoiceProps, "draft" | "onChange">) {
  const chosen = arrangementOf(draft);
  return (
    <fieldset>
      <legend className="mb-3 font-medium text-small">Arrangement</legend>
      <div className="flex flex-wrap gap-2">
        {arrangements.map((one) => (
          <PillRadio
            key={one}
            name="arrangement"
            value={one}
            checked={chosen === one}
            onChoose={() => onChange({ picture: { kind: "composed", arrangement: one } })}
          >
            {arrangementLabels[one]}
          </PillRadio>
        ))}
      </div>
    </fieldset>
  );
}

interface OptionProps {
  label: string;
  checked: boolean;
  onChoose: () => void;
  children: ReactNode;
}

function Option({ label, checked, onChoose, children }: OptionProps) {
  return (
    <label className="group block w-20 shrink-0 cursor-pointer">
      <input
        type="radio"
        name="picture"
        checked={checked}
        onChange={onChoose}
        className="peer sr-only"
      />
      <span
        className={cn(
          "block aspect-4/5 overflow-hidden rounded-md outline-offset-2 peer-focus-visible:ring-3 peer-focus-visible:ring-accent peer-focus-visible:ring-offset-2",
          checked ? "outline-2 outline-ink" : "outline-1 outline-line group-hover:outline-ink-soft",
        )}
      >
        {children}
      </span>
      <span className="mt-2 line-clamp-2 text-label">{label}</span>
    </label>
  );
}

function UploadedPicture({ userId, draft, onChange }: PictureChoiceProps) {
  const inputId = useId();
  const { picture } = draft;
  const upload = useMutation({
    mutationFn: (file: File) => uploadChosenPicture(userId, file),
    onSuccess: (url) => {
      const replaced = picture.kind === "uploaded" ? picture.url : null;
      onChange({ picture: { kind: "uploaded", url } });
      // The picture of a saved outfit stays until the outfit is saved with the new one, so only drafts delete theirs.
      if (replaced !== null && draft.savedPicture !== replaced) {
        deleteOutfitPicture(userId, replaced).catch(() => undefined);
      }
    },
    onError: (error) =>
      error instanceof PictureError
        ? toast("Invalid File", error.message, "danger")
        : toast("Upload Failed", messageOf(error, "The picture could not be uploaded."), "danger"),
  });

  function choose(file: File | undefined) {
    if (file === undefined) return;
    const problem = pictureFileError(file);
    if (problem !== undefined) toast("Invalid File", problem, "danger");
    else upload.mutate(file);
  }

  return (
    <>
      {picture.kind === "uploaded" && (
        <Option label="Your picture" checked onChoose={() => undefined}>
          <Picture
            // Another picture is another attempt: a file that could not be shown must not hide the next one.
            key={picture.url}
            url={picture.url}
            alt=""
            sizes="80px"
            width={outfitPictureWidth}
            height={outfitPictureWidth * 1.25}
            className="size-full"
          />
        </Option>
      )}
      <div className="w-20 shrink-0">
        <label
          htmlFor={inputId}
          className="flex aspect-4/5 cursor-pointer flex-col items-center justify-center gap-2 rounded-md border border-line-strong/60 border-dashed px-1 text-center text-ink-soft text-label transition-colors has-focus-visible:outline-2 has-focus-visible:outline-accent has-focus-visible:outline-offset-2 hover:border-ink hover:text-ink"
        >
          {upload.isPending ? (
            <Spinner />
          ) : (
            <ImagePlus aria-hidden="true" className="size-5" strokeWidth={1.6} />
          )}
          {upload.isPending ? "Uploading..." : "Upload a picture"}
          <input
            id={inputId}
            type="file"
            accept={acceptedPictures}
            disabled={upload.isPending}
            onChange={(event) => {
              choose(event.target.files?.[0]);
              // Lets the same file be chosen again, for example after a failure.
              event.target.value = "";
            }}
            className="sr-only"
          />
        </label>
        <span className="mt-2 block text-ink-soft text-label">At most 5 MB</span>
      </div>
    </>
  );
}
