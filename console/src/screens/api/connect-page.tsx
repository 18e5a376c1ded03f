/** The five lines that connect an app, and the addresses behind them. */
import { useSession } from "@/api/session";
import { CodeBlock } from "@/components/code-block";
import { CopyButton } from "@/components/copy-button";
import { connectLines } from "./api-request";

export function ConnectPage() {
  const { api_url: url = "", publishable_key: key = "" } = useSession();
  return (
    <div className="mx-auto w-full max-w-3xl space-y-6 p-4 md:p-6">
      <section>
        <h2 className="mb-1 font-medium text-small">Connect an app</h2>
        <p className="mb-3 text-ink-soft">
          The stock supabase-js works as it is. The publishable key may stand in a browser: it opens
          what the policies let everyone see.
        </p>
        <CodeBlock code="npm install @supabase/supabase-js" label="command" />
        <div className="h-3" />
        <CodeBlock code={connectLines(url, key)} label="code" />
      </section>
      <section>
        <h2 className="mb-2 font-medium text-small">Types</h2>
        <CodeBlock code="selvedge gen types --lang typescript" label="command for types" />
      </section>
      <section>
        <h2 className="mb-2 font-medium text-small">Addresses</h2>
        <dl className="divide-y divide-line-soft rounded-sm border border-line bg-surface">
          <Address name="API" value={url} />
          <Address name="Publishable key" value={key} />
          <Address name="REST" value={`${url}/rest/v1`} />
          <Address name="Auth" value={`${url}/auth/v1`} />
          <Address name="Storage" value={`${url}/storage/v1`} />
          <Address name="Realtime" value={`${url.replace(/^http/, "ws")}/realtime/v1`} />
        </dl>
        <p className="mt-2 text-ink-soft text-label">
          Secret keys are shown by <code>selvedge keys</code> in a terminal, never here.
        </p>
      </section>
    </div>
  );
}

function Address({ name, value }: { name: string; value: string }) {
  return (
    <div className="flex items-center gap-x-3 py-1 pr-1 pl-3 max-sm:flex-wrap">
      <dt className="w-32 shrink-0 text-caption text-ink-soft max-sm:w-full max-sm:pt-1">{name}</dt>
      <dd className="flex min-w-0 flex-1 items-center gap-3">
        <span className="min-w-0 flex-1 truncate font-mono text-caption">{value}</span>
        <CopyButton text={value} label={`Copy ${name}`} />
      </dd>
    </div>
  );
}
