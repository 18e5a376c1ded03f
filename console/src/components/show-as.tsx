import { Button } from "@ui/button";
import { Code2 } from "lucide-react";
import { useState } from "react";
import { CodeBlock } from "@/components/code-block";
import { Dialog } from "@/components/dialog";
import { Tabs } from "@/components/tabs";
import { ToolLabel } from "@/components/tool-label";

/** An action in three languages. Keys stand as `$SUPABASE_KEY`, so that none is shown, copied or logged. */
export interface ActionForms {
  sql?: string | undefined;
  curl?: string | undefined;
  javascript?: string | undefined;
}

const languages = [
  { value: "sql", label: "SQL" },
  { value: "curl", label: "curl" },
  { value: "javascript", label: "supabase-js" },
] as const;

interface ShowAsProps {
  forms: ActionForms;
  onClose: () => void;
  /** A description of the action, for example "Read public.items". */
  title: string;
}

/** Shows an action as SQL, curl and supabase-js; run, each has the same effect as the console's button. */
export function ShowAsDialog({ forms, onClose, title }: ShowAsProps) {
  const offered = languages.filter(({ value }) => forms[value] !== undefined);
  const [chosen, setChosen] = useState<string>(offered[0]?.value ?? "sql");
  const current = offered.find(({ value }) => value === chosen);
  return (
    <Dialog title={title} width="wide" isDirty={false} onClose={onClose}>
      <Tabs label="Language" value={chosen} onChange={setChosen} tabs={offered}>
        <div className="pt-3">
          {current !== undefined && (
            <CodeBlock code={forms[current.value] ?? ""} label={current.label} />
          )}
          {chosen !== "sql" && (
            <p className="mt-2 text-ink-soft text-label">
              $SUPABASE_KEY is your publishable or secret key; <code>selvedge keys</code> prints
              them.
            </p>
          )}
        </div>
      </Tabs>
    </Dialog>
  );
}

/** The button that opens the dialog. */
export function ShowAs({ forms, title }: Omit<ShowAsProps, "onClose">) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button size="dense" variant="quiet" title="Show as" onClick={() => setOpen(true)}>
        <Code2 aria-hidden="true" className="size-3.5" />
        <ToolLabel>Show as</ToolLabel>
      </Button>
      {isOpen && <ShowAsDialog forms={forms} title={title} onClose={() => setOpen(false)} />}
    </>
  );
}
