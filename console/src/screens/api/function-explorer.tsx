/** A function of the API: its arguments as JSON, and the call. */
import { useState } from "react";
import type { FunctionSummary } from "@/api/catalog-model";
import { CheckboxField } from "@/components/checkbox-field";
import { Field } from "@/components/field";
import { Textarea } from "@/components/input";
import { Text } from "@/components/text";
import { useKeptState } from "@/lib/forms/kept-state";
import { type FunctionRequest, findJsonProblem, suggestArguments } from "./api-request";
import { LiveRequest } from "./live-request";

export function FunctionExplorer({ fn }: { fn: FunctionSummary }) {
  const [body, setBody] = useKeptState(`api ${fn.schema}.${fn.name}(${fn.arguments})`, () =>
    suggestArguments(fn.arguments),
  );
  const [rollsBack, setRollsBack] = useState(true);
  const request: FunctionRequest = {
    kind: "function",
    schema: fn.schema,
    name: fn.name,
    body,
    rollsBack,
  };
  const problem = findJsonProblem(body);
  return (
    <div className="mx-auto w-full max-w-4xl space-y-4 p-4">
      <p className="break-words font-mono text-caption text-ink-soft">
        <Text>{`${fn.name}(${fn.arguments}) → ${fn.returns}`}</Text>
      </p>
      <Field label="Arguments, JSON" error={problem ?? undefined}>
        {(attributes) => (
          <Textarea
            {...attributes}
            mono
            rows={6}
            value={body}
            onChange={(event) => setBody(event.target.value)}
          />
        )}
      </Field>
      <CheckboxField
        label="Undo what it writes after the answer (tx=rollback)"
        checked={rollsBack}
        onChange={setRollsBack}
      />
      <LiveRequest request={request} problem={problem} />
    </div>
  );
}
