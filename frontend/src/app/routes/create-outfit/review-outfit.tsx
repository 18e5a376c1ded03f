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
    <form onSubmit={submit} noValidate className="grid gap-8 lg:grid-cols-[1fr_22rem] lg:gap-12">
      {/* What is typed while it is saved would be in no outfit. */}
      <fieldset disabled={submitting} className="flex min-w-0 flex-col gap-8">
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
        <PictureChoice userId={userId} draft={draft} onChange={onChange} />
        {!isAdmin && <TrainingPhotos userId={userId} />}
      </fieldset>
      <SelectedItems items={draft.items} />
      <div className="flex items-center justify-between gap-4 lg:col-span-2">
        <Button size="lg" onClick={onBack}>
          Back
        </Button>
        <Button
          type="submit"
          variant="primary"
          size="lg"
          pending={submitting}
          disabled={!isComplete || draft.items.length === 0}
        >
          Submit Outfit
        </Button>
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
          <li key={item.id} className="flex items-center gap-4 py-3">
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
