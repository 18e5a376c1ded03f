import { Button } from "@ui/button";
import { ListFilter, X } from "lucide-react";
import { AppliedInput } from "@/components/applied-input";
import { Field } from "@/components/field";
import { Select } from "@/components/input";
import { Popover } from "@/components/popover";
import { SearchInput } from "@/components/search-input";
import { Text } from "@/components/text";
import { formatTime } from "@/lib/format-time";
import {
  classifySearch,
  describeFilter,
  filterLabels,
  type LogFilter,
  logServices,
  statusClasses,
} from "./log-filter";

interface LogToolbarProps {
  filter: LogFilter;
  /** Changes some of the filters; the others stay as they are at that moment. */
  onChange: (change: Partial<LogFilter>) => void;
}

/** One search field for everything that can be pasted, the filters in full, and a chip for each that is set. */
export function LogToolbar({ filter, onChange }: LogToolbarProps) {
  const chips = describeFilter(filter, formatTime);
  return (
    <div className="flex min-h-12 flex-wrap items-center gap-2 border-line-soft border-b px-4 py-1.5 max-md:px-3">
      <SearchInput
        label="Path, status, >200ms or request id"
        className="w-72 min-w-0 max-md:flex-1"
        value={filter.path}
        onChange={(text) => {
          if (text === filter.path) return;
          const found = classifySearch(text);
          onChange({ path: "", ...found });
        }}
      />
      <Popover
        label="Filters"
        trigger={
          <Button size="dense">
            <ListFilter aria-hidden="true" className="size-3.5" />
            Filters
          </Button>
        }
      >
        <FilterForm filter={filter} onChange={onChange} />
      </Popover>
      <ul aria-label="Set filters" className="flex flex-wrap gap-1.5">
        {chips
          .filter(({ keys }) => !keys.includes("path"))
          .map(({ keys, label, value }) => (
            <li key={keys.join()}>
              <button
                type="button"
                aria-label={`Remove the filter ${label} ${value}`}
                onClick={() => onChange(Object.fromEntries(keys.map((key) => [key, ""])))}
                className="inline-flex h-7 max-w-72 items-center gap-1.5 rounded-sm border border-line bg-surface px-2 text-label hover:bg-hover pointer-coarse:h-11"
              >
                <span className="text-ink-soft">{label}</span>
                <span className="truncate">
                  <Text>{value}</Text>
                </span>
                <X aria-hidden="true" className="size-3 shrink-0 text-ink-soft" />
              </button>
            </li>
          ))}
      </ul>
    </div>
  );
}

const textFilters = ["path", "user", "requestId", "minMs"] as const;

function FilterForm({ filter, onChange }: LogToolbarProps) {
  const set = onChange;
  return (
    <div className="grid gap-3">
      <Field label={filterLabels.service}>
        {(attributes) => (
          <Select
            {...attributes}
            value={filter.service}
            onChange={(event) => set({ service: event.target.value })}
          >
            <option value="">All services</option>
            {logServices.map((service) => (
              <option key={service}>{service}</option>
            ))}
          </Select>
        )}
      </Field>
      <Field label={filterLabels.status}>
        {(attributes) => (
          <Select
            {...attributes}
            value={filter.status}
            onChange={(event) => set({ status: event.target.value })}
          >
            <option value="">Any status</option>
            {statusClasses.map((status) => (
              <option key={status}>{status}</option>
            ))}
            {/^\d+$/.test(filter.status) && <option>{filter.status}</option>}
          </Select>
        )}
      </Field>
      {textFilters.map((key) => (
        <Field
          key={key}
          label={key === "minMs" ? "Takes at least (milliseconds)" : filterLabels[key]}
        >
          {(attributes) => (
            <AppliedInput
              {...attributes}
              mono={key !== "minMs"}
              inputMode={key === "minMs" ? "numeric" : "text"}
              applied={filter[key]}
              onApply={(text) => set({ [key]: text.trim() })}
            />
          )}
        </Field>
      ))}
      {(["from", "to"] as const).map((key) => (
        <Field key={key} label={filterLabels[key]}>
          {(attributes) => (
            <AppliedInput
              {...attributes}
              type="datetime-local"
              step={1}
              applied={localInputValue(filter[key])}
              onApply={(text) => {
                const time = new Date(text);
                set({ [key]: Number.isNaN(time.getTime()) ? "" : time.toISOString() });
              }}
            />
          )}
        </Field>
      ))}
    </div>
  );
}

/** The time as an input of the browser's own kind takes it, in the reader's zone. */
function localInputValue(iso: string): string {
  if (iso === "") return "";
  const time = new Date(iso);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
