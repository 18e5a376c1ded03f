import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { Field } from "@ui/field";
import { type FormEvent, useState } from "react";
import { Input } from "@/components/ui/input";
import { Picture } from "@/components/ui/picture";
import { itemPictureWidth } from "@/features/items/components/item-card-shape";
import { type Draft, nameError, type PickedItem } from "@/features/submissions/api/draft";
import { slots, trainingPhotosQuery } from "@/features/training-images/api/list-photos";
import { formatPrice } from "@/lib/format";
import { useSession } from "@/lib/session";
import { PictureChoice } from "./picture-choice";
import { PictureStage } from "./picture-stage";
import { TrainingPhotos } from "./training-photos";

interface ReviewOutfitProps {
  userId: string;
  draft: Draft;
  onChange: (change: Partial<Draft>) => void;
  onBack: () => void;
  onSubmit: () => void;
  submitting: boolean;
}

/** Step 2 of the wizard: name, picture and training photos, then the outfit is submitted. */
export function ReviewOutfit(props: ReviewOutfitProps) {
  const { userId, draft, onChange, onBack, onSubmit, submitting } = props;
  const { isAdmin } = useSession();
  const [isNameChecked, setNameChecked] = useState(false);
  const { data: photos } = useQuery(trainingPhotosQuery(userId));
  const error = nameError(draft.name);
  const isComplete = isAdmin || photos?.length === slots.length;

  function submit(event: FormEvent) {
    event.preventDefault();
    setNameChecked(true);
    if (error === undefined && isComplete) onSubmit();
  }

  return (
    <form
      onSubmit={submit}
      noValidate
      className="lg:grid lg:grid-cols-[minmax(0,28rem)_minmax(0,1fr)] lg:items-start lg:gap-x-16"
    >
      {/* What is typed or moved while it is saved would be in no outfit. */}
      <fieldset disabled={submitting} className="min-w-0 lg:sticky lg:top-24 lg:row-span-2">
        <legend className="sr-only">The picture as others see it</legend>
        <PictureStage draft={draft} onChange={onChange} />
      </fieldset>
      <fieldset disabled={submitting} className="flex min-w-0 flex-col gap-8 max-lg:mt-6">
        <legend className="sr-only">The outfit</legend>
        <PictureChoice userId={userId} draft={draft} onChange={onChange} />
        <Field
          label="Outfit name (optional)"
          error={isNameChecked ? error : undefined}
          hint="Left blank, it is named by today's date and time."
        >
          {(attributes) => (
            <Input
              {...attributes}
              value={draft.name}
              autoComplete="off"
              onBlur={() => setNameChecked(true)}
              onChange={(event) => onChange({ name: event.target.value })}
            />
          )}
        </Field>
        <SelectedItems items={draft.items} />
        {!isAdmin && <TrainingPhotos userId={userId} />}
      </fieldset>
      {/* On phones it stays above the navigation, wherever the page is scrolled to. */}
      <div className="mt-8 max-md:sticky lg:col-start-2 max-md:bottom-[calc(3.75rem+env(safe-area-inset-bottom))] max-md:z-20 max-md:-mx-4 max-md:border-line max-md:border-t max-md:bg-canvas max-md:px-4 max-md:py-3">
        {photos !== undefined && !isComplete && (
          <p id="submit-hint" className="mb-2 text-ink-soft text-small">
            Add your training photos to submit.
          </p>
        )}
        <div className="flex items-center justify-between gap-4">
          <Button size="lg" onClick={onBack}>
            Back
          </Button>
          <Button
            type="submit"
            variant="primary"
            size="lg"
            pending={submitting}
            disabled={!isComplete || draft.items.length === 0}
            aria-describedby={isComplete ? undefined : "submit-hint"}
          >
            Submit Outfit
          </Button>
        </div>
      </div>
    </form>
  );
}

function SelectedItems({ items }: { items: readonly PickedItem[] }) {
  const total = items.reduce((sum, { price }) => sum + price, 0);
  return (
    <section aria-labelledby="selected-items-title">
      <h2 id="selected-items-title" className="mb-3 font-medium text-small">
        Selected items ({items.length})
      </h2>
      <ul className="divide-y divide-line border-line border-y">
        {items.map((item) => (
          <li key={item.id} className="flex items-center gap-4 py-2">
            <Picture
              url={item.image}
              alt=""
              sizes="48px"
              width={itemPictureWidth}
              height={itemPictureWidth * 1.25}
              placeholderColor={item.image_color}
              className="h-15 w-12 shrink-0 rounded-sm"
            />
            <span className="min-w-0 flex-1 truncate text-small">{item.name}</span>
            <span className="text-small tabular-nums">{formatPrice(item.price)}</span>
          </li>
        ))}
      </ul>
      <p className="mt-3 flex justify-between text-small">
        <span className="text-ink-soft">Together</span>
        <span className="tabular-nums">{formatPrice(total)}</span>
      </p>
    </section>
  );
}
