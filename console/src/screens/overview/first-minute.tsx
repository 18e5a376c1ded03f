import { Button } from "@ui/button";
import { FileSpreadsheet, Plug, ShieldCheck, Table2, Terminal } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { useSession, whyNoSchemaChanges } from "@/api/session";
import { ConnectLines } from "./connect";
import { cardClasses } from "./section";

/** First steps for a project without tables. It is hidden as soon as there is one. */
export function FirstMinute() {
  const session = useSession();
  const refusal = whyNoSchemaChanges(session);
  return (
    <section aria-label="First steps" className={`${cardClasses} overflow-hidden`}>
      <header className="border-line-soft border-b px-5 py-4">
        <h2 className="font-medium text-small">
          This project is empty. Four steps to a first app:
        </h2>
        {refusal !== undefined && <p className="mt-1 text-caption text-ink-soft">{refusal}</p>}
      </header>
      <ol className="grid grid-cols-[minmax(0,1fr)] divide-line-soft max-md:divide-y md:grid-cols-3 md:divide-x">
        <Step number={1} icon={Table2} title="Make a table">
          <p>
            A form writes the SQL, and the change becomes a migration file in your project's folder.
            What you run in the SQL editor changes the database alone.
          </p>
          <p className="mt-3 flex flex-wrap gap-2">
            <StepLink to="/schema/tables?new=1" isPrimary>
              New table
            </StepLink>
            <StepLink to="/sql">
              <Terminal aria-hidden="true" className="size-3.5" />
              Write SQL
            </StepLink>
          </p>
        </Step>
        <Step number={2} icon={FileSpreadsheet} title="Bring your data">
          <p>
            A CSV file becomes a table, or rows of one. Cells copied from a spreadsheet can be
            pasted into a table, too.
          </p>
          <p className="mt-3">
            <StepLink to="/tables?import=1">Import a file</StepLink>
          </p>
        </Step>
        <Step number={3} icon={ShieldCheck} title="Say who sees what">
          <p>A policy decides per row. The simulator shows what a user would get, and why.</p>
          <p className="mt-3">
            <StepLink to="/policies">Add a policy</StepLink>
          </p>
        </Step>
      </ol>
      <div className="border-line-soft border-t px-5 py-4">
        <h3 className="mb-2 flex items-center gap-2 font-medium text-caption">
          <Plug aria-hidden="true" className="size-4 text-ink-soft" strokeWidth={1.6} />
          4. Connect an app
        </h3>
        <ConnectLines table={undefined} />
      </div>
    </section>
  );
}

interface StepProps {
  number: number;
  icon: typeof Table2;
  title: string;
  children: ReactNode;
}

function Step({ number, icon: Icon, title, children }: StepProps) {
  return (
    <li className="px-5 py-4 text-caption text-ink-soft">
      <h3 className="mb-1.5 flex items-center gap-2 font-medium text-ink">
        <Icon aria-hidden="true" className="size-4 text-ink-soft" strokeWidth={1.6} />
        {number}. {title}
      </h3>
      {children}
    </li>
  );
}

interface StepLinkProps {
  to: string;
  isPrimary?: boolean;
  children: ReactNode;
}

function StepLink({ to, isPrimary = false, children }: StepLinkProps) {
  return (
    <Button asChild size="dense" variant={isPrimary ? "primary" : "secondary"}>
      <Link to={to}>{children}</Link>
    </Button>
  );
}
