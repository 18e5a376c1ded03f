import { cn } from "@ui/cn";
import { type ReactNode, useId, useState } from "react";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { Picture } from "@/components/ui/picture";

/** Fields that were saved by somebody else while they were edited here, and what to do about them. */
export interface Overtaken<Values> {
  /** Changed by both, to different values. */
  fields: readonly string[];
  /** Changed by the other person alone. They are kept. */
  others: readonly string[];
  mine: Values;
  theirs: Values;
  /** Saves with the other person's value in these fields, and with one's own in the rest. */
  resolve: (taken: readonly string[]) => void;
  /** Goes back to the form. The next save asks again. */
  dismiss: () => void;
}

/** How a field is called, and how a value of it is shown. */
export interface FieldView {
  label: string;
  /** For values that are no text, such as ids and pictures. */
  show?: (value: unknown) => ReactNode;
}

interface OvertakenDialogProps {
  /** What was edited, as in "brand". */
  noun: string;
  overtaken: Overtaken<object>;
  fields: Readonly<Record<string, FieldView>>;
  /** Saving waits for something; the question stays open. */
  pending?: boolean;
}

/**
 * Asks what is to be saved of a row that somebody else has saved since it was opened: for each field that both have changed, one's
 * own value or theirs. Cancel goes back to the form.
 */
export function OvertakenDialog({
  noun,
  overtaken,
  fields,
  pending = false,
}: OvertakenDialogProps) {
  const [taken, setTaken] = useState<readonly string[]>([]);
  const viewOf = (field: string) => fields[field] ?? { label: field };
  const others = overtaken.others.map((field) => viewOf(field).label);

  function choose(field: string, isTheirs: boolean) {
    const rest = taken.filter((one) => one !== field);
    setTaken(isTheirs ? [...rest, field] : rest);
  }

  return (
    <ConfirmDialog
      title={`Somebody else has changed this ${noun}`}
      text="It was saved after you opened it. Choose what to keep."
      confirmLabel="Save"
      pending={pending}
      onConfirm={() => overtaken.resolve(taken)}
      onClose={overtaken.dismiss}
    >
      <div className="mt-5 flex flex-col gap-5">
        {overtaken.fields.length > 1 && (
          <p className="flex gap-4 text-small">
            <button type="button" className="underline" onClick={() => setTaken([])}>
              Keep all of mine
            </button>
            <button type="button" className="underline" onClick={() => setTaken(overtaken.fields)}>
              Take all of theirs
            </button>
          </p>
        )}
        {overtaken.fields.map((field) => (
          <Alternatives
            key={field}
            view={viewOf(field)}
            mine={read(overtaken.mine, field)}
            theirs={read(overtaken.theirs, field)}
            isTheirs={taken.includes(field)}
            onChoose={(isTheirs) => choose(field, isTheirs)}
          />
        ))}
        {others.length > 0 && (
          <p className="text-caption text-ink-soft">
            Also changed, and kept as they saved it: {others.join(", ")}.
          </p>
        )}
      </div>
    </ConfirmDialog>
  );
}

const read = (values: object, field: string): unknown => (values as Record<string, unknown>)[field];

interface AlternativesProps {
  view: FieldView;
  mine: unknown;
  theirs: unknown;
  isTheirs: boolean;
  onChoose: (isTheirs: boolean) => void;
}

function Alternatives({ view, mine, theirs, isTheirs, onChoose }: AlternativesProps) {
  const name = useId();
  const choices = [
    { label: "Yours", value: mine, isChosen: !isTheirs },
    { label: "Theirs", value: theirs, isChosen: isTheirs },
  ];
  return (
    <fieldset>
      <legend className="mb-1.5 font-medium text-small">{view.label}</legend>
      <div className="relative grid gap-2 sm:grid-cols-2">
        {choices.map(({ label, value, isChosen }) => (
          <label
            key={label}
            className={cn(
              "flex min-h-11 cursor-pointer flex-col gap-1 rounded-md border bg-surface px-3 py-2 has-focus-visible:outline-2 has-focus-visible:outline-accent",
              isChosen ? "border-ink ring-1 ring-ink" : "border-line-strong/60",
            )}
          >
            <span className="flex items-center gap-2 text-caption text-ink-soft">
              <input
                type="radio"
                name={name}
                checked={isChosen}
                onChange={() => onChoose(label === "Theirs")}
                className="size-4 accent-ink"
              />
              {label}
            </span>
            <span className="max-h-40 overflow-y-auto whitespace-pre-line text-small [overflow-wrap:anywhere]">
              {isEmpty(value) ? <em className="text-ink-soft">Empty</em> : shown(view, value)}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

const isEmpty = (value: unknown): boolean =>
  value === "" ||
  value === null ||
  value === undefined ||
  (Array.isArray(value) && value.length === 0);

function shown({ show }: FieldView, value: unknown): ReactNode {
  return show === undefined ? String(value) : show(value);
}

/** Shows ids by their names, one in a line. */
export function showNames(nameOf: (id: string) => string): (value: unknown) => ReactNode {
  return (value) => (Array.isArray(value) ? value : [String(value)]).map(nameOf).join("\n");
}

export function showPicture(url: unknown): ReactNode {
  return (
    <Picture
      url={String(url)}
      alt="The picture"
      sizes="80px"
      width={240}
      height={240}
      className="size-20 rounded-sm border border-line"
    />
  );
}
