/** Chooses as whom something runs: the own login, a role, a user found by mail or id, or claims typed as JSON. */
import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { cn } from "@ui/cn";
import { ChevronDown, UserRound } from "lucide-react";
import { useDeferredValue, useId, useState } from "react";
import { useCatalog } from "@/api/catalog";
import { request } from "@/api/client";
import { describeSubject, type Subject } from "@/api/subject";
import { ErrorNotice } from "@/components/error-state";
import { Field } from "@/components/field";
import { Input, Select, Textarea } from "@/components/input";
import { Popover } from "@/components/popover";
import { Text } from "@/components/text";
import { findRounded, roundedFault } from "@/lib/json-text";

interface SubjectPickerProps {
  value: Subject;
  onChange: (subject: Subject) => void;
  /** The verb in the button's name, such as "Run as". */
  verb?: string;
  /** Kinds that make no sense here are left out. */
  without?: readonly Subject["kind"][];
}

const kinds: readonly { kind: Subject["kind"]; name: string; explanation: string }[] = [
  { kind: "admin", name: "Own login", explanation: "The database role of your account." },
  { kind: "service_role", name: "service_role", explanation: "The secret key; no policies apply." },
  { kind: "anon", name: "anon", explanation: "The publishable key without a session." },
  { kind: "user", name: "A user", explanation: "With the claims of a new session." },
  { kind: "claims", name: "Claims", explanation: "Any claims, as JSON." },
];

export function SubjectPicker({
  value,
  onChange,
  verb = "Run as",
  without = [],
}: SubjectPickerProps) {
  const [isOpen, setOpen] = useState(false);
  // A user or claims are chosen in a second step, so that the kind alone changes nothing yet.
  const [kind, setKind] = useState(value.kind);
  // A press beside the panel closes it, and loses nothing.
  const [typedClaims, setTypedClaims] = useState<string | null>(null);
  const choose = (subject: Subject) => {
    setTypedClaims(null);
    onChange(subject);
    setOpen(false);
  };
  return (
    <Popover
      label={verb}
      open={isOpen}
      onOpenChange={(open) => {
        setOpen(open);
        if (open) setKind(value.kind);
      }}
      trigger={
        <Button size="dense" aria-label={`${verb} ${describeSubject(value)}`}>
          <UserRound aria-hidden="true" className="size-3.5 text-ink-soft" />
          <span className="max-w-36 truncate">
            <Text>{describeSubject(value)}</Text>
          </span>
          <ChevronDown aria-hidden="true" className="size-3.5 text-ink-soft" />
        </Button>
      }
    >
      <fieldset>
        <legend className="mb-1.5 font-medium text-caption">{verb}</legend>
        {kinds
          .filter((option) => !without.includes(option.kind))
          .map((option) => (
            <label
              key={option.kind}
              className={cn(
                "flex cursor-pointer items-baseline gap-2 rounded-[4px] px-2 py-1.5 text-caption hover:bg-hover",
                kind === option.kind && "bg-selected",
              )}
            >
              <input
                type="radio"
                name="subject"
                className="accent-accent"
                checked={kind === option.kind}
                onChange={() => {
                  setKind(option.kind);
                  if (option.kind === "user" || option.kind === "claims") return;
                  onChange({ kind: option.kind });
                }}
              />
              <span>
                <span className="font-medium">{option.name}</span>
                <span className="block text-ink-soft text-label">{option.explanation}</span>
              </span>
            </label>
          ))}
      </fieldset>
      {kind === "user" && <UserChoice value={value} onChoose={choose} />}
      {kind === "claims" && (
        <ClaimsChoice value={value} onChoose={choose} typed={typedClaims} onType={setTypedClaims} />
      )}
    </Popover>
  );
}

