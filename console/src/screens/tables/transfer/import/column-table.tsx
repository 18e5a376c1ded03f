import type { ReactNode } from "react";
import { Text } from "@/components/text";
import type { FilePreview } from "./read-file";

const samples = 3;

interface ColumnTableProps {
  preview: FilePreview;
  /** Heading of the column with the choices. */
  choiceLabel: string;
  /** Renders the choice for the file's column with this index. */
  renderChoice: (index: number) => ReactNode;
}

/** A row for each column of the file: its title, its first values, and the choice for it. */
export function ColumnTable({ preview, choiceLabel, renderChoice }: ColumnTableProps) {
  return (
    <div className="overflow-x-auto rounded-sm border border-line">
      <table className="w-full text-left text-caption">
        <thead>
          <tr className="border-line border-b bg-canvas text-label text-ink-soft">
            <th className="px-2.5 py-1.5 font-medium">Column of the file</th>
            <th className="px-2.5 py-1.5 font-medium max-md:hidden">First values</th>
            <th className="px-2.5 py-1.5 font-medium">{choiceLabel}</th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line-soft">
          {preview.titles.map((title, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: columns of a file have no identity but their place.
            <tr key={index}>
              <td className="max-w-48 break-words px-2.5 py-1.5 max-md:max-w-28">
                {title === "" ? (
                  <span className="text-ink-soft">Column {index + 1}</span>
                ) : (
                  <Text>{title}</Text>
                )}
              </td>
              <td className="max-w-0 truncate px-2.5 py-1.5 font-mono text-ink-soft text-label max-md:hidden md:w-1/3">
                <Text>{sampleOf(preview, index)}</Text>
              </td>
              <td className="px-2.5 py-1">{renderChoice(index)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function sampleOf({ rows }: FilePreview, index: number): string {
  return rows
    .slice(0, samples)
    .map((row) => row[index] ?? "")
    .map((value) => (value === "" ? "∅" : value.slice(0, 40)))
    .join(" · ");
}
