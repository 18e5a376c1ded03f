/** Types of the schema, as `selvedge gen types` writes them. */
import { useQuery } from "@tanstack/react-query";
import { useSearchParams } from "react-router";
import { send, withQuery } from "@/api/client";
import { CodeBlock } from "@/components/code-block";
import { ErrorNotice } from "@/components/error-state";
import { Field } from "@/components/field";
import { Select } from "@/components/input";
import { SkeletonRows } from "@/components/skeleton";

const languages = [
  { value: "typescript", name: "TypeScript" },
  { value: "go", name: "Go" },
  { value: "swift", name: "Swift" },
  { value: "python", name: "Python" },
];

export function TypesPage() {
  const [params, setParams] = useSearchParams();
  const language = params.get("lang") ?? "typescript";
  const types = useQuery({
    queryKey: ["types", language],
    queryFn: async ({ signal }) =>
      (
        await send(withQuery("/api/types", { lang: language, schema: "public" }), { signal })
      ).text(),
  });
  return (
    <div className="mx-auto w-full max-w-4xl space-y-4 p-4 md:p-6">
      <div className="max-w-48">
        <Field label="Language">
          {(attributes) => (
            <Select
              {...attributes}
              value={language}
              onChange={(event) =>
                setParams({ types: "", lang: event.target.value }, { replace: true })
              }
            >
              {languages.map(({ value, name }) => (
                <option key={value} value={value}>
                  {name}
                </option>
              ))}
            </Select>
          )}
        </Field>
      </div>
      {types.isPending ? (
        <SkeletonRows rows={12} label="Writing the types" />
      ) : types.isError ? (
        <ErrorNotice
          title="The types could not be written"
          error={types.error}
          onRetry={() => void types.refetch()}
        />
      ) : (
        <CodeBlock code={types.data} label="types" />
      )}
      <p className="text-ink-soft text-label">
        The same by command: <code>selvedge gen types --lang {language}</code>
      </p>
    </div>
  );
}
