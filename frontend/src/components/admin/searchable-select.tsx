import { cn } from "@ui/cn";
import { isEnter, isEscape } from "@ui/keys";
import { type KeyboardEvent, useId, useState } from "react";
import { Input } from "@/components/ui/input";
import { Choices, Select } from "./controls";

interface Choice {
  id: string;
  name: string;
}

interface SearchableSelectProps {
  /** Of the field: label, error and hint. */
  id?: string;
  "aria-invalid"?: true | undefined;
  "aria-required"?: boolean | undefined;
  "aria-describedby"?: string | undefined;
  /** The empty choice. */
  prompt: string;
  /** Absent while they are loaded. */
  rows: readonly Choice[] | undefined;
  /** Id of the chosen row; empty for none. */
  value: string;
  onChange: (id: string) => void;
}

/** The browser's own select serves up to so many rows; in longer lists people search. */
const fewRows = 50;
/** Rows that are offered at a time. */
const mostOffered = 60;

/** One of many rows: a select, and for a long list a field that searches in it. */
export function SearchableSelect(props: SearchableSelectProps) {
  const { prompt, rows, value, onChange, ...attributes } = props;
  if (rows !== undefined && rows.length > fewRows) return <Combobox {...props} rows={rows} />;
  return (
    <Select {...attributes} value={value} onChange={(event) => onChange(event.target.value)}>
      <Choices prompt={prompt} rows={rows} chosen={value} />
    </Select>
  );
}

/** Rows whose name contains the text; those that begin with it come first. */
export function findChoices(rows: readonly Choice[], text: string): Choice[] {
  const wanted = text.trim().toLowerCase();
  const named = rows.map((row) => ({ row, place: row.name.toLowerCase().indexOf(wanted) }));
  const found = named.filter(({ place }) => place >= 0);
  const first = found.filter(({ place }) => place === 0);
  const others = found.filter(({ place }) => place > 0);
  return [...first, ...others].map(({ row }) => row);
}

function Combobox(props: SearchableSelectProps & { rows: readonly Choice[] }) {
  const { prompt, rows, value, onChange, ...attributes } = props;
  /** What is typed; null while the list is closed. */
  const [text, setText] = useState<string | null>(null);
  const [active, setActive] = useState(0);
  const listId = useId();
  const chosen = rows.find(({ id }) => id === value);
  const found = text === null ? [] : findChoices(rows, text);
  const offered = found.slice(0, mostOffered);
  const isOpen = text !== null;

  function type(next: string) {
    setText(next);
    setActive(0);
  }

  function choose(id: string) {
    setText(null);
    if (id !== value) onChange(id);
  }

  /** A name that was typed whole, or taken out, is a choice; of anything else the former choice stays. */
  function leave() {
    if (text === null) return;
    const wanted = text.trim().toLowerCase();
    const exact = rows.find(({ name }) => name.toLowerCase() === wanted);
    choose(wanted === "" ? "" : (exact?.id ?? value));
  }

  function handleKey(event: KeyboardEvent) {
    if (isEscape(event) && isOpen) setText(null);
    else if (isEnter(event) && isOpen) {
      const row = offered[active];
      if (row !== undefined) choose(row.id);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (!isOpen) type("");
      else if (offered.length > 0) {
        const step = event.key === "ArrowDown" ? 1 : offered.length - 1;
        setActive((active + step) % offered.length);
      }
    } else return;
    // Enter would submit the form.
    event.preventDefault();
  }

  return (
    // Escape closes the list, and not the panel around it (EditDialog).
    <div className="relative" {...(isOpen && { "data-own-escape": true })}>
      <Input
        {...attributes}
        role="combobox"
        aria-expanded={isOpen}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={offered.length > 0 ? `${listId}-${active}` : undefined}
        autoComplete="off"
        placeholder={prompt}
        value={text ?? chosen?.name ?? (value === "" ? "" : "Not in the list")}
        onFocus={(event) => event.target.select()}
        onClick={() => {
          if (!isOpen) type("");
        }}
        onChange={(event) => type(event.target.value)}
        onKeyDown={handleKey}
        onBlur={leave}
      />
      {isOpen && (
        <div
          id={listId}
          role="listbox"
          aria-label="Choices"
          className="absolute inset-x-0 top-full z-20 mt-1 max-h-64 overflow-y-auto rounded-md border border-line bg-raised py-1 shadow-raised"
        >
          {offered.map(({ id, name }, index) => (
            <Option
              key={id}
              id={`${listId}-${index}`}
              name={name}
              isActive={index === active}
              isChosen={id === value}
              onChoose={() => choose(id)}
            />
          ))}
          {offered.length === 0 && (
            <p className="px-4 py-2 text-ink-soft text-small">Nothing is called that.</p>
          )}
          {found.length > offered.length && (
            <p className="px-4 py-2 text-caption text-ink-soft">
              {found.length - offered.length} more. Type a part of the name.
            </p>
          )}
        </div>
      )}
    </div>
  );
}

interface OptionProps {
  id: string;
  name: string;
  isActive: boolean;
  isChosen: boolean;
  onChoose: () => void;
}

function Option({ id, name, isActive, isChosen, onChoose }: OptionProps) {
  return (
    <div
      ref={(element) => {
        if (isActive) element?.scrollIntoView?.({ block: "nearest" });
      }}
      id={id}
      role="option"
      aria-selected={isChosen}
      // The keys are those of the field, which keeps the focus.
      tabIndex={-1}
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
      onKeyDown={undefined}
      className={cn(
        "flex min-h-9 cursor-pointer items-center px-4 text-small pointer-coarse:min-h-11",
        isActive && "bg-sheen",
        isChosen && "font-medium",
      )}
    >
      {name}
    </div>
  );
}
