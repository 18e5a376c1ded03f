import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { Field } from "@ui/field";
import { SavingFields } from "@ui/saving-fields";
import { useIsShown } from "@ui/use-is-shown";
import { Dialog } from "radix-ui";
import { type FormEvent, useState } from "react";
import { Choices, Select } from "@/components/admin/controls";
import { EditDialog } from "@/components/admin/edit-dialog";
import { PanelFooter, useAskForUnadded } from "@/components/admin/form-footer";
import { SearchableSelect } from "@/components/admin/searchable-select";
import { Input } from "@/components/ui/input";
import { capitalise } from "@/lib/format";
import { genders } from "@/lib/genders";
import { brandsQuery, categoriesQuery } from "@/lib/vocabulary";
import { countItems, type ItemChanges, useEditItems } from "../api/edit-items";
import type { AdminItem } from "../api/items";
import { itemSchema } from "../api/save-item";
import { ColorsField } from "./item-fields";

const unchanged = { price: "", brand: "", category: "", gender: "", colors: [] as string[] };
type Texts = typeof unchanged;

/** What was chosen, without what is left as it is. */
function changesOf({ price, brand, category, gender, colors }: Texts): ItemChanges {
  const chosen = genders.find((one) => one === gender);
  return {
    ...(price.trim() !== "" && { price: Number(price) }),
    ...(brand !== "" && { brand }),
    ...(category !== "" && { category }),
    ...(chosen !== undefined && { gender: chosen }),
    ...(colors.length > 0 && { add_colors: colors }),
  };
}

function priceFault(price: string): string | undefined {
  if (price.trim() === "") return undefined;
  return itemSchema.shape.price.safeParse(price).error?.issues[0]?.message;
}

interface EditItemsProps {
  items: readonly AdminItem[];
  onDone: () => void;
  onClose: () => void;
}

/** One form for several items: what is filled in is the same for all of them afterwards, everything else stays. */
export function EditItems({ items, onDone, onClose }: EditItemsProps) {
  const [texts, setTexts] = useState(unchanged);
  const { data: brands } = useQuery(brandsQuery());
  const { data: categories } = useQuery(categoriesQuery());
  const edit = useEditItems();
  const isShown = useIsShown();
  const fault = priceFault(texts.price);
  const changes = changesOf(texts);
  const isEmpty = Object.keys(changes).length === 0;
  const set = (change: Partial<Texts>) => setTexts((before) => ({ ...before, ...change }));

  async function submit(event: FormEvent) {
    event.preventDefault();
    if (isEmpty || fault !== undefined || edit.isPending) return;
    // A toast tells about a failure, and the form stays.
    const isDone = await edit.mutateAsync({ items, changes }).then(
      () => true,
      () => false,
    );
    if (isDone && isShown()) onDone();
  }

  return (
    <EditDialog title={`Edit ${countItems(items.length)}`} isDirty={!isEmpty} onClose={onClose}>
      <form
        noValidate
        onSubmit={(event) => void submit(event)}
        className="flex flex-1 flex-col gap-5"
      >
        <SavingFields isSaving={edit.isPending} className="flex flex-col gap-5">
          <p className="text-ink-soft text-small">
            What is filled in here is the same for all of them afterwards. The rest stays. It is not
            undone by one button.
          </p>
          <Field label="Price ($)" error={fault}>
            {(attributes) => (
              <Input
                inputMode="decimal"
                placeholder="As it is"
                {...attributes}
                value={texts.price}
                onChange={(event) => set({ price: event.target.value })}
              />
            )}
          </Field>
          <Field label="Brand">
            {(attributes) => (
              <SearchableSelect
                {...attributes}
                prompt="As it is"
                rows={brands}
                value={texts.brand}
                onChange={(brand) => set({ brand })}
              />
            )}
          </Field>
          <Field label="Category" hint="Items of another category lose their subcategory.">
            {(attributes) => (
              <Select
                {...attributes}
                value={texts.category}
                onChange={(event) => set({ category: event.target.value })}
              >
                <Choices prompt="As it is" rows={categories} chosen={texts.category} />
              </Select>
            )}
          </Field>
          <Field label="Gender">
            {(attributes) => (
              <Select
                {...attributes}
                value={texts.gender}
                onChange={(event) => set({ gender: event.target.value })}
              >
                <option value="">As it is</option>
                {genders.map((one) => (
                  <option key={one} value={one}>
                    {capitalise(one)}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <ColorsField
            label="Add colors"
            value={texts.colors}
            onChange={(colors) => set({ colors })}
          />
        </SavingFields>
        <EditFooter
          count={items.length}
          isReady={!isEmpty && fault === undefined}
          pending={edit.isPending}
        />
      </form>
    </EditDialog>
  );
}

interface EditFooterProps {
  count: number;
  isReady: boolean;
  pending: boolean;
}

/** Within the panel, which knows whether a name is typed that is not chosen yet. */
function EditFooter({ count, isReady, pending }: EditFooterProps) {
  const askForUnadded = useAskForUnadded();
  return (
    <PanelFooter>
      <Button
        type="submit"
        variant="primary"
        disabled={!isReady}
        pending={pending}
        onClick={askForUnadded}
      >
        Change {countItems(count)}
      </Button>
      <Dialog.Close asChild>
        <Button>Cancel</Button>
      </Dialog.Close>
    </PanelFooter>
  );
}
