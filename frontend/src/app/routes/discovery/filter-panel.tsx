import { FilterFields, type FilterFieldsProps } from "./filter-fields";

/** The filters between the search box and the results, on tablets and wider. */
export function FilterPanel(props: FilterFieldsProps) {
  return (
    <section
      aria-label="Filters"
      className="mt-4 rounded-lg border border-line bg-surface px-6 pt-5 pb-6"
    >
      <FilterFields {...props} />
    </section>
  );
}
