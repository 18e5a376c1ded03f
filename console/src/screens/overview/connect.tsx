import { useSession } from "@/api/session";
import { CodeBlock } from "@/components/code-block";
import { Dialog } from "@/components/dialog";

/** The five lines with which an app reads its first rows. The publishable key may be in a browser; policies protect the data. */
export function connectLines(url: string, key: string, table: string): string {
  return [
    'import { createClient } from "@supabase/supabase-js";',
    `const supabase = createClient(${JSON.stringify(url)}, ${JSON.stringify(key)});`,
    `const { data, error } = await supabase.from(${JSON.stringify(table)}).select().limit(10);`,
    "if (error) throw error;",
    "console.log(data);",
  ].join("\n");
}

/** The lines with this project's address and key. */
export function ConnectLines({ table }: { table: string | undefined }) {
  const { api_url: url, publishable_key: key } = useSession();
  return (
    <div className="grid gap-2">
      <CodeBlock label="installation" code="npm install @supabase/supabase-js" />
      <CodeBlock label="code" code={connectLines(url ?? "", key ?? "", table ?? "items")} />
    </div>
  );
}

interface ConnectDialogProps {
  table: string | undefined;
  onClose: () => void;
}

export function ConnectDialog({ table, onClose }: ConnectDialogProps) {
  return (
    <Dialog
      title="Connect an app"
      description="The publishable key may be in a browser: what it can read and change is decided by your policies."
      width="wide"
      isDirty={false}
      onClose={onClose}
    >
      <ConnectLines table={table} />
    </Dialog>
  );
}