interface ChoiceProps {
  value: Subject;
  onChoose: (subject: Subject) => void;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Users whose mail begins with the text, or the one with this id. */
function useUsers(search: string) {
  const table = useCatalog()?.tables.find(({ schema, name }) => {
    return schema === "auth" && name === "users";
  });
  const oid = table?.oid;
  return useQuery({
    queryKey: ["subject-users", oid, search],
    enabled: oid !== undefined,
    queryFn: async ({ signal }) => {
      const isId = uuid.test(search);
      const filter = isId
        ? { column: "id", operator: "eq", value: search }
        : { column: "email", operator: "ilike", value: `${escapePattern(search)}%` };
      const body = await request<{ rows: (string | null)[][] }>("/api/rows/read", {
        json: {
          table: oid,
          columns: ["id", "email"],
          filters: search === "" ? [] : [filter],
          sort: [],
          limit: 8,
        },
        signal,
      });
      return body.rows.map(([id, email]) => ({ id: id ?? "", email: email ?? "" }));
    },
  });
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\%_]/g, "\\$&");
}

function UserChoice({ value, onChoose }: ChoiceProps) {
  const [search, setSearch] = useState("");
  const [aal, setAal] = useState<"aal1" | "aal2">(
    value.kind === "user" ? (value.aal ?? "aal1") : "aal1",
  );
  const users = useUsers(useDeferredValue(search.trim()));
  const listId = useId();
  return (
    <div className="mt-2 space-y-2 border-line border-t pt-2.5">
      <div className="grid grid-cols-[minmax(0,1fr)_5.5rem] gap-2">
        <Input
          type="search"
          aria-label="Find a user by mail or id"
          aria-controls={listId}
          placeholder="Mail or id"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
        <Select
          aria-label="Assurance level"
          value={aal}
          onChange={(event) => setAal(event.target.value === "aal2" ? "aal2" : "aal1")}
        >
          <option>aal1</option>
          <option>aal2</option>
        </Select>
      </div>
      {users.error !== null && <ErrorNotice title="Users could not be read" error={users.error} />}
      <ul id={listId} aria-label="Users" className="space-y-0.5">
        {(users.data ?? []).map(({ id, email }) => (
          <li key={id}>
            <button
              type="button"
              onClick={() => onChoose({ kind: "user", id, aal })}
              className="block w-full rounded-[4px] px-2 py-1 text-left text-caption hover:bg-hover"
            >
              <span className="block truncate">
                <Text>{email === "" ? "without mail" : email}</Text>
              </span>
              <span className="block truncate font-mono text-ink-soft text-micro">{id}</span>
            </button>
          </li>
        ))}
      </ul>
      {users.data?.length === 0 && (
        <p className="px-2 text-caption text-ink-soft">No user's mail begins like this.</p>
      )}
    </div>
  );
}

const exampleClaims = { role: "authenticated", sub: "00000000-0000-0000-0000-000000000000" };

interface ClaimsChoiceProps extends ChoiceProps {
  /** What was typed before the panel was closed; null when nothing was. */
  typed: string | null;
  onType: (text: string) => void;
}

function ClaimsChoice({ value, onChoose, typed, onType }: ClaimsChoiceProps) {
  const text =
    typed ?? JSON.stringify(value.kind === "claims" ? value.claims : exampleClaims, null, 2);
  const [error, setError] = useState<string>();
  const apply = () => {
    try {
      const claims: unknown = JSON.parse(text);
      if (typeof claims !== "object" || claims === null || Array.isArray(claims)) {
        setError("Claims are a JSON object.");
        return;
      }
      const rounded = findRounded(text);
      if (rounded !== null) {
        setError(roundedFault(rounded));
        return;
      }
      onChoose({ kind: "claims", claims: { ...claims } });
    } catch (reason) {
      setError(reason instanceof Error ? reason.message : "This is not JSON.");
    }
  };
  return (
    <div className="mt-2 space-y-2 border-line border-t pt-2.5">
      <Field label="Claims of the token" error={error} hint="`role` chooses the database role.">
        {(attributes) => (
          <Textarea
            {...attributes}
            mono
            rows={7}
            value={text}
            onChange={(event) => onType(event.target.value)}
          />
        )}
      </Field>
      <Button size="dense" variant="primary" onClick={apply}>
        Use these claims
      </Button>
    </div>
  );
}
