import { capitalise } from "@/lib/format";
import { genders } from "@/lib/genders";
import type { AdminTable } from "@/lib/use-admin-table";
import { Select } from "./controls";

/** Narrows a table by gender, where its filters have one. */
export function GenderFilter({
  table: { request, setFilter },
}: {
  table: Pick<AdminTable<unknown>, "request" | "setFilter">;
}) {
  return (
    <Select
      isFilter
      aria-label="Gender"
      value={request.filters.gender ?? ""}
      onChange={(event) => setFilter("gender", event.target.value)}
    >
      <option value="">All genders</option>
      {genders.map((gender) => (
        <option key={gender} value={gender}>
          {capitalise(gender)}
        </option>
      ))}
    </Select>
  );
}
