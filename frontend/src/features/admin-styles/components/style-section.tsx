import { CsvImport } from "@/components/admin/csv-import";
import type { Column } from "@/components/admin/data-table";
import type { FieldSpec } from "@/components/admin/entity-form";
import { EntitySection } from "@/components/admin/entity-section";
import { Thumbnail } from "@/components/admin/thumbnail";
import { picturePlaces } from "@/lib/admin-pictures";
import { useAdminTable } from "@/lib/use-admin-table";
import {
  readStyles,
  type Style,
  type StyleTable,
  styleSchema,
  useDeleteStyle,
  useSaveStyle,
} from "../api/styles";

const columns: readonly Column<Style>[] = [
  {
    header: "Name",
    sort: "name",
    cell: ({ name, image }) => (
      <span className="flex items-center gap-3">
        <Thumbnail url={image} name={name} />
        <span className="font-medium [overflow-wrap:anywhere]">{name}</span>
      </span>
    ),
  },
  {
    header: "Description",
    className: "max-md:hidden text-ink-soft",
    cell: ({ description }) => <span className="line-clamp-1">{description}</span>,
  },
];

const texts = {
  styles: {
    title: "Item Styles",
    noun: "Style",
    things: "styles",
    thing: "style",
    pageSize: 10,
    place: picturePlaces.style,
  },
  outfit_styles: {
    title: "Outfit Styles",
    noun: "Outfit Style",
    things: "outfit styles",
    thing: "outfit style",
    pageSize: 50,
    place: picturePlaces.outfitStyle,
  },
} as const;

export function ItemStyleSection() {
  return <StyleSection kind="styles" />;
}

export function OutfitStyleSection() {
  return <StyleSection kind="outfit_styles" />;
}

function StyleSection({ kind }: { kind: StyleTable }) {
  const { title, noun, things, thing, pageSize, place } = texts[kind];
  const table = useAdminTable({
    section: kind,
    read: readStyles[kind],
    pageSize,
    sort: "name",
    ascending: true,
  });
  const save = useSaveStyle(kind);
  const remove = useDeleteStyle(kind);
  const fields: readonly FieldSpec[] = [
    { kind: "text", name: "name", label: "Name", isRequired: true },
    {
      kind: "picture",
      name: "image",
      label: "Image",
      place,
      hint: "PNG, JPG or WebP (max 5MB)",
    },
    { kind: "long-text", name: "description", label: "Description" },
    { kind: "long-text", name: "meta_description", label: "Meta description" },
  ];
  return (
    <EntitySection
      title={title}
      noun={noun}
      searchPlaceholder={`Search ${things}...`}
      table={table}
      columns={columns}
      empty={`No ${things} found`}
      emptySearch={(term) => `No ${things} found matching "${term}"`}
      files={<CsvImport target={kind} noun={things} />}
      fields={fields}
      schema={styleSchema}
      toValues={(style) => ({
        name: style?.name ?? "",
        image: style?.image ?? "",
        description: style?.description ?? "",
        meta_description: style?.meta_description ?? "",
      })}
      onSave={save.mutateAsync}
      onDelete={remove.mutateAsync}
      confirmation={() => `Are you sure you want to delete this ${thing}?`}
      showsRange={kind === "outfit_styles"}
    />
  );
}
