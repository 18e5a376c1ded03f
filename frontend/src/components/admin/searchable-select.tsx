import { cn } from "@ui/cn";
import { isEnter, isEscape } from "@ui/keys";
import { type KeyboardEvent, useId, useState } from "react";
import { Input } from "@/components/ui/input";
import { Choices, Select } from "./controls";
import { useUnadded } from "./form-work";

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

/** What a search is doing: whether its list is open, which row the keys are at, and what is typed. */
interface Search {
  isOpen: boolean;
  /** Place of the row that Enter chooses; -1 while nothing was typed and no arrow was pressed. */
  active: number;
  /** Null until something is typed: the field shows the chosen name. */
  text: string | null;
}

const closed: Search = { isOpen: false, active: -1, text: null };

/** Looking at the list changes nothing: only a row that is named or pressed is chosen, and only a deleted text takes the choice out. */
function useSearch(rows: readonly Choice[], value: string, onChange: (id: string) => void) {
  const [search, setSearch] = useState(closed);
  const [searched, setSearched] = useState(value);
  // A brand that was made beside the field, or a stored row that is taken over, ends the search.
  if (searched !== value) {
    setSearched(value);
    setSearch(closed);
  }
  const { isOpen, active, text } = search;
  const found = isOpen ? findChoices(rows, text ?? "") : [];
  const offered = found.slice(0, mostOffered);

  function choose(id: string) {
    setSearch(closed);
    if (id !== value) onChange(id);
  }

  /** What is neither a name nor blank stays in the field, with an error. */
  function leave() {
    const wanted = text?.trim().toLowerCase();
    const exact = rows.find(({ name }) => name.toLowerCase() === wanted);
    if (wanted === "") choose("");
    else if (exact !== undefined) choose(exact.id);
    else setSearch({ ...closed, text });
  }

  function open() {
    setSearch({ ...closed, isOpen: true, text });
  }

  function step(direction: 1 | -1) {
    const last = offered.length - 1;
    const next = active + direction < 0 ? last : active + direction;
    setSearch({ ...search, active: next > last ? 0 : next });
  }

  function handleKey(event: KeyboardEvent) {
    if (isEscape(event) && isOpen) setSearch(closed);
    else if (isEnter(event) && isOpen) {
      const row = offered[active];
      if (row !== undefined) choose(row.id);
      else if (text === null) setSearch(closed);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (!isOpen) open();
      else step(event.key === "ArrowDown" ? 1 : -1);
    } else return;
    // Enter would submit the form.
    event.preventDefault();
  }

  return {
    ...search,
    offered,
    /** How many more rows match than are offered. */
    more: found.length - offered.length,
    open,
    type: (next: string) => setSearch({ isOpen: true, active: 0, text: next }),
    choose,
    leave,
    handleKey,
  };
}

function Combobox(props: SearchableSelectProps & { rows: readonly Choice[] }) {
  const { prompt, rows, value, onChange, ...attributes } = props;
  const search = useSearch(rows, value, onChange);
  const { isOpen, active, text, offered, more } = search;
  const listId = useId();
  const chosen = rows.find(({ id }) => id === value);
  const isTyped = text !== null && text.trim() !== "";
  const isUnknown = isTyped && !isOpen;
  // Saved now, the form would have the former choice, which is nowhere to be seen.
  useUnadded(isTyped);

  return (
    // Escape closes the list, and not the panel around it (EditDialog).
    <div className="relative" {...(isOpen && { "data-own-escape": true })}>
      <Input
        {...attributes}
        {...(isUnknown && {
          "aria-invalid": true,
          "aria-describedby": [`${listId}-error`, attributes["aria-describedby"] ?? ""].join(" "),
        })}
        role="combobox"
        aria-expanded={isOpen}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={offered[active] !== undefined ? `${listId}-${active}` : undefined}
        autoComplete="off"
        placeholder={prompt}
        value={text ?? chosen?.name ?? (value === "" ? "" : "Not in the list")}
        onFocus={(event) => event.target.select()}
        onClick={(event) => {
          if (isOpen) return;
          search.open();
          // The first letter takes the place of the name that stands there.
          event.currentTarget.select();
        }}
        onChange={(event) => search.type(event.target.value)}
        onKeyDown={search.handleKey}
        onBlur={search.leave}
      />
      <p id={`${listId}-error`} aria-live="polite" className="text-caption text-danger">
        {isUnknown && "Choose one from the list."}
      </p>
      {isOpen && (
        <div
          id={listId}
          role="listbox"
          aria-label="Choices"
          tabIndex={-1}
          // A press on its scrollbar would take the focus from the field, which closes the list.
          onMouseDown={(event) => event.preventDefault()}
          className="absolute inset-x-0 top-full z-20 mt-1 max-h-64 overflow-y-auto rounded-md border border-line bg-raised py-1 shadow-raised"
        >
          {offered.map(({ id, name }, index) => (
            <Option
              key={id}
              id={`${listId}-${index}`}
              name={name}
              isActive={index === active}
              isChosen={id === value}
              onChoose={() => search.choose(id)}
            />
          ))}
          {offered.length === 0 && (
            <p className="px-4 py-2 text-ink-soft text-small">Nothing is called that.</p>
          )}
          {more > 0 && (
            <p className="px-4 py-2 text-caption text-ink-soft">
              {more} more. Type a part of the name.
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
